"""Writing files in one step: a reader sees the old file or the new one, never half of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def stream_to(path: Path) -> Iterator[TextIO]:
    """Yield a text stream to a file, which appears under its name when everything is written."""
    if path.is_dir() or (path.exists() and (not path.is_file() or path.is_relative_to("/dev"))):
        with path.open("w", encoding="ascii") as stream:
            yield stream
        return
    target = path.resolve()
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("w", encoding="ascii") as stream:
            yield stream
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
