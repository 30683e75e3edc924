"""The voice-agent guide's hash of a state (scheme `eva`), for many states on one base.

A run changes a handful of records of thousands. So each record's text is made once per base, and a state's hash costs
joining the texts and one SHA-256; a state that was hashed before costs only its own records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from multigold.errors import StateError
from multigold.state.canonical import Json, too_deep
from multigold.state.database import GONE, WHOLE, Database
from multigold.state.schemes import NullDefaults, eva_member, eva_normal

_SESSION = "session"
"""The table that the scheme leaves out."""


class EvaHasher:
    """Hashes states on one base under scheme `eva`; each is what `hash_state` gives for the state's plain data.

    Args:
        base: The state that the others are on. Any other works too, at the full price.
        null_defaults: Table to fields that a record which is not in the base has as null if they are absent: the
            benchmark's data leaves them out, and its tools write them.
    """

    def __init__(self, base: Database, *, null_defaults: NullDefaults | None = None) -> None:
        self._base = base
        self._nulls = {table: dict.fromkeys(fields) for table, fields in (null_defaults or {}).items()}
        self._texts: dict[str, dict[str, str]] = {}
        self._hashes: dict[frozenset[tuple[str, str, str]], str] = {}

    def hash(self, state: Database) -> str:
        """Return a state's hash, as 64 hexadecimal digits.

        Raises:
            StateError: If the state cannot be written down as the scheme does.
        """
        try:
            return self._hash(state)
        except RecursionError:
            raise too_deep() from None
        except (TypeError, ValueError) as error:
            raise StateError(f"scheme eva cannot write the state down: {error}") from error

    def _hash(self, state: Database) -> str:
        changed: dict[str, dict[str, str]] = {table: {} for table in state.tables()}
        for table, record_id in state.touched(self._base):
            record = state.find(table, record_id)
            if table in self._nulls and isinstance(record, dict) and self._base.find(table, record_id) is GONE:
                record = {**self._nulls[table], **record}
            changed.setdefault(table, {})[record_id] = "" if record is GONE else _text(table, record_id, record)
        key = frozenset((table, i, text) for table, texts in changed.items() for i, text in texts.items())
        if key not in self._hashes:
            self._hashes[key] = hashlib.sha256(self._document(state.tables(), changed).encode("ascii")).hexdigest()
        return self._hashes[key]

    def _document(self, names: list[str], changed: Mapping[str, Mapping[str, str]]) -> str:
        base = self._base_texts()
        tables = []
        for table in names:
            texts = {**base.get(table, {}), **changed.get(table, {})}
            present = [record_id for record_id in sorted(texts) if texts[record_id]]
            if table == _SESSION:
                continue
            if present == [WHOLE]:
                tables.append(f"{json.dumps(table)}:{texts[WHOLE]}")
                continue
            members = ",".join(f"{json.dumps(record_id)}:{texts[record_id]}" for record_id in present)
            tables.append(f"{json.dumps(table)}:{{{members}}}")
        return f"{{{','.join(tables)}}}"

    def _base_texts(self) -> dict[str, dict[str, str]]:
        if not self._texts:
            self._texts = {table: {} for table in self._base.tables()}
            for table, record_id, record in self._base.records():
                self._texts[table][record_id] = _text(table, record_id, record)
        return self._texts


def _text(table: str, record_id: str, record: Json) -> str:
    """Return a record as the scheme writes it; what stands in its place in the document decides on sorting."""
    value = eva_member(table if record_id == WHOLE else record_id, eva_normal(record))
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
