"""States and what differs between them: pure values, no I/O, no domain."""
