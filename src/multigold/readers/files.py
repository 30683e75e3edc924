"""The edge: finds and opens what the user named, and nothing else.

What is named may be a file (plain, gzipped, or a zip archive with results in it), a directory, a pattern, or `-` for
standard input. A *source* is one thing to open; most hold one results file, a voice-agent directory one per domain.
"""

from __future__ import annotations

import io
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import attrs

from multigold.errors import CallError, ResultsError
from multigold.files.reading import read_at_most
from multigold.readers.base import MAX_FILE_BYTES, MAX_WHOLE_BYTES, ReadOptions, ResultsFile
from multigold.readers.decoding import Document, read_document
from multigold.readers.folder import Folder
from multigold.readers.formats import read_known

if TYPE_CHECKING:
    import gzip

STDIN: Final = "-"
STREAM_ABOVE: Final = 8 * 2**20
"""A larger file is not read whole: it is scanned for where its runs stand (`multigold.readers.streaming`)."""

MAX_ENTRIES: Final = 200_000
"""A directory or an archive with more files than this is refused."""

_SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".zip")
_META: Final = "results.json"
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"
_DEPTH: Final = 6
_MAY_HOLD: Final = 2**30
_PACKS: Final = 200
"""A gzipped file that unpacks to more than `_MAY_HOLD` and so many times its size is refused: text packs by 50."""

Kind = Literal["file", "member", "folder", "archive", "stdin"]


@attrs.frozen(kw_only=True)
class FolderFormat:
    """A form that takes a whole directory.

    Attributes:
        name: What it is called.
        module: The module that knows it; imported when a directory is opened.
    """

    name: str
    module: str

    def recognise(self, folder: Folder) -> bool:
        """Tell whether a folder is of that form."""
        return bool(import_module(self.module).recognise(folder))

    def read(self, folder: Folder, options: ReadOptions) -> Iterator[ResultsFile]:
        """Yield the results files of a folder of that form."""
        yield from import_module(self.module).read(folder, options)


FOLDER_FORMATS: Final[tuple[FolderFormat, ...]] = (
    FolderFormat(name="tau2 directory", module="multigold.readers.tau2_directory"),
    FolderFormat(name="NeMo voice-agent directory", module="multigold.readers.nemo"),
    FolderFormat(name="EVA records", module="multigold.readers.eva"),
)


@attrs.frozen(kw_only=True)
class ResultsSource:
    """One thing to open; plain data, so that it can be handed to another process.

    Attributes:
        path: The file or directory; `-` for standard input.
        member: The file or directory inside an archive; empty if the whole is meant.
        kind: How to open it.
        named: Whether the user named it, or it was found in a directory or an archive. What was only found may be of
            no known form without being a fault: such directories hold other files too.
    """

    path: str
    member: str = ""
    kind: Kind = "file"
    named: bool = True

    @property
    def name(self) -> str:
        """What to call it."""
        return f"{self.path}!{self.member}" if self.member else self.path


# Finding


def find_sources(names: Iterable[str | Path]) -> list[ResultsSource]:
    """Return what is to be opened for the names that a user gave, in their order.

    Raises:
        ResultsError: If a name stands for nothing.
        CallError: If something else than a path stands for a name, such as a list of them.
    """
    return [source for name in names for source in _sources(_as_text(name))]


def _as_text(name: object) -> str:
    if not isinstance(name, str | Path):
        raise CallError(
            f"a results file is named by its path, and was given as a {type(name).__name__}",
            remedy="Give several one by one: rescore(*paths).",
        )
    return str(name)


def _sources(name: str) -> Iterator[ResultsSource]:
    path = Path(name)
    if name == STDIN:
        yield ResultsSource(path=name, kind="stdin")
    elif path.is_dir():
        yield from _in_directory(path)
    elif path.is_file():
        yield from _in_file(path)
    else:
        for match in _matches(name):
            yield from _sources(match)


def _matches(pattern: str) -> list[str]:
    import glob

    if not glob.has_magic(pattern):
        raise ResultsError("there is no such file or directory", where=pattern)
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
    if not found:
        raise ResultsError("no file matches the pattern", where=pattern)
    return found


def _in_directory(path: Path) -> Iterator[ResultsSource]:
    folder = directory(path)
    sources = list(_in_folder(folder, lambda inner: ResultsSource(path=str(path / inner), kind="folder")))
    for place in _loose(folder):
        sources.extend(attrs.evolve(source, named=False) for source in _in_file(path / place))
    if not sources:
        raise ResultsError("the directory holds no results file", where=str(path))
    yield from sources


