"""From bytes to JSON members that are not decoded yet.

Result files are large and mostly not needed, so a document is first cut into members and items that stay raw bytes
(`msgspec.Raw`), and each run is decoded by itself: one bad run spoils nothing else. What strict JSON does not know but
Python writes (NaN, lone surrogates, control characters) is mended once for the whole document, and said so.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs
import msgspec

from multigold.errors import ResultsError
from multigold.files.reading import sha256
from multigold.readers.base import MAX_WHOLE_BYTES
from multigold.state.canonical import Json
from multigold.state.json_values import SURROGATE

_T = TypeVar("_T")
_SPACE: Final = b" \t\r\n"
NULL: Final = msgspec.Raw(b"null")

TOO_DEEP = "it is nested too deeply to be a results file"


@attrs.frozen(kw_only=True, eq=False)
class Document:
    """A JSON document cut into raw pieces: an object's members, or an array's items; the other is None.

    Attributes:
        name: The file's name.
        digest: SHA-256 of its bytes.
        members: The members of an object, raw.
        items: The items of an array, raw.
        lines: Whether the items stood one a line (JSON Lines) instead of in an array.
        load: Gives the whole document, raw, where it is an object.
        arrays: Members that are large lists and stay in their file, by name.
        warnings: What had to be mended.
    """

    name: str
    digest: str
    members: dict[str, msgspec.Raw] | None = None
    items: Sequence[msgspec.Raw] | None = None
    lines: bool = False
    load: Callable[[], msgspec.Raw] = lambda: NULL
    arrays: Mapping[str, Sequence[msgspec.Raw]] = attrs.field(factory=dict)
    warnings: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        """Tell whether it is an object that has all these members."""
        return self.members is not None and all(name in self.members for name in names)

    def member(self, name: str) -> msgspec.Raw:
        """Return a raw member; JSON null if there is none."""
        return NULL if self.members is None else self.members.get(name, NULL)

    def array(self, name: str) -> Sequence[msgspec.Raw]:
        """Return the raw items of a member that is an array; none if it is null or missing.

        Raises:
            ResultsError: If it is something else.
        """
        if name in self.arrays:
            return self.arrays[name]
        try:
            return msgspec.json.decode(self.member(name), type=list[msgspec.Raw] | None) or []
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ResultsError(f"`{name}` should be a list ({error})", where=self.name) from error

    def value(self, name: str, kind: type[_T]) -> _T | None:
        """Decode a member as a type; None if it is missing, null, or of another kind."""
        found: _T | None = decoded(self.member(name), kind)
        return found


def decoded(raw: msgspec.Raw | bytes, kind: Any) -> Any:
    """Decode raw JSON as a type; None if it is not of that type."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_document(data: bytes, name: str, *, max_bytes: int = MAX_WHOLE_BYTES) -> Document:
    """Cut a JSON document into raw pieces.

    Args:
        data: The file's bytes: UTF-8 (or UTF-16 with its mark), with or without a byte order mark.
        name: The file's name, for errors.
        max_bytes: The size that is refused.

    Raises:
        ResultsError: If it is too large, empty, broken off, no JSON, too deep, or neither an object nor an array.
    """
    if len(data) > max_bytes:
        raise ResultsError(
            f"{len(data):,} bytes are more than the limit of {max_bytes:,}",
            where=name,
            remedy="Split the file, or raise the limit.",
        )
    digest = sha256(data)
    text = _as_utf8(data, name).strip(_SPACE)
    if not text:
        raise ResultsError("the file is empty", where=name, remedy="Was the run that should have written it stopped?")
    try:
        return Document(name=name, digest=digest, **_cut(text))
    except RecursionError:
        raise ResultsError(TOO_DEEP, where=name) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        mended, warnings = _mend(text, name, error)
    return Document(name=name, digest=digest, warnings=warnings, **_cut(mended))


def _cut(text: bytes) -> dict[str, Any]:
    try:
        if text[:1] == b"{":
            return {
                "members": msgspec.json.decode(text, type=dict[str, msgspec.Raw]),
                "load": lambda: msgspec.Raw(text),
            }
        if text[:1] == b"[":
            return {"items": msgspec.json.decode(text, type=list[msgspec.Raw])}
    except msgspec.DecodeError:
        lines = _lines(text)
        if lines is None:
            raise
        return {"items": lines, "lines": True}
    msgspec.json.decode(text, type=msgspec.Raw)
    return {}


