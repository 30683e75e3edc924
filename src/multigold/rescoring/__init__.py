"""Stored results in, verdicts out.

    file -> reader -> (task, trajectory) -> gold set + environment -> judge -> verdict

A database is parsed once per process and a task's golds are compiled once per text; a run then costs its own calls. One
bad run never stops a batch: it becomes unscored, with its place and the reason.
"""

from multigold.rescoring.batch import (
    Progress,
    in_force,
    paper_split,
    rescore,
    strata_note,
    stream,
    summarise,
)
from multigold.rescoring.context import FileContext, ScoringContext, acceptable_gold_set
from multigold.rescoring.judge_run import judge_run, named
from multigold.rescoring.options import FilePlan, FileReport, Options, Rescoring, provenance

__all__ = [
    "FileContext",
    "FilePlan",
    "FileReport",
    "Options",
    "Progress",
    "Rescoring",
    "ScoringContext",
    "acceptable_gold_set",
    "in_force",
    "judge_run",
    "named",
    "paper_split",
    "provenance",
    "rescore",
    "strata_note",
    "stream",
    "summarise",
]
