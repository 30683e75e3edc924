"""A file is read up to a limit, in pieces."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multigold.files import reading as bounded


@given(content=st.binary(max_size=40), limit=st.integers(0, 50), piece=st.integers(1, 12))
def test_what_is_read_is_the_beginning_one_byte_beyond_the_limit_at_most(
    content: bytes, limit: int, piece: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "_PIECE", piece)
        file = io.BytesIO(content)
        assert bounded.read_at_most(file, limit) == content[: limit + 1]
        assert file.tell() <= limit + 1


def test_no_read_asks_for_the_limit_at_once() -> None:
    class Noting(io.BytesIO):
        asked: list[int]

        def read(self, size: int | None = -1) -> bytes:
            self.asked.append(size or 0)
            return super().read(size)

    file = Noting(b"x" * 100)
    file.asked = []
    assert bounded.read_at_most(file, 2**40) == b"x" * 100
    assert max(file.asked) <= 16 * 2**20
