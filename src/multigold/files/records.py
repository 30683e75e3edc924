"""Files of records that people edit: read with all faults at once, written so that a diff shows what was decided."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from multigold.errors import CallError, MultigoldError
from multigold.files.cursor import Cursor, Finding
from multigold.files.writing import stream_to
from multigold.state.canonical import Json
from multigold.state.json_values import sound

MAX_RECORD_BYTES = 256 * 2**20
"""A larger file of records is refused."""


def open_records(path: Path, schema: str, *, remedy: str = "Is it a file of records?") -> Cursor:
    """Open a file of records.

    Args:
        path: The file.
        schema: Name and version of the form that it should have.
        remedy: What to try if it is of another form.

    Returns:
        A cursor on the whole document, whose list of findings is empty.

    Raises:
        CallError: If it cannot be read, is not JSON, or is of another form.
    """
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            raise CallError(f"it is larger than {MAX_RECORD_BYTES:,} bytes", where=str(path))
        value = sound(json.loads(path.read_bytes()))
    except OSError as error:
        raise CallError(f"the records cannot be read ({error.strerror or error})", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise CallError(f"the records are not JSON ({error})", where=str(path)) from error
    stated = value.get("schema") if isinstance(value, dict) else None
    if stated != schema:
        raise CallError(f"its `schema` is {stated!r} and should be {schema!r}", where=str(path), remedy=remedy)
    found: list[Finding] = []
    return Cursor(value, path.name, found)


def refuse_faults(found: Sequence[Finding], path: Path) -> None:
    """Raise where faults were found, with all of them.

    Raises:
        CallError: If there is at least one.
    """
    if found:
        count = "one fault" if len(found) == 1 else f"{len(found)} faults"
        raise CallError("\n  ".join((f"the records have {count}:", *map(str, found))), where=str(path))


def write_records(document: Json, path: Path) -> None:
    """Write records as indented JSON in one step: a reader sees the old file or the new one, never half of one.

    Raises:
        MultigoldError: If the file cannot be written.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with stream_to(path) as stream:
            stream.write(text)
    except OSError as error:
        raise MultigoldError(f"it cannot be written ({error.strerror or error})", where=str(path)) from error
