"""`multigold audit`: a group of its own; an audit's module is imported when the audit is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import click

from multigold.cli._group import LazyGroup

AUDITS = {
    "golds": (
        "multigold.cli._audit_golds",
        "Find golds that are broken, unreachable or vacuous, or depend on the order of calls.",
    ),
    "policy": ("multigold.cli._audit_policy", "Put each clause of a policy to four tests, and keep the results."),
    "traces": ("multigold.cli._audit_traces", "Make a record of each run that the single gold fails, to be judged."),
    "discover": (
        "multigold.cli._audit_discover",
        "Find end states that several agents reach although the gold fails them.",
    ),
    "contradictions": ("multigold.cli._audit_contradictions", "Find golds that take opposite sides of one loophole."),
    "exploitability": ("multigold.cli._audit_exploitability", "Try which sides of a loophole the tools let through."),
    "versions": ("multigold.cli._audit_versions", "Say what changed between two releases, task by task."),
}
"""Audit to its module, whose `command` it is, and its one-line description."""


class AuditGroup(LazyGroup):
    """The audits, imported when they are run."""

    table: ClassVar[Mapping[str, tuple[str, str]]] = AUDITS


@click.group(name="audit", cls=AuditGroup)
def command() -> None:
    """Find what is wrong or unclear in golds, policies, traces and releases.

    Exit status: 0 nothing was found; 1 something was; 2 the input or the call is wrong.
    """
