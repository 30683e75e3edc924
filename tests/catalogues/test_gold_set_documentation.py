"""The page on gold sets: its JSON is valid and replays, and it names every member of the format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from multigold.catalogues.decoding import read_form
from multigold.catalogues.schema import GOLD_SET_SCHEMA
from multigold.files.cursor import Cursor, Finding
from multigold.files.schemas import document_schema
from multigold.model.gold import GoldSet, Reading
from multigold.model.task import Task
from multigold.scoring import compile_golds

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gold-sets.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- (\w+) -->\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FORMS = [json.loads(source) for kind, source in BLOCKS if kind == "form"]


def test_every_json_block_says_what_it_is() -> None:
    assert PAGE.count("```json") == len(BLOCKS)


@pytest.mark.parametrize(("kind", "source"), BLOCKS)
def test_every_json_block_satisfies_the_schema(kind: str, source: str) -> None:
    schema = document_schema(GOLD_SET_SCHEMA)
    part = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
    assert [error.message for error in Draft202012Validator(part).iter_errors(json.loads(source))] == []


@pytest.mark.parametrize("form", FORMS, ids=lambda form: next(iter(form)))
def test_every_form_shown_can_be_worked_out_in_the_library(form: Any, library_module: ModuleType) -> None:
    found: list[Finding] = []
    read = read_form(Cursor(form, "page", found))
    assert read is not None
    assert found == []
    gold_set = GoldSet(readings=(Reading(id="r", admits=(read,)),))
    (admitted,) = compile_golds(Task("t"), gold_set, library_module.build()).readings
    assert admitted.patterns or admitted.width == {"choices": 4}.get(next(iter(form)), 1)


def test_the_page_shows_every_form_but_the_whole_database() -> None:
    assert {next(iter(form)) for form in FORMS} == {"actions", "choices", "delta", "pattern"}


@pytest.mark.parametrize("name", ["catalogue", "clauses", GOLD_SET_SCHEMA])
def test_the_page_names_every_member_of_the_format(name: str) -> None:
    schema = document_schema(name)
    members = {key for part in (schema, *schema.get("$defs", {}).values()) for key in part.get("properties", {})}
    missing = [key for key in sorted(members - {"$schema"}) if not re.search(rf"[`\"]{re.escape(key)}[`\"]", PAGE)]
    assert missing == []
