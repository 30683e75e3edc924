"""Writing files in one step: a reader sees the old file or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def stream_to(path: Path) -> Iterator[TextIO]:
    """Yield a UTF-8 text stream to a file, which appears under its name when everything is written.

    A link is written through. What is not a regular file (a pipe, a device) is written to as it is.
    """
    if path.is_dir() or (path.exists() and (not path.is_file() or path.is_relative_to("/dev"))):
        with path.open("w", encoding="utf-8") as stream:
            yield stream
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")  # two processes may write one file
    try:
        with part.open("w", encoding="utf-8") as stream:
            yield stream
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
