"""tau2's directory form: `results.json` without its simulations, which stand in `simulations/<id>.json`.

`results.json` may carry an index of them. A simulation of the index without a file is a run all the same: counted,
and unscored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, overload

import attrs
import msgspec

from multigold.errors import ResultsError
from multigold.files.reading import sha256
from multigold.readers.base import ReadOptions, ResultsFile
from multigold.readers.decoding import decoded, read_document
from multigold.readers.folder import Folder
from multigold.readers.tasks import id_text, shortened
from multigold.readers.tau2 import Pieces, assemble
from multigold.state.canonical import digest

META: Final = "results.json"
_SIMULATIONS: Final = "simulations/"


class _Entry(msgspec.Struct):
    id: Any = None
    task_id: Any = None
    trial: Any = None
    reward: Any = None
    termination_reason: Any = None


class _Files(Sequence[msgspec.Raw]):
    """Simulations in files of their own, each loaded when it is asked for; then those that have no file."""

    def __init__(self, folder: Folder, paths: Sequence[str], missing: Sequence[msgspec.Raw]) -> None:
        self._folder = folder
        self._paths = paths
        self._missing = missing

    def __len__(self) -> int:
        return len(self._paths) + len(self._missing)

    @overload
    def __getitem__(self, index: int) -> msgspec.Raw: ...
    @overload
    def __getitem__(self, index: slice) -> list[msgspec.Raw]: ...
    def __getitem__(self, index: int | slice) -> msgspec.Raw | list[msgspec.Raw]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index >= len(self._paths):
            return self._missing[index - len(self._paths)]
        return self._load(self._paths[index])

    def _load(self, path: str) -> msgspec.Raw:
        try:
            return read_document(self._folder.load(path), path).load()
        except ResultsError:
            return msgspec.Raw(b"")


def recognise(folder: Folder) -> bool:
    """Tell whether a folder is tau2's directory form."""
    return folder.has(META) and any(map(_is_simulation, folder.paths))


def _is_simulation(path: str) -> bool:
    return path.startswith(_SIMULATIONS) and path.endswith(".json") and path.count("/") == 1


def read(folder: Folder, options: ReadOptions) -> Iterator[ResultsFile]:
    """Read tau2's directory form.

    Raises:
        ResultsError: If `results.json` cannot be read.
    """
    data = folder.load(META)
    document = attrs.evolve(read_document(data, f"{folder.name}/{META}"), name=folder.name)
    paths = [path for path in folder.paths if _is_simulation(path)]
    index = decoded(document.member("simulation_index"), list[_Entry]) or []
    missing, warnings = _held_against(index, paths)
    runs = _Files(folder, paths, [msgspec.Raw(msgspec.json.encode(entry)) for entry in missing])
    digests = {META: sha256(data), **{path: sha256(folder.load(path)) for path in paths}}
    yield assemble(
        Pieces(
            document=document,
            form="tau2-directory",
            runs=runs,
            places=[*paths, *(f"{META}: simulation_index" for _ in missing)],
            digest=digest(digests),
            warnings=warnings,
        ),
        options,
    )


def _held_against(index: Sequence[_Entry], paths: Sequence[str]) -> tuple[list[_Entry], tuple[str, ...]]:
    """Return the entries of the index that have no file, and warnings for them and for files that are not in it."""
    present = {path[len(_SIMULATIONS) : -len(".json")] for path in paths}
    listed = {id_text(entry.id) for entry in index}
    missing = [entry for entry in index if id_text(entry.id) not in present]
    absent = [f"the index lists the simulation {id_text(entry.id)!r}, which has no file" for entry in missing]
    extra = [f"the simulation {name!r} is not in the index" for name in sorted(present - listed)] if index else []
    return missing, (*shortened(absent), *shortened(extra))
