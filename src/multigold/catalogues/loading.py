"""Finding and reading catalogues.

Loading happens before every scoring, so it must be quick: files are decoded and walked once by plain code, which
notes every fault with its place and refuses the catalogue if there is one. JSON Schema, replay and all that needs an
environment is lint's work (`catalogues/lint.py`).

A catalogue is a directory:

    catalogue.json      the domain, and the loopholes of its policy
    clauses.json        references to the clauses of the policy (may be absent)
    tasks/<id>.json     one gold set per task
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

import attrs

from multigold.catalogues.decoding import read_clauses, read_gold_set, read_loopholes
from multigold.errors import CallError, GoldSetError
from multigold.files.cursor import Cursor, Finding
from multigold.model.catalogue import Catalogue
from multigold.model.gold import GoldSet
from multigold.state.canonical import Json

CATALOGUE_FILE = "catalogue.json"
CLAUSES_FILE = "clauses.json"
TASKS_DIRECTORY = "tasks"


MAX_FILE_BYTES = 64 * 2**20
"""A file of a catalogue that is larger than this is refused."""


@attrs.frozen(kw_only=True)
class CatalogueFiles:
    """The decoded files of one catalogue.

    Attributes:
        directory: Where they are.
        documents: File name relative to the directory (with `/`), to the decoded JSON, in sorted order.
    """

    directory: Path
    documents: dict[str, Json]

    def content_digest(self) -> str:
        """Return the SHA-256 over the content of all files: spacing and the order of members do not matter."""
        text = json.dumps(self.documents, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def gold_set_names(self) -> list[str]:
        """Return the names of the files that hold gold sets."""
        return [name for name in self.documents if name.startswith(f"{TASKS_DIRECTORY}/")]


def shipped_directory() -> Path | None:
    """Return the directory of the catalogues that come with multigold; None if it is missing.

    An installed package has it inside; in a checkout it stands next to `src`.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "gold_sets", package.parents[1] / "gold_sets"):
        if candidate.is_dir():
            return candidate
    return None


def shipped_catalogues() -> list[str]:
    """Return the names of the catalogues that come with multigold, sorted."""
    directory = shipped_directory()
    return [] if directory is None else sorted(path.parent.name for path in directory.glob(f"*/{CATALOGUE_FILE}"))


def load_catalogue(name: str | Path) -> Catalogue:
    """Load the catalogue of a domain.

    Args:
        name: The name of a shipped one, such as `tau2-airline`. A `Path`, or a string with a path separator in it, is
            the directory of one.

    Raises:
        CallError: If there is none of that name.
        GoldSetError: If it has faults; `faults` lists all of them, each with its file and JSON Pointer.
    """
    if isinstance(name, Path) or "/" in name or "\\" in name:
        return read_catalogue(Path(name))
    directory = shipped_directory()
    if directory is None or not (directory / name / CATALOGUE_FILE).is_file():
        known = ", ".join(shipped_catalogues()) or "none"
        remedy = f"There are: {known}. A directory of your own is given as a path."
        raise CallError(f"no catalogue is called {name!r}", remedy=remedy)
    return read_catalogue(directory / name)


def load_catalogue_for(domain: str, *, directory: Path | None = None) -> Catalogue | None:
    """Load the catalogue of a domain if there is one.

    Args:
        domain: The domain, such as `tau2-airline`.
        directory: Where to look instead of among the shipped ones: a catalogue, or a directory of catalogues.

    Returns:
        The catalogue; None if none is for that domain.

    Raises:
        CallError: If the directory holds no catalogue at all.
        GoldSetError: If the catalogue has faults.
    """
    if directory is not None:
        return load_gold_sets(directory).get(domain)
    return load_catalogue(domain) if domain in shipped_catalogues() else None


def load_gold_sets(directory: Path | str) -> dict[str, Catalogue]:
    """Load every catalogue of a directory: the directory itself, or each of its subdirectories that is one.

    Args:
        directory: A catalogue, or a directory of catalogues.

    Returns:
        Domain to catalogue.

    Raises:
        CallError: If it is not a directory, holds no catalogue, or holds two for one domain.
        GoldSetError: If they have faults; `faults` lists all of them.
    """
    catalogues: dict[str, Catalogue] = {}
    faults: list[str] = []
    for found in catalogue_directories(Path(directory)):
        try:
            catalogue = read_catalogue(found)
        except GoldSetError as error:
            faults += [f"{found.name}/{fault}" for fault in error.faults]
            continue
        if catalogue.domain in catalogues:
            raise CallError(f"two catalogues are for the domain {catalogue.domain!r}", where=str(directory))
        catalogues[catalogue.domain] = catalogue
    if faults:
        _refuse(directory, faults)
    return catalogues


def catalogue_directories(directory: Path) -> list[Path]:
    """Return the directories of catalogues: the one given, or those inside it, sorted.

    Raises:
        CallError: If it is not a directory or holds none.
    """
    if not directory.is_dir():
        raise CallError("there is no such directory", where=str(directory))
    if (directory / CATALOGUE_FILE).is_file():
        return [directory]
    found = sorted(path.parent for path in directory.glob(f"*/{CATALOGUE_FILE}"))
    if not found:
        raise CallError(
            "there is no catalogue here",
            where=str(directory),
            remedy=f"A catalogue is a directory with a {CATALOGUE_FILE} and a {TASKS_DIRECTORY}/<id>.json per task.",
        )
    return found


