"""The published JSON Schemas, and files checked against them.

Loading does not use them: its own walk says what is wrong more plainly and costs no import. They are for editors, for
people who write catalogues with other tools, and a second opinion in lint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from multigold.files.cursor import Finding
from multigold.files.schemas import document_schema
from multigold.state.canonical import Json
from multigold.state.delta import join_pointer

SCHEMAS: Mapping[str, str] = {
    "catalogue.json": "catalogue",
    "clauses.json": "clauses",
}
"""File of a catalogue to its schema; all other files are gold sets."""

GOLD_SET_SCHEMA = "gold-set"


def schema_findings(documents: Mapping[str, Json]) -> Iterator[Finding]:
    """Yield what JSON Schema says of the files of a catalogue.

    Args:
        documents: File name to decoded JSON.
    """
    validators: dict[str, Any] = {}
    for file, document in documents.items():
        name = SCHEMAS.get(file, GOLD_SET_SCHEMA)
        if name not in validators:
            validators[name] = _validator(document_schema(name))
        for error in validators[name].iter_errors(document):
            path = join_pointer(str(part) for part in error.absolute_path)
            yield Finding(code="schema", where=f"{file}: {path or '/'}", sentence=_short(error.message))


def _validator(schema: Mapping[str, Json]) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def pattern_schema_fault(schema: Json) -> str | None:
    """Return why a value is not a JSON Schema (2020-12); None if it is one."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _short(error.message)
    return None


def _short(message: str, limit: int = 200) -> str:
    return message if len(message) <= limit else f"{message[: limit - 1]}…"
