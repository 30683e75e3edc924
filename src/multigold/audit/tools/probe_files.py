"""Probes as JSON files: those that come with multigold, and those of users.

{
"schema": "multigold/probes/1",
"domain": "tau2-retail",
"probes": [{"loophole": "R1", "side": "success", "title": "...", "setup": [...], "calls": [...], "expect": {}}],
"statuses": [{"status": "cancelled", "reached_by": [...], "tries": [...]}]
}
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from multigold.audit.tools.exploitability import Probe, Probes, StatusProbe
from multigold.catalogues.decoding import read_calls
from multigold.errors import CallError, MultigoldError
from multigold.files.cursor import Cursor
from multigold.files.records import open_records, refuse_faults
from multigold.state.delta import split_pointer

SCHEMA: Final = "multigold/probes/1"
"""Name and version of the form."""


def shipped_probes(domain: str) -> Probes | None:
    """Return the probes that come with multigold for a domain; None if there are none."""
    path = Path(__file__).with_name("probes") / f"{domain}.json"
    return read_probes(path) if domain.replace("-", "").isalnum() and path.is_file() else None


def read_probes(path: Path) -> Probes:
    """Read a file of probes.

    Raises:
        CallError: If it cannot be read or has faults; all of them are named, each with its place.
    """
    top = open_records(path, SCHEMA)
    top.keys({"schema", "domain", "probes"}, {"$schema", "statuses", "notes"})
    probes = Probes(
        domain=top.text("domain"),
        probes=tuple(_probe(item) for item in top.items("probes")),
        statuses=tuple(_status(item) for item in top.items("statuses")),
    )
    refuse_faults(top.found, path)
    return probes


def _probe(at: Cursor) -> Probe:
    at.keys({"loophole", "side", "calls"}, {"title", "setup", "expect"})
    expect = {}
    for pointer, item in at.members("expect"):
        if not _points_into_a_record(pointer):
            item.fault("bad-pointer", "a pointer names a side (/agent or /user), a table, a record and a field")
        expect[pointer] = item.value
    return Probe(
        loophole=at.text("loophole"),
        side=at.text("side"),
        title=at.text("title"),
        setup=read_calls(at, "setup"),
        calls=read_calls(at, "calls"),
        expect=expect,
    )


def _points_into_a_record(pointer: str) -> bool:
    try:
        tokens = split_pointer(pointer)
    except MultigoldError:
        return False
    return len(tokens) >= 4 and tokens[0] in ("agent", "user")


def _status(at: Cursor) -> StatusProbe:
    at.keys({"status", "reached_by", "tries"})
    return StatusProbe(status=at.text("status"), reached_by=read_calls(at, "reached_by"), tries=read_calls(at, "tries"))


def check_probes(probes: Probes, sides: dict[str, set[str]], *, where: str) -> None:
    """Check that probes name loopholes and sides that a catalogue has.

    Args:
        probes: The probes.
        sides: Loophole to its sides.
        where: What to call the probes in an error.

    Raises:
        CallError: If one does not.
    """
    for probe in probes.probes:
        if probe.loophole not in sides:
            raise CallError(f"a probe names {probe.loophole!r}; there are: {', '.join(sides)}", where=where)
        known = sides[probe.loophole]
        if probe.side not in known:
            there = f"{probe.loophole} has: {', '.join(sorted(known))}"
            raise CallError(f"a probe names the side {probe.side!r}; {there}", where=where)
