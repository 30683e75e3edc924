"""What is wrong with tau2's own golds, at both releases and in the verified fork: counted per code, task by task.

The counts are of the benchmark as it is; a change here means that a check changed, or an environment did.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import attrs
import pytest

from multigold.audit.findings import Finding, counts_by_code
from multigold.audit.golds.auditing import GoldAudit, audit_golds
from multigold.audit.golds.cases import golds_of_release
from multigold.audit.golds.checks import CODES
from multigold.benchmark_data import find_data, load_environment
from multigold.benchmark_data.releases import TaskRelease, read_release
from multigold.environments.base import Environment
from multigold.errors import DataError

OLD, NEW, FORK = "37199f3", "01e812d", "verified"
FILES = {OLD: "tau2/{}/tasks.37199f3.json", NEW: "tau2/{}/tasks.01e812d.json", FORK: "tau2-verified/{}/tasks.json"}


@cache
def load(domain: str) -> Environment:
    return load_environment(domain)


def environment_of(domain: str) -> Environment:
    try:
        return load(f"tau2-{domain}")
    except DataError as error:
        pytest.skip(str(error))


@cache
def releases(data: Path, domain: str) -> dict[str, TaskRelease]:
    read = {name: read_release(data / path.format(domain), domain=f"tau2-{domain}") for name, path in FILES.items()}
    return {name: attrs.evolve(release, name=name) for name, release in read.items()}


@cache
def audited(data: Path, domain: str, release: str) -> GoldAudit:
    known = releases(data, domain)
    others = [other for name, other in known.items() if name != release]
    return audit_golds(golds_of_release(known[release], others), load(f"tau2-{domain}"))


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


def of_code(found: GoldAudit, code: str) -> Iterator[Finding]:
    return (finding for finding in found.findings if finding.code == code)


def counts(found: GoldAudit) -> dict[str, int]:
    return {code: count for code, count in counts_by_code(found.findings, CODES).items() if count}


def tasks_of(found: GoldAudit, code: str) -> list[int]:
    return sorted({int(finding.task) for finding in of_code(found, code)})


COUNTS = {
    ("airline", OLD): {
        "vacuous": 20, "order-dependent": 4, "invariant-broken": 1, "literal-text": 1, "contradicted": 10,
    },
    ("airline", NEW): {"vacuous": 24, "order-dependent": 3, "contradicted": 7},
    ("airline", FORK): {"vacuous": 24, "order-dependent": 4, "literal-text": 1, "contradicted": 7},
    ("retail", OLD): {
        "write-raises": 4, "read-raises": 19, "vacuous": 11, "order-dependent": 1, "invariant-broken": 10,
        "literal-text": 4, "contradicted": 1,
    },
    ("retail", NEW): {
        "write-raises": 2, "read-raises": 16, "unknown-tool": 3, "vacuous": 11, "order-dependent": 1,
        "invariant-broken": 10, "contradicted": 1,
    },
    ("retail", FORK): {
        "write-raises": 4, "read-raises": 16, "unknown-tool": 3, "vacuous": 12, "order-dependent": 1,
        "invariant-broken": 10, "literal-text": 4, "contradicted": 2,
    },
}  # fmt: skip
"""Domain and release to the number of findings of each code; a code that is not named has none."""


@pytest.mark.parametrize(("domain", "release"), COUNTS, ids="-".join)
def test_the_faults_of_each_release_by_code(data: Path, domain: str, release: str) -> None:
    environment_of(domain)
    found = audited(data, domain, release)
    assert {code: count for code, count in counts_by_code(found.findings, CODES).items() if count} == COUNTS[
        domain, release
    ]


def test_retail_golds_raise_and_two_of_the_writes_are_in_every_release(data: Path) -> None:
    # Of the calls that the tools of 37199f3 have, 18 raise at 01e812d; the other three call a tool of a later release.
    environment_of("retail")
    writes = {release: tasks_of(audited(data, "retail", release), "write-raises") for release in FILES}
    assert writes == {OLD: [12, 13, 64, 105], NEW: [64, 105], FORK: [18, 64, 91, 105]}
    found = audited(data, "retail", NEW)
    raised = [*of_code(found, "write-raises"), *of_code(found, "read-raises")]
    assert len(raised) == 18
    assert {finding.evidence["calls"][0]["name"] for finding in of_code(found, "unknown-tool")} == {"get_item_details"}


def test_airline_golds_that_hang_on_order_and_what_cures_them(data: Path) -> None:
    environment_of("airline")
    cures = {
        release: {int(finding.task): finding.evidence["cures"] for finding in of_code(found, "order-dependent")}
        for release in FILES
        for found in [audited(data, "airline", release)]
    }
    everywhere = {7: None, 23: ["minted-ids", "unordered"], 32: None}
    assert cures == {
        OLD: {**everywhere, 33: ["net-payments"]},
        NEW: everywhere,
        FORK: {**everywhere, 33: ["net-payments"]},
    }


def test_airline_golds_that_another_release_contradicts(data: Path) -> None:
    environment_of("airline")
    against = {
        release: sorted(
            int(finding.task)
            for finding in of_code(audited(data, "airline", OLD), "contradicted")
            if finding.where.endswith(f"against {release}")
        )
        for release in (NEW, FORK)
    }
    assert against == {NEW: [9, 33, 35, 37, 38], FORK: [9, 23, 35, 37, 38]}


def test_retail_items_that_end_with_another_items_price(data: Path) -> None:
    environment_of("retail")
    for release in FILES:
        assert tasks_of(audited(data, "retail", release), "invariant-broken") == [20, 21, 36, 37, 100]


def test_no_id_of_an_airline_or_retail_gold_is_out_of_reach(data: Path) -> None:
    for domain in ("airline", "retail"):
        environment_of(domain)
        for release in FILES:
            assert tasks_of(audited(data, domain, release), "unreachable-id") == []


def test_telecom_golds_are_not_brought_in_step() -> None:
    environment = environment_of("telecom")
    directory = find_data("tau2-telecom").directory
    release = read_release(directory, domain="tau2-telecom")
    base = _base_split(directory)
    tasks = {name: version for name, version in release.tasks.items() if name in base}
    found = audit_golds(golds_of_release(attrs.evolve(release, tasks=tasks)), environment)
    assert found.golds == 114
    assert counts(found) == {"vacuous": 20, "order-dependent": 26, "not-synchronised": 71}
    # The reward of these tasks does not look at the database, so none of this is an error.
    assert {finding.level for finding in of_code(found, "vacuous")} == {"note"}
    assert {finding.level for finding in of_code(found, "not-synchronised")} == {"warning"}


def _base_split(directory: Path) -> set[str]:

    path = directory / "split_tasks.json"
    if not path.is_file():
        pytest.skip("the data has no split_tasks.json, which names the base tasks")
    return set(json.loads(path.read_text(encoding="utf-8"))["base"])