def read_catalogue(directory: Path) -> Catalogue:
    """Read the catalogue in a directory.

    Raises:
        CallError: If there is none.
        GoldSetError: If it has faults; `faults` lists all of them, each with its file and JSON Pointer.
    """
    found: list[Finding] = []
    files = read_files(directory, found)
    catalogue = decode_catalogue(files, found)
    if found:
        _refuse(directory, [str(finding) for finding in found])
    return catalogue


def _refuse(directory: Path | str, faults: Iterable[str]) -> NoReturn:
    faults = list(dict.fromkeys(faults))
    count = "one fault" if len(faults) == 1 else f"{len(faults)} faults"
    raise GoldSetError(f"the catalogue has {count}:", where=str(directory), faults=faults)


def read_files(directory: Path, found: list[Finding]) -> CatalogueFiles:
    """Decode the files of a catalogue; what is not JSON is noted and left out.

    Raises:
        CallError: If the directory holds no catalogue.
    """
    if not (directory / CATALOGUE_FILE).is_file():
        raise CallError(f"there is no {CATALOGUE_FILE} here", where=str(directory))
    paths = [directory / CATALOGUE_FILE, directory / CLAUSES_FILE, *directory.glob(f"{TASKS_DIRECTORY}/*.json")]
    documents: dict[str, Json] = {}
    for name, path in sorted((path.relative_to(directory).as_posix(), path) for path in paths if path.is_file()):
        try:
            documents[name] = _decode(path)
        except (ValueError, RecursionError, OSError) as error:
            found.append(Finding(code="not-json", where=f"{name}: /", sentence=f"this is not a JSON file: {error}"))
    return CatalogueFiles(directory=directory, documents=documents)


def _decode(path: Path) -> Json:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES} bytes")
    return json.loads(path.read_bytes(), parse_constant=_no_constant)


def duplicate_keys(files: CatalogueFiles) -> list[Finding]:
    """Return a finding for each object that has two members of one name, of which JSON keeps only the last."""
    found = []
    for name in files.documents:
        names: list[str] = []

        def note(pairs: list[tuple[str, Json]], names: list[str] = names) -> dict[str, Json]:
            members = dict(pairs)
            if len(members) < len(pairs):
                names.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            return members

        json.loads((files.directory / name).read_bytes(), object_pairs_hook=note)
        found += [
            Finding(code="duplicate-member", where=f"{name}: /", sentence=f"an object has two members {key!r}")
            for key in names
        ]
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def decode_catalogue(files: CatalogueFiles, found: list[Finding]) -> Catalogue:
    """Make the nouns of decoded files and check that what they refer to is there; faults are noted.

    Returns:
        The catalogue, complete if no fault was noted.
    """
    clauses_file = Cursor(
        files.documents.get(CLAUSES_FILE, {"policy": {"fingerprint": ""}, "clauses": []}), CLAUSES_FILE, found
    )
    fingerprint, clauses = read_clauses(clauses_file)
    top = Cursor(files.documents.get(CATALOGUE_FILE, {"domain": "", "loopholes": []}), CATALOGUE_FILE, found)
    top.keys({"domain", "loopholes"}, {"$schema", "title", "paper_split", "notes"})
    catalogue = Catalogue(
        domain=top.text("domain"),
        title=top.text("title"),
        policy_fingerprint=fingerprint,
        clauses=clauses,
        loopholes=read_loopholes(top),
        gold_sets=dict(_gold_sets(files, found)),
        paper_split=top.texts("paper_split"),
        digest="" if found else files.content_digest(),
        source=str(files.directory),
    )
    check_references(catalogue, top, files, found)
    return catalogue


def _gold_sets(files: CatalogueFiles, found: list[Finding]) -> Iterator[tuple[str, GoldSet]]:
    for name in files.gold_set_names():
        at = Cursor(files.documents[name], name, found)
        gold_set = read_gold_set(at)
        expected = f"{TASKS_DIRECTORY}/{gold_set.task_id}.json"
        if name != expected and at.has("task_id"):
            at.at("task_id").fault("wrong-file", f"the file of task {gold_set.task_id!r} is called {expected}")
        yield gold_set.task_id, gold_set


def check_references(catalogue: Catalogue, top: Cursor, files: CatalogueFiles, found: list[Finding]) -> None:
    """Note clauses, loopholes and sides that are named and not there."""
    for item in top.items("loopholes"):
        for clause in item.texts("clauses"):
            if clause not in catalogue.clauses:
                item.at("clauses").fault("unknown-clause", f"no clause is called {clause!r}")
    for name in files.gold_set_names():
        _check_gold_set(catalogue, Cursor(files.documents[name], name, found))


def _check_gold_set(catalogue: Catalogue, at: Cursor) -> None:
    named = at.texts("loopholes")
    for loophole in named:
        if loophole not in catalogue.loopholes:
            known = ", ".join(catalogue.loopholes) or "none"
            at.at("loopholes").fault("unknown-loophole", f"no loophole is called {loophole!r}; there are: {known}")
    for reading in at.items("readings"):
        for loophole, side in reading.members("positions"):
            entry = catalogue.loopholes.get(loophole)
            if entry is None or loophole not in named:
                side.fault("unknown-loophole", f"{loophole!r} is not among the loopholes of this gold set")
            elif side.value not in [known.id for known in entry.sides]:
                sides = ", ".join(known.id for known in entry.sides)
                side.fault("unknown-side", f"{loophole} has no side {side.value!r}; there are: {sides}")
