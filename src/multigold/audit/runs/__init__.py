"""The audit of runs: traces to be judged, end states that several agents reach, stubs of gold sets."""