def _lines(text: bytes) -> list[msgspec.Raw] | None:
    """Return the lines of JSON Lines, raw; None if the first line is no object or array by itself.

    A later line that is no JSON stays as it is: the run that it should be becomes unreadable, and the others stand.
    """
    lines = [msgspec.Raw(_as_strict(line)) for line in text.splitlines() if line.strip(_SPACE)]
    if len(lines) < 2 or decoded(lines[0], dict[str, msgspec.Raw] | list[msgspec.Raw]) is None:
        return None
    return lines


def _as_strict(line: bytes) -> bytes:
    """Return a line with the numbers mended that only Python writes, if it has some."""
    return (mended(line) or line) if b"NaN" in line or b"Infinity" in line else line


def _as_utf8(data: bytes, name: str) -> bytes:
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode()
        except UnicodeError as error:
            raise ResultsError(f"it begins like UTF-16 and is not ({error})", where=name) from error
    return data


def mended(raw: msgspec.Raw | bytes) -> bytes | None:
    """Return strict JSON for what only Python's own decoder reads; None if it does not read it either."""
    try:
        value = json.loads(bytes(raw).decode(), strict=False, parse_int=_int_or_infinity)
        return json.dumps(_strict(value)).encode()
    except (ValueError, RecursionError):
        return None


def decode_run(decoder: msgspec.json.Decoder[_T], raw: msgspec.Raw | bytes) -> _T:
    """Decode one run, mended where strict JSON does not know what stands in it.

    Raises:
        ValueError: If it is not JSON, or not what the decoder reads.
        RecursionError: If it is nested too deeply.
    """
    try:
        return decoder.decode(raw)
    except (ValueError, RecursionError) as error:
        out_of_range = isinstance(error, msgspec.ValidationError)
        again = _with_odd_arguments_as_text(raw) if out_of_range else mended(raw)
        if again is None:
            raise
        return decoder.decode(again)


def _with_odd_arguments_as_text(raw: msgspec.Raw | bytes) -> bytes | None:
    """Return JSON in which the arguments of calls that hold numbers out of range are text; None if that mends nothing.

    An agent may call a tool with any number that it likes, and that is no reason why its run cannot be read.
    """
    try:
        value = json.loads(bytes(raw).decode(), parse_int=_int_or_infinity)
        return json.dumps(_odd_arguments_as_text(value), allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None


def _int_or_infinity(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.copysign(math.inf, -1 if digits[0] == "-" else 1)


_MOST_DIGITS: Final = 4000
"""A longer number is not read by Python, and is more than any state holds."""

_ARGUMENTS: Final = frozenset({"arguments", "args", "input", "parameters", "kwargs"})


def _odd_arguments_as_text(value: Json) -> Json:
    if isinstance(value, list):
        return [_odd_arguments_as_text(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: json.dumps(item)
        if name in _ARGUMENTS and isinstance(item, dict) and not _is_finite(item)
        else _odd_arguments_as_text(item)
        for name, item in value.items()
    }


def _is_finite(value: Json) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(map(_is_finite, inner))


def _mend(text: bytes, name: str, error: Exception) -> tuple[bytes, tuple[str, ...]]:
    """Return strict JSON for what Python's own decoder reads, with a warning; refuse what it does not read either."""
    try:
        value = json.loads(text.decode(), strict=False, parse_int=_int_or_infinity)
        mended = json.dumps(_strict(value)).encode()
    except UnicodeDecodeError as fault:
        raise ResultsError(
            f"it is not UTF-8 text (byte {fault.start:,})",
            where=name,
            remedy="Is it JSON at all, or saved in another encoding?",
        ) from fault
    except RecursionError:
        raise ResultsError(TOO_DEEP, where=name) from None
    except ValueError as fault:
        raise _broken(text, name, error, fault) from fault
    return mended, ("the file is not strict JSON: NaN and infinities were read as null, lone surrogates as U+FFFD",)


def _broken(text: bytes, name: str, error: Exception, fault: ValueError) -> ResultsError:
    if "truncated" in str(error):
        return ResultsError(
            f"the JSON breaks off at byte {len(text):,}",
            where=name,
            remedy="The file was cut short: copy it again, or end the run that writes it.",
        )
    place = f"character {fault.pos:,}" if isinstance(fault, json.JSONDecodeError) else str(error)
    words = fault.msg if isinstance(fault, json.JSONDecodeError) else str(fault)
    return ResultsError(f"it is not JSON: {words} ({place})", where=name, remedy="Is it a results file?")


def _strict(value: Json) -> Json:
    """Return a value that strict JSON can hold; arguments of calls that it cannot become text, which keeps them."""
    return _without_oddities(_odd_arguments_as_text(value))


def _without_oddities(value: Json) -> Json:
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_without_oddities(item) for item in value]
    if isinstance(value, dict):
        return {_without_oddities(key): _without_oddities(item) for key, item in value.items()}
    return value
