"""Readers: one module a stored format, chosen by looking at the file; bytes in, tasks and trajectories out."""

from multigold.readers.base import AcceptableOutcome, ReadOptions, ResultsFile, Run, Runs
from multigold.readers.files import open_results
from multigold.readers.formats import FORMATS, Format, read_results

__all__ = [
    "FORMATS",
    "AcceptableOutcome",
    "Format",
    "ReadOptions",
    "ResultsFile",
    "Run",
    "Runs",
    "open_results",
    "read_results",
]
