"""Everything that multigold raises on purpose.

One root, `MultigoldError`. Each error is data first and a sentence second: *whose fault* it is (the class), *where* it
is (a path into a file, a call, or a state), *what* is wrong, and *what to try* next. The command line prints
`str(error)` and exits with status 2; no traceback reaches a user.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

__all__ = [
    "BugError",
    "CallError",
    "DataError",
    "EnvironmentNotFoundError",
    "GoldSetError",
    "MissingExtraError",
    "MultigoldError",
    "ResultsError",
    "StateError",
]


class MultigoldError(Exception):
    """Root of every error raised on purpose.

    Args:
        message: One clear sentence that says what is wrong.
        where: Where it is: a file, a JSON path inside it, a call; empty if that says nothing.
        remedy: What to try next; empty if there is nothing to advise.
    """

    fault: ClassVar[str] = "the input"

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        if not self.remedy:
            return f"{place}{self.message}"
        stop = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{place}{self.message}{stop} {self.remedy}"

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.message, self.where, self.remedy))


class CallError(MultigoldError):
    """The caller of the library or of the command asked for something that makes no sense."""

    fault = "the call"


class StateError(MultigoldError):
    """A value is not a database state: not JSON, NaN, too deep, or a delta that does not fit its base."""

    fault = "the state"


class ResultsError(MultigoldError):
    """A results file cannot be read as what it should be."""

    fault = "the results file"


class GoldSetError(MultigoldError):
    """A gold set or a catalogue is wrong.

    Args:
        message: One clear sentence.
        where: File and JSON path.
        remedy: What to try.
        faults: All the faults of the document, each a sentence with its path, when there are several.
    """

    fault = "the gold set"

    def __init__(self, message: str, *, where: str = "", remedy: str = "", faults: Iterable[str] = ()) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.faults: tuple[str, ...] = tuple(faults)

    def __str__(self) -> str:
        return "\n  ".join((super().__str__(), *self.faults))


class DataError(MultigoldError):
    """The benchmark's own data (database, tasks, policy) is not there or is not what it should be."""

    fault = "the benchmark data"


class EnvironmentNotFoundError(DataError):
    """No environment of that name is known."""

    fault = "the call"


class MissingExtraError(MultigoldError):
    """An optional part is used without the packages that it needs."""

    fault = "the installation"


class BugError(MultigoldError):
    """Something that cannot happen happened: a bug of multigold itself."""

    fault = "multigold"
