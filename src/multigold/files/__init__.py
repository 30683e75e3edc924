"""Files at the edge: read within limits, written in one step, faults told with their place."""
