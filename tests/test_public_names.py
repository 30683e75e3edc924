"""The public boundary: what docs and examples import is public, documented, and listed in docs/reference.md."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from multigold.errors import MissingExtraError

ROOT = Path(__file__).resolve().parents[1]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = load(ROOT / "docs" / "make_reference.py")
PUBLIC = {module: reference.public_names(module) for module in reference.ROOMS}


def shown_code() -> Iterator[tuple[str, str]]:
    """Yield what readers are shown as Python: the blocks of the documentation, and the examples."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        yield from (
            (page.name, block) for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        )
    for path in sorted((ROOT / "examples").rglob("*.py")):
        yield path.name, path.read_text(encoding="utf-8")


def used_names(source: str) -> Iterator[tuple[str, str]]:
    """Yield module and name of everything of multigold that a piece of code imports, or takes by `multigold.NAME`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "multigold":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "multigold":
            yield "multigold", node.attr


def test_documentation_and_examples_import_public_names_only() -> None:
    used = {(module, name, place) for place, source in shown_code() for module, name in used_names(source)}
    private = [
        (module, name, place)
        for module, name, place in sorted(used)
        if name not in PUBLIC.get(module, ()) and f"{module}.{name}" not in PUBLIC
    ]
    assert len(used) > 50
    assert private == []


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_docstring(module: str) -> None:
    assert [name for name, home in PUBLIC[module].items() if not reference.described(home, name)[1]] == []


def test_the_reference_is_what_the_docstrings_say() -> None:
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert page == reference.reference(), "run: python docs/make_reference.py"


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_can_be_imported_from_their_module(module: str) -> None:
    imported = importlib.import_module(module)
    assert set(imported.__all__) - {"__version__"} == set(PUBLIC[module])
    assert set(PUBLIC[module]) <= set(dir(imported))
    for name in PUBLIC[module]:
        try:
            value = getattr(imported, name)
        except MissingExtraError:
            assert module == "multigold.testing"
        else:
            assert not isinstance(value, ModuleType), name


LAZY = [
    module for module in PUBLIC if "attach(" in Path(str(importlib.import_module(module).__file__)).read_text("utf-8")
]


@pytest.mark.parametrize("module", LAZY)
def test_type_checkers_see_the_names_that_are_loaded_on_first_use(module: str) -> None:
    """Each lazy room states its names twice: for type checkers, and as the table that loads them."""
    (block,) = (node for node in reference.parsed(module).body if isinstance(node, ast.If))
    stated = {
        alias.name: str(node.module) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert stated == PUBLIC[module]
    assert all(alias.asname == alias.name for node in block.body for alias in node.names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    multigold = importlib.import_module("multigold")
    with pytest.raises(AttributeError, match="has no attribute 'scores'"):
        _ = multigold.scores
