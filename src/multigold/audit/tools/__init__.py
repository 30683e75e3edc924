"""The audit of tools: which sides of a loophole they let through."""
