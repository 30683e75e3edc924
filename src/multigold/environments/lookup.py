"""Looking ids up without regard to case, as agents that only heard them need.

It changes what calls do, so it is an option of the replay and no equivalence of states. As in the voice-agent
evaluation, an id is looked up in the case in which the domain writes ids of its table; what a call *writes* is written
as it was given, so that a booking for `SOPHIA_SILVA_7557` finds the user and still stores the name in capitals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from multigold.state.canonical import Json
from multigold.state.conventions import Case
from multigold.state.database import Database, Draft

IdLookup: TypeAlias = Literal["exact", "case-insensitive"]
"""How ids in calls are looked up."""

_WRITTEN: Final[Mapping[Case, Callable[[str], str]]] = {"upper": str.upper, "lower": str.lower}


class CaselessDraft:
    """A draft that finds records by their ids in any case.

    Args:
        draft: Read and written in place.
        id_case: Table to the case in which its ids are written; the ids of other tables are looked up as they are.
    """

    __slots__ = ("_draft", "_id_case")

    def __init__(self, draft: Draft, id_case: Mapping[str, Case]) -> None:
        self._draft = draft
        self._id_case = id_case

    def _known(self, table: str, record_id: object) -> object:
        case = self._id_case.get(table)
        if case is None or not isinstance(record_id, str) or self._draft.has(table, record_id):
            return record_id
        return _WRITTEN[case](record_id)

    def has(self, table: str, record_id: object) -> bool:
        """Tell whether the table has a record of that id."""
        return self._draft.has(table, self._known(table, record_id))

    def get(self, table: str, record_id: str) -> Json:
        """Return a record, to be read only.

        Raises:
            KeyError: If there is none.
        """
        return self._draft.get(table, str(self._known(table, record_id)))

    def edit(self, table: str, record_id: str) -> Json:
        """Return a record that may be changed in place.

        Raises:
            KeyError: If there is none.
        """
        return self._draft.edit(table, str(self._known(table, record_id)))

    def remove(self, table: str, record_id: str) -> None:
        """Delete a record.

        Raises:
            KeyError: If there is none.
        """
        self._draft.remove(table, str(self._known(table, record_id)))

    def put(self, table: str, record_id: str, record: Json) -> None:
        """Store a record under the id as it is given."""
        self._draft.put(table, record_id, record)

    def put_whole(self, table: str, value: Json) -> None:
        """Store a top-level value that is not an object."""
        self._draft.put_whole(table, value)

    def ids(self, table: str) -> list[str]:
        """Return the ids of the records of a table."""
        return self._draft.ids(table)

    def freeze(self) -> Database:
        """Return the present content as a database."""
        return self._draft.freeze()


def respelled(arguments: Mapping[str, Json], draft: Draft, id_case: Mapping[str, Case]) -> dict[str, Json]:
    """Return a call's arguments with those that name a record in another case as the record's id is written."""
    return {name: _respelled(value, draft, id_case) for name, value in arguments.items()}


def _respelled(value: Json, draft: Draft, id_case: Mapping[str, Case]) -> Json:
    if not isinstance(value, str) or any(draft.has(table, value) for table in id_case):
        return value
    spellings = ((table, _WRITTEN[case](value)) for table, case in id_case.items())
    return next((spelling for table, spelling in spellings if draft.has(table, spelling)), value)
