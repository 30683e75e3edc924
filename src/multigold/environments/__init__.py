"""Environments: an initial state and tools that are pure functions of a draft. No prompt, no policy text, no I/O."""
