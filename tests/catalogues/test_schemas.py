"""The published JSON Schemas against the walk that loading makes: two accounts of one format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalogue_files import documents
from jsonschema import Draft202012Validator

from multigold.catalogues import load_catalogue, shipped_catalogues
from multigold.catalogues.loading import CatalogueFiles, decode_catalogue, read_files
from multigold.catalogues.schema import GOLD_SET_SCHEMA, SCHEMAS, schema_findings
from multigold.files.cursor import Finding
from multigold.files.schemas import document_schema

ONLY_LOADING = {
    "unknown-loophole",
    "unknown-side",
    "unknown-clause",
    "unknown-reading",
    "unknown-text",
    "missing-standing",
    "undefined-slot",
    "unused-slot",
    "duplicate",
    "wrong-file",
    "bad-sides",
    "bad-lines",
    "bad-pointer",
    "bad-overlap",
    "standing-form",
}
"""Faults that are about what stands elsewhere in the files, which a schema cannot see."""


@pytest.mark.parametrize("name", [*SCHEMAS.values(), GOLD_SET_SCHEMA])
def test_a_published_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(document_schema(name))


@pytest.mark.parametrize("name", shipped_catalogues())
def test_shipped_files_satisfy_the_schemas(name: str) -> None:
    files = read_files(Path(load_catalogue(name).source), [])
    assert [str(finding) for finding in schema_findings(files.documents)] == []


def broken(value: Any) -> Iterator[Any]:
    """Yield a document with one thing out of order, for every place: dropped, of another kind, or one too many."""
    for replacement in (None, 7, "x", [], {}, True):
        if type(replacement) is not type(value):
            yield replacement
    if isinstance(value, dict):
        yield {**value, "unheard-of": 1}
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
            yield from ({**value, key: part} for part in broken(value[key]))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from ([*value[:index], part, *value[index + 1 :]] for part in broken(value[index]))


def test_walk_and_schema_agree_on_the_form_of_a_file() -> None:
    """What the walk finds in the form of a file, beyond references, the schema finds too; and the other way round."""
    sound, tried = documents(), 0
    for name in sound:
        validator = Draft202012Validator(document_schema(SCHEMAS.get(name, GOLD_SET_SCHEMA)))
        for document in broken(sound[name]):
            found: list[Finding] = []
            files = CatalogueFiles(directory=Path(), documents={**documents(), name: document})
            decode_catalogue(files, found)
            form = {finding.code for finding in found} - ONLY_LOADING
            valid = validator.is_valid(document)
            assert not (valid and form), (name, document, found)
            assert valid or found, (name, document)
            tried += 1
    assert tried > 500