def _in_folder(
    folder: Folder, make: Callable[[str], ResultsSource], inner: str = "", depth: int = 0
) -> Iterator[ResultsSource]:
    """Yield a source for every directory, itself included, that has a form of its own."""
    if folder_format(folder) is not None:
        yield make(inner)
    elif depth < _DEPTH:
        for child in folder.children():
            yield from _in_folder(folder.sub(child), make, f"{inner}/{child}".lstrip("/"), depth + 1)


def _loose(folder: Folder, depth: int = 0) -> list[str]:
    """Return the files that may hold results and stand in no directory with a form of its own."""
    if folder_format(folder) is not None or depth >= _DEPTH:
        return []
    own = [path for path in folder.paths if "/" not in path and path.endswith(_SUFFIXES)]
    inner = [f"{child}/{path}" for child in folder.children() for path in _loose(folder.sub(child), depth + 1)]
    return own + inner


def folder_format(folder: Folder) -> FolderFormat | None:
    """Return the form of a folder; None if it has none of its own."""
    return next((form for form in FOLDER_FORMATS if form.recognise(folder)), None)


def _in_file(path: Path) -> Iterator[ResultsSource]:
    if _starts_with(path, _ZIP):
        yield from _in_archive(path)
    elif path.name == _META and (path.parent / "simulations").is_dir():
        yield ResultsSource(path=str(path.parent), kind="folder")
    else:
        yield ResultsSource(path=str(path))


def _in_archive(path: Path) -> Iterator[ResultsSource]:
    folder = archive(path)
    sources = list(_in_folder(folder, lambda inner: ResultsSource(path=str(path), member=inner, kind="archive")))
    sources.extend(
        ResultsSource(path=str(path), member=member, kind="member", named=False) for member in _loose(folder)
    )
    if not sources:
        raise ResultsError("the archive holds no results file", where=str(path))
    yield from sources


def _starts_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError as error:
        raise _unreadable(str(path), error) from error


def _unreadable(name: str, error: Exception) -> ResultsError:
    return ResultsError(f"it cannot be read ({getattr(error, 'strerror', None) or error})", where=name)


# Opening


def open_results(
    path: Path | str, *, options: ReadOptions | None = None, max_bytes: int = MAX_WHOLE_BYTES
) -> ResultsFile:
    """Open what holds exactly one results file.

    Args:
        path: A file, plain or gzipped; an archive or a directory with one results file in it; or `-`.
        options: What the caller knows better than the file.
        max_bytes: A larger file is refused.

    Raises:
        ResultsError: If it cannot be opened or read, or holds several.
    """
    sources = find_sources([path])
    if len(sources) == 1:
        files = list(open_source(sources[0], options=options, max_bytes=max_bytes))
        if len(files) == 1:
            return files[0]
        names = [file.name for file in files]
    else:
        names = [source.name for source in sources]
    raise ResultsError(
        f"it holds {len(names)} results files", where=str(path), remedy=f"Name one of them: {', '.join(names[:6])}."
    )


def open_source(
    source: ResultsSource, *, options: ReadOptions | None = None, max_bytes: int = MAX_WHOLE_BYTES
) -> Iterator[ResultsFile]:
    """Open a source and yield its results files.

    Raises:
        ResultsError: If it cannot be opened or read.
    """
    options = options or ReadOptions()
    if source.kind in ("folder", "archive"):
        whole = (
            directory(Path(source.path), max_bytes)
            if source.kind == "folder"
            else archive(Path(source.path), max_bytes)
        )
        folder = whole.sub(source.member) if source.member else whole
        form = folder_format(folder)
        if form is None:
            raise ResultsError("the directory holds no results file", where=source.name)
        yield from form.read(folder, options)
    else:
        yield read_known(_document(source, max_bytes), options)


def _document(source: ResultsSource, max_bytes: int) -> Document:
    """Return a source cut into raw pieces; a large file stays where it is."""
    if source.kind == "file":
        large = _large(Path(source.path), source.name)
        if large is not None:
            return large
    return read_document(_data(source, max_bytes), source.name, max_bytes=max_bytes)


def _large(path: Path, name: str) -> Document | None:
    """Return a large file's document; None if the file is small enough to be held."""
    try:
        if _starts_with(path, _GZIP):
            return _unpacked(path, name)
        if path.stat().st_size > STREAM_ABOVE:
            return _scanned(path, name)
    except OSError as error:
        raise _unreadable(name, error) from error
    return None


def _unpacked(path: Path, name: str) -> Document | None:
    """Unpack a gzipped file to a temporary one and cut that; None if what it holds is small."""
    import gzip
    import tempfile
    import zlib

    with gzip.open(path) as packed:
        try:
            if len(packed.read(STREAM_ABOVE + 1)) <= STREAM_ABOVE:
                return None
            packed.seek(0)
            home = _Temporary(tempfile.mkdtemp(prefix="multigold-"))
            target = home.path / "unpacked.json"
            with target.open("wb") as file:
                _copy(packed, file, name, limit=_unpacked_limit(path.stat().st_size))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ResultsError(f"the gzip data is broken ({error})", where=name) from error
    return _scanned(target, name, keep=home)


