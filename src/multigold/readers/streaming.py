"""Files too large to hold: cut into raw pieces by position, each piece read when it is asked for.

One pass over the file counts brackets outside strings. What stands at the top level is kept as a *skeleton*, in which
every container is replaced by its number (`[0]`, `[1]`, ...), and of a top-level container only the places of its items
are kept: two integers a run. The skeleton is then ordinary, small JSON.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, overload

import attrs
import msgspec

from multigold.errors import ResultsError
from multigold.readers.base import MAX_WHOLE_BYTES
from multigold.readers.decoding import TOO_DEEP, Document, decoded

_CHUNK: Final = 4 * 2**20
_MAX_DEPTH: Final = 500
_LONGEST_LINE: Final = 16 * 2**20
_MAX_SKELETON: Final = 64 * 2**20
_SPACE: Final = b" \t\r\n"
_SEPARATORS: Final = _SPACE + b","
_OPENING: Final = frozenset(b"{[")
_BRACKETS: Final = frozenset(b"{[]}")
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")
_LIST: Final = ord("[")
_OBJECT: Final = ord("{")

# Everything up to the next bracket, whole strings included; or up to a string that does not end here; or to the end.
# It matches at every position, so that no attempt is ever repeated from inside a string.
_STEP: Final = re.compile(rb'[^"{}\[\]]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"{}\[\]]*+)*+(?:[{}\[\]]|"|\Z)', re.DOTALL)


class FileItems(Sequence[msgspec.Raw]):
    """Pieces of a file by position, each read when it is asked for.

    Attributes:
        keep: What must live as long as the file is needed, such as the owner of a temporary file.
    """

    def __init__(self, path: Path, starts: array[int], ends: array[int], keep: object = None) -> None:
        self._path = path
        self._starts = starts
        self._ends = ends
        self.keep = keep

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> msgspec.Raw: ...
    @overload
    def __getitem__(self, index: slice) -> list[msgspec.Raw]: ...
    def __getitem__(self, index: int | slice) -> msgspec.Raw | list[msgspec.Raw]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        with self._path.open("rb") as file:
            return self._read(file, index)

    def __iter__(self) -> Iterator[msgspec.Raw]:
        with self._path.open("rb") as file:
            for index in range(len(self)):
                yield self._read(file, index)

    def _read(self, file: Any, index: int) -> msgspec.Raw:
        start, end = self._starts[index], self._ends[index]
        if end - start > MAX_WHOLE_BYTES:
            return msgspec.Raw(b"")
        file.seek(start)
        return msgspec.Raw(file.read(end - start))


@attrs.define
class _Container:
    """A container of the top level: where it stands, and where the containers in it do.

    Attributes:
        is_list: Whether it is a list.
        stray: In how many places a list holds something that is no container: entries that are no runs.
    """

    start: int
    is_list: bool = False
    end: int = 0
    stray: int = 0
    starts: array[int] = attrs.field(factory=lambda: array("Q"))
    ends: array[int] = attrs.field(factory=lambda: array("Q"))


@attrs.define
class _Scan:
    """The state of one pass: how deep it stands, and what it has found.

    Attributes:
        depth: How many containers are open.
        outer: The file's own container, with the places of its items where it is a list.
        skeleton: What stands at the top level.
        containers: The members of an object that are containers.
    """

    depth: int = 0
    outer: _Container = attrs.field(factory=lambda: _Container(start=0))
    skeleton: bytearray = attrs.field(factory=bytearray)
    containers: list[_Container] = attrs.field(factory=list)

    def at_item(self) -> bool:
        """Tell whether a container that opens here is an item: of the file's list, or of a list of its object."""
        if self.depth == 1:
            return self.outer.is_list
        return self.depth == 2 and not self.outer.is_list and self.containers[-1].is_list

    def bracket(self, place: int, byte: int) -> None:
        """Take note of a bracket at a position of the file."""
        if byte in _OPENING:
            self._open(place, byte == _LIST)
            self.depth += 1
            return
        self.depth -= 1
        if self.depth < 0:
            raise msgspec.DecodeError(f"a bracket too many at byte {place:,}")
        self._close(place + 1)

    def _open(self, place: int, is_list: bool) -> None:
        if self.depth == 0:
            self.outer.is_list = is_list
        elif self.depth == 1 and self.outer.is_list:
            self.outer.starts.append(place)
        elif self.depth == 1:
            self.containers.append(_Container(start=place, is_list=is_list))
        elif self.depth == 2 and not self.outer.is_list:
            self.containers[-1].starts.append(place)

    def _close(self, end: int) -> None:
        if self.depth == 1 and self.outer.is_list:
            self.outer.ends.append(end)
            self.skeleton += b"0"
        elif self.depth == 1:
            self.containers[-1].end = end
            self.skeleton += b"[%d]" % (len(self.containers) - 1)
        elif self.depth == 2 and not self.outer.is_list:
            self.containers[-1].ends.append(end)


