"""From discoveries to gold sets: files that load as they are, count for nothing, and wait for a person.

A task that the catalogue does not list gets a gold set with the benchmark's gold and the discoveries; for one that it
lists, the readings are written by themselves, to be pasted. Every discovered reading stands `off` until a person has
said, from the policy, why it is defensible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from multigold.audit.runs.clusters import Cluster
from multigold.audit.runs.discover import Discovery
from multigold.environments.replay import replay
from multigold.errors import CallError
from multigold.files.records import write_records
from multigold.model.task import ToolCall
from multigold.state.canonical import Json
from multigold.stats.rows import natural

BENCHMARK = "benchmark"
"""Id of the reading that stands for the benchmark's own gold in a stub."""


def reading_stub(cluster: Cluster) -> dict[str, Json]:
    """Return a reading that admits a cluster's state, `off` and with everything to be said left open."""
    agents, runs = len(cluster.agents), len(cluster.against)
    seen = f"{runs} of {cluster.of} runs of this text, by {agents} agent{'s' if agents != 1 else ''}"
    reading: dict[str, Json] = {
        "id": f"found-{cluster.id}",
        "title": "TODO",
        "rationale": "TODO: which clause allows this, in your own words",
        "positions": {},
        "standing": {cluster.text: {"is": "off", "reason": f"not judged yet; reached by {seen}"}},
        "admits": [_form(cluster)],
        "origin": "trace",
        "notes": f"Found in runs of {', '.join(cluster.agents)}.",
    }
    evidence = _evidence(cluster.usual_reads) if cluster.untouched else None
    return {**reading, "evidence": evidence} if evidence else reading


def _form(cluster: Cluster) -> dict[str, Json]:
    """Return the calls that lead to the state; the changes themselves where replaying the calls does not lead there."""
    environment, golds = cluster.environment, cluster.golds
    if environment is not None:
        done = replay(environment, cluster.calls, initial=golds.start)
        if not done.refusals and golds.prepare(done.end_state).state == cluster.state:
            return {"actions": [_call(call) for call in cluster.calls]}
    return {"delta": cluster.changes.to_json()}


def _call(call: ToolCall) -> dict[str, Json]:
    return {**call.to_json(), "arguments": dict(call.arguments or {})}


def _evidence(reads: Iterable[ToolCall]) -> dict[str, Json] | None:
    """Return look-ups as evidence, any of which will do: an untouched database alone shows no decision."""
    asked: list[Json] = [{"tool": call.name, "arguments": dict(call.arguments)} for call in reads if call.arguments]
    if not asked:
        return None
    return asked[0] if len(asked) == 1 else {"any_of": asked}


def gold_set_stub(clusters: Sequence[Cluster]) -> dict[str, Json]:
    """Return a gold set for a task that the catalogue does not list, from the clusters of its texts.

    Args:
        clusters: Clusters of one task, at least one.
    """
    texts = {cluster.text: cluster for cluster in clusters}
    readings: list[dict[str, Json]] = []
    golds: dict[str, dict[str, str]] = {}
    for text, cluster in texts.items():
        gold, fingerprint = _benchmark_reading(cluster, text, len(texts) > 1), cluster.task.gold_fingerprint()
        readings += [gold] if gold else []
        golds[text] = {fingerprint: str(gold["id"])} if gold and fingerprint else {}
    readings += [reading_stub(cluster) for cluster in clusters]
    for reading in readings:
        reading["standing"] = {text: reading["standing"].get(text, _OTHER_TEXT) for text in texts}
    return {
        "task_id": clusters[0].task.id,
        "title": "TODO",
        "loopholes": [],
        "status": "proposed",
        "texts": [
            {"id": text, "fingerprint": cluster.task.text_fingerprint(), "releases": [], "golds": golds[text]}
            for text, cluster in texts.items()
        ],
        "readings": readings,
        "negatives": [],
        "notes": "A stub: no person has judged any of it.",
    }


_OTHER_TEXT = {"is": "off", "reason": "not judged yet for this text"}


def _benchmark_reading(cluster: Cluster, text: str, several: bool) -> dict[str, Json] | None:
    gold, environment = cluster.golds.benchmark, cluster.environment
    calls = cluster.task.criteria.actions if cluster.task.criteria else None
    if gold is None or environment is None or calls is None:
        return None
    done = replay(environment, calls, initial=cluster.golds.start, synchronise=False)
    carried = [outcome.call for outcome in done.outcomes if outcome.refusal is None]
    reading: dict[str, Json] = {
        "id": f"{BENCHMARK}-{text}" if several else BENCHMARK,
        "title": "The benchmark's own gold",
        "rationale": "TODO: which clause asks for this, in your own words",
        "positions": {},
        "standing": {text: {"is": "core", "reason": "The benchmark's gold."}},
        "admits": [{"actions": [_call(call) for call in carried if _may_write(cluster, call)]}],
        "origin": "clause",
    }
    untouched = gold.state == cluster.golds.initial
    evidence = _evidence(call for call in carried if _is_read(cluster, call)) if untouched else None
    return {**reading, "evidence": evidence} if evidence else reading


def _may_write(cluster: Cluster, call: ToolCall) -> bool:
    tool = cluster.environment.tool(call.name, call.requestor) if cluster.environment else None
    return tool is None or tool.kind == "write"


def _is_read(cluster: Cluster, call: ToolCall) -> bool:
    tool = cluster.environment.tool(call.name, call.requestor) if cluster.environment else None
    return tool is not None and tool.kind == "read"


def write_stubs(discoveries: Iterable[Discovery], directory: Path) -> list[Path]:
    """Write stubs for discoveries of which nothing is known: a catalogue per domain, and readings to paste.

    Args:
        discoveries: The discoveries; those that are in a reading already are left out.
        directory: Where to; files that are there are not overwritten.

    Returns:
        The files that were written: `<domain>/catalogue.json`, `<domain>/tasks/<id>.json`, and
        `<domain>/readings/<id>.json` for tasks that have a gold set.

    Raises:
        CallError: If a file is there already.
        MultigoldError: If one cannot be written.
    """
    tasks: dict[tuple[str, str], list[Cluster]] = {}
    for discovery in discoveries:
        if discovery.known not in ("reading", "off"):
            cluster = discovery.cluster
            tasks.setdefault((cluster.domain, cluster.task.id), []).append(cluster)
    documents: dict[Path, Json] = {}
    for (domain, task_id), clusters in sorted(tasks.items(), key=lambda item: (item[0][0], natural(item[0][1]))):
        home = directory / _file_name(domain)
        documents[home / "catalogue.json"] = {"domain": domain, "title": "Stubs: nothing judged yet", "loopholes": []}
        if any(cluster.golds.gold_set or cluster.golds.stratum == "other_version" for cluster in clusters):
            documents[home / "readings" / f"{_file_name(task_id)}.json"] = [reading_stub(c) for c in clusters]
        else:
            documents[home / "tasks" / f"{_file_name(task_id)}.json"] = gold_set_stub(clusters)
    taken = [path for path in documents if path.exists()]
    if taken:
        raise CallError("the file exists already and is not overwritten", where=str(taken[0]))
    for path, document in documents.items():
        write_records(document, path)
    return list(documents)


def _file_name(name: str) -> str:
    """Return a domain's or task's name if it can be a file's name; ids come from strangers' files.

    Raises:
        CallError: If it cannot.
    """
    if not name or name in (".", "..") or any(char in name for char in "/\\:\0") or not name.isprintable():
        raise CallError(f"{name!r} cannot be the name of a file", remedy="The stubs of this task were not written.")
    return name