def _scanned(path: Path, name: str, *, keep: object = None) -> Document:
    from multigold.readers.streaming import scan_document

    return scan_document(path, name, keep=keep)


def _unpacked_limit(packed: int) -> int:
    """Return how much a gzipped file of a size may hold: much more than any text packs to, and not a full disk."""
    return min(MAX_FILE_BYTES, max(_MAY_HOLD, packed * _PACKS))


def _copy(packed: gzip.GzipFile, file: IO[bytes], name: str, *, limit: int) -> None:
    while chunk := packed.read(2**20):
        file.write(chunk)
        if file.tell() > limit:
            raise ResultsError(
                f"it unpacks to more than {limit:,} bytes", where=name, remedy="Unpack it yourself, if you trust it."
            )


class _Temporary:
    """A directory that goes away with the last who needs it."""

    def __init__(self, path: str) -> None:
        import shutil

        self.path = Path(path)
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)


def _data(source: ResultsSource, max_bytes: int) -> bytes:
    if source.kind == "stdin":
        return _limited(sys.stdin.buffer, STDIN, max_bytes)
    if source.kind == "member":
        return archive(Path(source.path), max_bytes).load(source.member)
    return _file(Path(source.path), source.name, max_bytes)


def _file(path: Path, name: str, max_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            return _limited(file, name, max_bytes)
    except OSError as error:
        raise _unreadable(name, error) from error


def _limited(file: Any, name: str, max_bytes: int) -> bytes:
    """Return the bytes of a file, uncompressed, no more than the limit.

    Raises:
        ResultsError: If there is more, or the compression is broken.
    """
    data = _at_most(file, name, max_bytes)
    if not data.startswith(_GZIP):
        return data
    import gzip
    import zlib

    try:
        with gzip.open(io.BytesIO(data)) as inner:
            return _at_most(inner, name, max_bytes)
    except (OSError, EOFError, zlib.error) as error:
        raise ResultsError(f"the gzip data is broken ({error})", where=name) from error


def _at_most(file: Any, name: str, max_bytes: int) -> bytes:
    data = read_at_most(file, max_bytes)
    if len(data) > max_bytes:
        raise ResultsError(
            f"it holds more than the limit of {max_bytes:,} bytes", where=name, remedy="Split it, or raise the limit."
        )
    return data


def directory(path: Path, max_bytes: int = MAX_WHOLE_BYTES) -> Folder:
    """Return a directory as a folder. Links to directories are not followed.

    What is no regular file (a pipe, which nobody may write to, a device, a link to nothing) is not in it.

    Raises:
        ResultsError: If it holds too many files.
    """
    paths: list[str] = []
    for place, _, names in os.walk(path, followlinks=False):
        inner = Path(place).relative_to(path).as_posix()
        regular = [name for name in names if os.path.isfile(os.path.join(place, name))]  # noqa: PTH113, PTH118 (speed)
        paths.extend(name if inner == "." else f"{inner}/{name}" for name in regular)
        if len(paths) > MAX_ENTRIES:
            raise ResultsError(f"it holds more than {MAX_ENTRIES:,} files", where=str(path))
    return Folder(
        name=str(path), paths=tuple(sorted(paths)), load=lambda inner: _file(path / inner, f"{path}/{inner}", max_bytes)
    )


def archive(path: Path, max_bytes: int = MAX_WHOLE_BYTES) -> Folder:
    """Return a zip archive as a folder.

    Raises:
        ResultsError: If it is broken or holds too many files.
    """
    import zipfile

    try:
        with zipfile.ZipFile(path) as opened:
            names = [entry.filename for entry in opened.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise ResultsError(f"the archive is broken ({error})", where=str(path)) from error
    if len(names) > MAX_ENTRIES:
        raise ResultsError(f"it holds more than {MAX_ENTRIES:,} files", where=str(path))
    return Folder(name=str(path), paths=tuple(sorted(set(names))), load=lambda inner: _member(path, inner, max_bytes))


def _member(path: Path, member: str, max_bytes: int) -> bytes:
    import zipfile
    import zlib

    name = f"{path}!{member}"
    try:
        with zipfile.ZipFile(path) as opened, opened.open(member) as file:
            return _limited(file, name, max_bytes)
    except (zipfile.BadZipFile, OSError, KeyError, ValueError, RuntimeError, EOFError, zlib.error) as error:
        raise ResultsError(f"the archive is broken ({error})", where=name) from error
