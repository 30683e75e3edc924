"""Which files are scored in a way of their own; the module that knows it is imported where such a file turns up."""

from __future__ import annotations

from multigold.readers import ResultsFile


def is_voice(results: ResultsFile) -> bool:
    """Tell whether a file's runs are of the voice-agent evaluation; see `multigold.rescoring.nemo.judging`."""
    return results.format == "nemo"


def is_eva(results: ResultsFile) -> bool:
    """Tell whether a file's runs are EVA records; see `multigold.rescoring.eva`."""
    return results.format == "eva"


def holds_verdicts(results: ResultsFile) -> bool:
    """Tell whether a file holds our own verdicts instead of runs; see `multigold.rescoring.stored`."""
    return results.format == "multigold verdicts"
