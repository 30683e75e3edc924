"""One statement per result of what it was made with: an in-toto statement of the test-result form.

The subject is the results file by its digest; the configuration names, by digest, the catalogue, the benchmark's data,
the policy that the file embeds, this program's version and every option that changes a verdict. Each run is a test:
passed if it matched, failed if it did not, warned about if it is unscored. The statement holds no time, no path and no
name of a machine, so whoever has the same file, data and version derives it again byte for byte.

What it does not prove: that the runs took place, that the agent is who the file says, or that the results were not
chosen from many. It is not signed; sign it with whatever you sign other attestations with.

Form: https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md (version 0.1).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Final

import attrs

from multigold._version import __version__
from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.rescoring import FileReport, Options, Rescoring, provenance
from multigold.state.canonical import Json, digest
from multigold.stats.rows import natural

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "https://in-toto.io/attestation/test-result/v0.1"

_REPLAYED = ("equivalences", "contested", "benchmark_release", "strata", "rejoin", "check_reads", "ids")
"""Options that a statement carries, so that it can be derived again; paths are for whoever does."""


def statement_of(rescoring: Rescoring, file: FileReport) -> dict[str, Json]:
    """Return the statement of one file of a re-scoring.

    Args:
        rescoring: What `rescore` returned.
        file: One of its files.
    """
    own = [verdict for verdict in rescoring.verdicts if verdict.file == file.name and verdict.domain == file.domain]
    names = _names(own)
    tests: dict[str, list[str]] = {"matched": [], "unscored": [], "unmatched": []}
    for name, verdict in zip(names, own, strict=True):
        tests[verdict.outcome].append(name)
    return {
        "_type": STATEMENT,
        "subject": [{"name": PurePath(file.name).name, "digest": {"sha256": file.digest}}],
        "predicateType": PREDICATE,
        "predicate": {
            "result": _result(file, tests),
            "configuration": _configuration(rescoring.options, file),
            "passedTests": _sorted(tests["matched"]),
            "warnedTests": _sorted(tests["unscored"]),
            "failedTests": _sorted(tests["unmatched"]),
        },
    }


def _sorted(names: Iterable[str]) -> list[Json]:
    return sorted(names, key=natural)


def _result(file: FileReport, tests: Mapping[str, Sequence[str]]) -> str:
    """Return how the re-scoring went: PASSED if every run is scored, WARNED if some are not, FAILED if none is."""
    if not tests["matched"] and not tests["unmatched"]:
        return "FAILED"
    return "WARNED" if tests["unscored"] or file.warnings else "PASSED"


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    """Return what each run is called; runs that share task and trial are told apart by their order in the file."""
    seen: dict[str, int] = {}
    names = []
    for verdict in verdicts:
        name = f"{verdict.agent}, task {verdict.task_id}, trial {verdict.trial}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return names


def _configuration(options: Options, file: FileReport) -> list[Json]:
    stated = {name: value for name, value in provenance(options, (file,)).items() if name in _REPLAYED}
    parts: list[Json] = [
        {"name": "multigold", "annotations": {"version": __version__}},
        {
            "name": "options",
            "digest": {"sha256": digest(stated)},
            "annotations": {**stated, "agent_name": options.agent_name, "domain": file.domain, "format": file.format},
        },
    ]
    digests = {"catalogue": file.catalogue_digest, "data": file.data_digest, "policy": file.policy_digest}
    return [*parts, *({"name": name, "digest": {"sha256": value}} for name, value in digests.items() if value)]


def statement_text(statement: Mapping[str, Json]) -> str:
    """Return a statement as text: sorted keys, ASCII, one form whatever the machine."""
    return json.dumps(statement, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def is_statement(path: Path) -> bool:
    """Tell whether a file is such a statement."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and data.get("_type") == STATEMENT


def read_statement(path: Path) -> dict[str, Any]:
    """Read a statement.

    Raises:
        CallError: If it is of another form.
    """
    data = json.loads(path.read_bytes())
    predicate = data.get("predicate")
    if data.get("predicateType") != PREDICATE or not isinstance(predicate, dict):
        raise CallError("it is an in-toto statement, but not of the test-result form", where=str(path))
    found: dict[str, Any] = data
    return found


def options_of(statement: Mapping[str, Any], options: Options) -> Options:
    """Return the options that a statement was made with; where data and gold sets are is taken from `options`.

    Raises:
        CallError: If it does not say.
    """
    try:
        (stated,) = [one["annotations"] for one in statement["predicate"]["configuration"] if one["name"] == "options"]
        values = {name: stated[name] for name in _REPLAYED}
        values["equivalences"] = tuple(values["equivalences"])
        return attrs.evolve(options, **values, agent_name=stated["agent_name"])
    except (LookupError, TypeError, ValueError) as error:
        raise CallError("the statement does not say which options it was made with") from error


def differences(stated: Mapping[str, Any], derived: Mapping[str, Any]) -> list[str]:
    """Return how a statement differs from the one derived again, each a sentence; empty if they are one."""
    found = []
    for name, one, other in _parts(stated, derived):
        if one != other:
            found.append(f"{name}: {_short(one)} stated, {_short(other)} derived")
    if not found and statement_text(stated) != statement_text(derived):
        found.append("the statements differ in some other member")
    return found


def _parts(stated: Mapping[str, Any], derived: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    names = ("result", "passedTests", "warnedTests", "failedTests")
    one, other = stated["predicate"], derived["predicate"]
    parts = [("subject", stated.get("subject"), derived["subject"])]
    parts += [(name, one.get(name), other[name]) for name in names]
    configurations = [{c.get("name"): c for c in side.get("configuration", ())} for side in (one, other)]
    for name in sorted({*configurations[0], *configurations[1]}, key=str):
        parts.append((f"configuration {name}", configurations[0].get(name), configurations[1].get(name)))
    return parts


def _short(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return f"{len(value)} tests"
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 160 else f"{text[:157]}..."
