"""The audit of golds: broken, vacuous, unreachable, contradictory, or hanging on the order of calls."""
