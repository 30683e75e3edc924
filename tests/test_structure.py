"""The shape of the package: what imports what, what is public, what an import costs."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import multigold

PACKAGE = Path(multigold.__file__).parent

LAYERS = (
    ("_version", "errors"),
    ("_lazy",),
    ("state",),
    ("model",),
    ("files",),
    ("environments",),
    ("scoring",),
    ("readers",),
    ("benchmark_data",),
    ("policies",),
    ("catalogues",),
    ("stats",),
    ("rescoring",),
    ("audit",),
    ("rendering",),
    ("integrations", "testing"),
    ("cli", "__main__"),
    ("__init__",),
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.split(".")[0] == "multigold"}


def module_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


@pytest.mark.parametrize("path", module_files(), ids=module_name)
def test_a_module_imports_only_downward(path: Path) -> None:
    room = room_of(module_name(path))
    assert room in RANK, f"{room} has no place in LAYERS"
    upward = {name for name in imports_of(path) if RANK[room_of(name)] > RANK[room]}
    # Every module may read the public names' docstrings; none may import the package for its contents.
    assert not upward


def all_modules() -> list[str]:
    return sorted(info.name for info in pkgutil.walk_packages([str(PACKAGE)], "multigold."))


def test_no_public_function_shares_its_name_with_a_module() -> None:
    for name in all_modules():
        if not name.endswith("__main__") and "plugin" not in name:
            if "integrations" in name or "tau2" in name:  # may need an extra that is not installed
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
            else:
                importlib.import_module(name)
    for name in multigold.__all__:
        value = getattr(multigold, name)
        assert not inspect.ismodule(value), name


HEAVY = ("deepdiff", "numpy", "jsonschema", "rich", "click", "tau2", "pandas", "hypothesis", "pytest")


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = (
        "import sys, multigold; multigold.score, multigold.GoldSet, multigold.rescore;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    environment = {"PYTHONPATH": str(PACKAGE.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert done.stdout.strip() == "[]"
