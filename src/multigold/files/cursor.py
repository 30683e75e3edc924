"""Faults as values, and a walk over decoded JSON that collects all of them.

A catalogue is written by hand, so whoever reads one wants every fault of a file at once and the place of each. A
`Cursor` stands on one value and knows its place; asking it for a member of the wrong kind notes a fault and answers
with an empty value, so that the walk goes on to the next fault.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, TypeAlias, TypeVar

import attrs

from multigold.state.canonical import Json
from multigold.state.delta import join_pointer

T = TypeVar("T")

Level: TypeAlias = Literal["error", "warning", "note"]
"""An `error` must be mended; a `warning` should be looked at (audits have them); a `note` is worth knowing."""


@attrs.frozen(kw_only=True)
class Finding:
    """One thing that was found: in a catalogue's files, or by an audit.

    Attributes:
        code: A stable word for programs, such as `unknown-side`.
        where: The file and the JSON Pointer in it.
        sentence: The same for people.
        level: Whether it must be mended.
        task: Id of the task that it is about; empty if it is about none.
        evidence: What shows it, as plain JSON data: calls, a delta; None if the sentence says all.
        remedy: What to do about it; empty if that goes without saying.
    """

    code: str
    where: str
    sentence: str
    level: Level = "error"
    task: str = ""
    evidence: Json = attrs.field(default=None, hash=False)
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.sentence}"


class Cursor:
    """A value of a decoded JSON file, its place, and the list that faults are noted in.

    Args:
        value: The value.
        file: The file's name, as findings show it.
        found: The list that faults are noted in; shared by all cursors of one load.
        path: Member names and indices that lead to the value in its file.
    """

    __slots__ = ("file", "found", "path", "value")

    def __init__(self, value: Json, file: str, found: list[Finding], path: tuple[str | int, ...] = ()) -> None:
        self.value = value
        self.file = file
        self.found = found
        self.path = path

    @property
    def pointer(self) -> str:
        """The JSON Pointer of the value in its file; few cursors are ever asked for it."""
        return join_pointer(map(str, self.path))

    @property
    def where(self) -> str:
        """The place: file and pointer."""
        return f"{self.file}: {self.pointer or '/'}"

    def fault(self, code: str, sentence: str) -> None:
        """Note a fault at this place."""
        self.found.append(Finding(code=code, where=self.where, sentence=sentence))

    def keys(self, required: Collection[str], optional: Collection[str] = ()) -> bool:
        """Check that the value is an object with these members and no others; tell whether it is an object."""
        if not isinstance(self.value, dict):
            self.fault("wrong-kind", f"this should be an object, not {kind(self.value)}")
            return False
        for key in required:
            if key not in self.value:
                self.fault("missing-member", f"the member {key!r} is missing")
        for key in self.value:
            if key not in required and key not in optional:
                known = ", ".join(sorted({*required, *optional}))
                self.fault("unknown-member", f"there is no member {key!r} here; there are: {known}")
        return True

    def has(self, key: str) -> bool:
        """Tell whether the value is an object that has this member."""
        return isinstance(self.value, dict) and key in self.value

    def at(self, key: str) -> Cursor:
        """Return a cursor on a member that is there."""
        return Cursor(self.value[key], self.file, self.found, (*self.path, key))

    def text(self, key: str, default: str = "") -> str:
        """Return a member that is a string; the default if it is absent or (noted) something else."""
        return self._typed(key, str, "a string", default)

    def flag(self, key: str) -> bool:
        """Return a member that is a boolean; False if it is absent or (noted) something else."""
        return self._typed(key, bool, "true or false", False)

    def number(self, key: str) -> int:
        """Return a member that is a whole number; 0 if it is absent or (noted) something else."""
        return self._typed(key, int, "a whole number", 0)

    def word(self, key: str, words: Collection[str], default: str) -> str:
        """Return a member that is one of a few words; the default if it is absent or (noted) something else."""
        value = self.text(key, default)
        if value not in words:
            self.at(key).fault("unknown-word", f"{value!r} is none of {', '.join(words)}")
            return default
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a member that is a list of strings; anything else in it is left out and noted."""
        values: list[Json] = self._typed(key, list, "a list", [])
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) < len(values):
            for item in self.items(key):
                if not isinstance(item.value, str):
                    item.fault("wrong-kind", f"this should be a string, not {kind(item.value)}")
        return texts

    def items(self, key: str) -> Iterator[Cursor]:
        """Yield a cursor on each item of a member that is a list."""
        holder: list[Json] = self._typed(key, list, "a list", [])
        for index, value in enumerate(holder):
            yield Cursor(value, self.file, self.found, (*self.path, key, index))

    def members(self, key: str) -> Iterator[tuple[str, Cursor]]:
        """Yield name and cursor of each member of a member that is an object."""
        holder: dict[str, Json] = self._typed(key, dict, "an object", {})
        for name, value in holder.items():
            yield name, Cursor(value, self.file, self.found, (*self.path, key, name))

    def _typed(self, key: str, expected: type[T], name: str, default: T) -> T:
        if not self.has(key):
            return default
        value = self.value[key]
        if isinstance(value, expected) and (expected is not int or not isinstance(value, bool)):
            return value
        self.at(key).fault("wrong-kind", f"this should be {name}, not {kind(value)}")
        return default


def kind(value: Json) -> str:
    """Return what a JSON value is, in a word."""
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
