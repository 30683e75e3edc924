"""Write reference.md: every public name with the first paragraph of its docstring.

    python docs/make_reference.py

The source is read and never run, so no extra needs to be installed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src"
TARGET = HERE / "reference.md"

ROOMS = {
    "multigold": "tasks, runs, gold sets, environments, scoring: what most users need",
    "multigold.audit": "what is wrong or unclear in golds, runs and releases",
    "multigold.benchmark_data": "the benchmark's own data: found, loaded, fetched",
    "multigold.catalogues": "catalogues of gold sets: loading and lint",
    "multigold.environments": "single calls, and what a replay returns",
    "multigold.errors": "everything that is raised on purpose",
    "multigold.files": "databases in files, findings with their place, JSON Schemas",
    "multigold.integrations.agentdojo": "AgentDojo; needs the extra `agentdojo`",
    "multigold.integrations.frames": "data frames; needs the extra `pandas` or `polars`",
    "multigold.integrations.inspect_ai": "Inspect; needs the extra `inspect`",
    "multigold.policies": "policies as text: clauses, and what people decided of them",
    "multigold.state": "differences between states, taken apart; hashes of other benchmarks",
    "multigold.stats": "statistics of scored runs; intervals by resampling need the extra `stats`",
    "multigold.testing": "property tests of environments and gold sets; needs the extra `testing`",
}
"""The modules whose `__all__` is public, each with what it is for."""

HEAD = """# Reference: what is public

<!-- Written by docs/make_reference.py; do not edit. -->

Public are the names below, imported from the module that they stand under:
`from multigold.stats import compare_agents`. So are the commands with their options, the JSON documents with their
schemas (`multigold.document_schema`), the files of a catalogue, and the options of the pytest plugin. They change only
with an entry in the changelog.

Everything else is internal, with or without an underscore: other modules, and other names in these. It may change in
any release.
"""


@cache
def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module or package."""
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def public_names(module: str) -> dict[str, str]:
    """Return the public names of a module, each with the module that defines it."""
    for node in parsed(module).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if name == "_HOMES":
                homes: dict[str, str] = ast.literal_eval(value)
                return {name: f"{module}.{home}" for home, names in homes.items() for name in names.split()}
            if name == "__all__":
                return dict.fromkeys(ast.literal_eval(value), module)
    raise LookupError(f"{module} states no public names")


def described(module: str, name: str) -> tuple[str, str]:
    """Return a name as it is used, and the first paragraph of its docstring; empty if it has none."""
    body = parsed(module).body
    for position, node in enumerate(body):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return name, first_paragraph(ast.get_docstring(node))
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return f"{name}({', '.join(parameters(node.args))})", first_paragraph(ast.get_docstring(node))
        if name in targets(node):
            after = body[position + 1] if position + 1 < len(body) else None
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
            return name, first_paragraph(text)
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return described(str(node.module), name)
    raise LookupError(f"{module} does not define {name}")


def targets(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns to."""
    places = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [place.id for place in places if isinstance(place, ast.Name)]


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """Yield the parameters of a function without types; those with a default end in `=...`."""
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    yield from (f"{one.arg}=..." if number >= required else one.arg for number, one in enumerate(positional))
    if arguments.vararg:
        yield f"*{arguments.vararg.arg}"
    elif arguments.kwonlyargs:
        yield "*"
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield one.arg if default is None else f"{one.arg}=..."


def first_paragraph(docstring: object) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join(docstring.split("\n\n")[0].split()) if isinstance(docstring, str) else ""


def reference() -> str:
    """Return the page."""
    parts = [HEAD]
    for module, purpose in ROOMS.items():
        rows = [
            described(home, name) for name, home in sorted(public_names(module).items(), key=lambda n: n[0].lower())
        ]
        table = "\n".join(f"| `{used}` | {said.replace('|', chr(92) + '|')} |" for used, said in rows)
        parts.append(
            f"## {module}\n\n{purpose[0].upper()}{purpose[1:]}.\n\n| name | what it is |\n|---|---|\n{table}\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"{TARGET}: written")
