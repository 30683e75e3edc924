"""Readers: one module a stored format, chosen by looking at the file; bytes in, tasks and trajectories out."""

from multigold.readers.base import AcceptableOutcome, ReadOptions, ResultsFile, Run, Runs
from multigold.readers.files import ResultsSource, find_sources, open_results, open_source
from multigold.readers.formats import FORMATS, Format, read_results

__all__ = [
    "FORMATS",
    "AcceptableOutcome",
    "Format",
    "ReadOptions",
    "ResultsFile",
    "ResultsSource",
    "Run",
    "Runs",
    "find_sources",
    "open_results",
    "open_source",
    "read_results",
]
