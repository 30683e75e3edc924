"""Files are written whole or not at all, in any script."""

from __future__ import annotations

from pathlib import Path

import pytest

from multigold.files.records import write_records
from multigold.files.writing import stream_to


def test_text_in_any_script_is_written(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    with stream_to(path) as stream:
        stream.write("agent\n模型-β\n")
    assert path.read_text(encoding="utf-8") == "agent\n模型-β\n"


def test_what_goes_wrong_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    write_records({"kept": True}, path)
    before = path.read_bytes()

    def write_half() -> None:
        with stream_to(path) as stream:
            stream.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("{}")
    link.symlink_to(target)
    write_records({"new": True}, link)
    assert link.is_symlink()
    assert '"new": true' in target.read_text(encoding="utf-8")
