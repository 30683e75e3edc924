"""Reading no more of a file than a limit allows, and the digest of what was read."""

from __future__ import annotations

import hashlib
import io
from typing import Any, Final

_PIECE: Final = 16 * 2**20


def read_at_most(file: Any, limit: int) -> bytes:
    """Return what a file holds; if that is more than the limit, just one byte more, so that it is seen.

    It is read in pieces: one read sets aside all that it may return, and for a limit of gigabytes that takes longer
    than to read what is there.

    Args:
        file: A file that is read as bytes; a plain, an unpacked or a piped one.
        limit: Bytes.
    """
    first: bytes = file.read(min(limit + 1, _PIECE))
    piece: bytes = file.read(min(limit + 1 - len(first), _PIECE)) if first else b""
    if not piece:
        return first
    whole = io.BytesIO()
    whole.write(first)
    while piece:
        whole.write(piece)
        piece = file.read(min(limit + 1 - whole.tell(), _PIECE))
    return whole.getvalue()


def sha256(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