def scan_document(path: Path, name: str, *, keep: object = None) -> Document:
    """Cut a JSON file into raw pieces without holding it.

    Args:
        path: The file, UTF-8.
        name: What to call it in errors.
        keep: What must live as long as the pieces are needed.

    Raises:
        ResultsError: If it is no JSON, breaks off, or is too deep.
    """
    first = _first_line(path)
    if decoded(first, dict[str, msgspec.Raw] | list[msgspec.Raw]) is not None and len(first) < path.stat().st_size:
        return _scan_lines(path, name, keep)
    scan, digest = _Scan(), hashlib.sha256()
    try:
        _pass(path, name, scan, digest)
        skeleton = bytes(scan.skeleton).strip(_SPACE)
        if skeleton[:1] == b"[":
            entries = msgspec.json.decode(skeleton, type=list[msgspec.Raw])
            return _array(path, name, scan, digest.hexdigest(), len(entries), keep)
        members = msgspec.json.decode(skeleton, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, IndexError) as error:
        raise ResultsError(f"it is not JSON ({error})", where=name, remedy="Is it a results file?") from error
    return _object(path, name, scan, digest.hexdigest(), members, keep)


def _pass(path: Path, name: str, scan: _Scan, digest: Any) -> None:
    """Go through the file once."""
    with path.open("rb") as file:
        rest, start, size = b"", 0, _CHUNK
        while chunk := file.read(size):
            digest.update(chunk)
            text = rest + chunk
            used = _steps(text, start, scan, name)
            # A string longer than a chunk is looked at again with twice as much, not over and over.
            size = _CHUNK if used else max(size, len(text))
            rest, start = text[used:], start + used
        if scan.depth:
            raise ResultsError(
                f"the JSON breaks off at byte {start + len(rest):,}",
                where=name,
                remedy="The file was cut short: copy it again, or end the run that writes it.",
            )
        scan.skeleton += rest


def _steps(text: bytes, start: int, scan: _Scan, name: str) -> int:
    """Take all brackets of a piece of text; return how much of it is done with."""
    used, view = 0, memoryview(text)
    while True:
        step = _STEP.match(text, used)
        end = step.end() if step else used
        byte = text[end - 1] if end > used else 0
        if byte not in _BRACKETS:
            return used
        length = _length(view[end - 1 :]) if byte == _OBJECT and scan.at_item() else 0
        _bracket(text[used:end], start + end - 1, byte, scan)
        if length:
            end += length - 1
            _bracket(b"", start + end - 1, text[end - 1], scan)
        if scan.depth > _MAX_DEPTH:
            raise ResultsError(TOO_DEEP, where=name)
        used = end


def _length(view: memoryview) -> int:
    """Return how long the JSON object at the start of a text is; 0 where that is not known.

    msgspec skips a value ten times faster than brackets can be counted, and says where it ended by complaining of what
    follows: in a list a comma or a square bracket, so that the object ends in the last curly one before. Where it says
    something else, the brackets are counted.
    """
    try:
        msgspec.json.decode(view, type=msgspec.Raw)
    except msgspec.DecodeError as error:
        found = _TRAILING.search(str(error))
        return bytes(view[: int(found[1])]).rfind(b"}") + 1 if found else 0
    except RecursionError:
        return 0
    return bytes(view).rfind(b"}") + 1


def _bracket(text: bytes, place: int, byte: int, scan: _Scan) -> None:
    """Take a bracket, and the text that ends in it."""
    if scan.depth <= 1:
        _keep(scan, text, byte)
    elif scan.depth == 2 and scan.containers and scan.containers[-1].is_list:
        scan.containers[-1].stray += bool(text[:-1].strip(_SEPARATORS))
    scan.bracket(place, byte)


def _keep(scan: _Scan, text: bytes, byte: int) -> None:
    """Add what stands at the top level to the skeleton; the bracket itself only where it is the outermost."""
    inner = scan.depth == 1 and byte in _OPENING
    scan.skeleton += text[:-1] if inner else text
    if len(scan.skeleton) > _MAX_SKELETON:
        raise msgspec.DecodeError("its top level alone is larger than any results file's")


def _array(path: Path, name: str, scan: _Scan, digest: str, entries: int, keep: object) -> Document:
    items = FileItems(path, scan.outer.starts, scan.outer.ends, keep)
    return Document(name=name, digest=digest, items=items, warnings=_strays(entries - len(items), "the file"))


def _strays(count: int, where: str) -> tuple[str, ...]:
    return (f"{count} entries of {where} are no runs and are left out",) if count else ()


def _object(path: Path, name: str, scan: _Scan, digest: str, members: dict[str, msgspec.Raw], keep: object) -> Document:
    """Put the members together: objects are read, lists stay in the file."""
    arrays: dict[str, Sequence[msgspec.Raw]] = {}
    warnings: list[str] = []
    for member, raw in list(members.items()):
        number = decoded(raw, list[int])
        if not number:
            continue
        container = scan.containers[number[0]]
        if container.is_list:
            members[member] = msgspec.Raw(b"[]")
            arrays[member] = FileItems(path, container.starts, container.ends, keep)
            warnings.extend(_strays(container.stray, member))
        else:
            members[member] = FileItems(path, array("Q", [container.start]), array("Q", [container.end]))[0]
    whole = FileItems(path, array("Q", [0]), array("Q", [path.stat().st_size]), keep)
    return Document(
        name=name, digest=digest, members=members, arrays=arrays, load=lambda: whole[0], warnings=tuple(warnings)
    )


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline(_LONGEST_LINE)


def _scan_lines(path: Path, name: str, keep: object) -> Document:
    """Cut JSON Lines into lines."""
    starts, ends, digest, place = array("Q"), array("Q"), hashlib.sha256(), 0
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            if line.strip(_SPACE):
                starts.append(place)
                ends.append(place + len(line))
            place += len(line)
    return Document(name=name, digest=digest.hexdigest(), items=FileItems(path, starts, ends, keep), lines=True)
