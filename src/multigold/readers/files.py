"""The edge: opens what the user named, and nothing else."""

from __future__ import annotations

from pathlib import Path

from multigold.errors import ResultsError
from multigold.readers.base import MAX_WHOLE_BYTES, ReadOptions, ResultsFile
from multigold.readers.formats import read_results


def open_results(
    path: Path | str, *, options: ReadOptions | None = None, max_bytes: int = MAX_WHOLE_BYTES
) -> ResultsFile:
    """Open a file of stored results.

    Args:
        path: The file.
        options: What the caller knows better than the file.
        max_bytes: A larger file is refused.

    Raises:
        ResultsError: Where it cannot be opened or read.
    """
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > max_bytes:
            raise ResultsError(f"{size:,} bytes are more than the limit of {max_bytes:,}", where=str(path))
        data = file.read_bytes()
    except OSError as error:
        raise ResultsError(f"it cannot be opened ({error.strerror or error})", where=str(path)) from error
    return read_results(data, str(path), options=options, max_bytes=max_bytes)
