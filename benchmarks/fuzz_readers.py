"""Coverage-guided fuzzing of the readers with atheris (`pip install atheris`).

    PYTHONPATH=src python benchmarks/fuzz_readers.py READER [--minutes 10] [--corpus DIR]

READER is one of TARGETS. The golden cases of tests/readers are the seeds. Anything that comes out of a reader but the
library's own errors is a finding: the input is written to the working directory as `crash-...`, and the exit status is
not 0. Memory is bounded at 2 GB and one input at 25 seconds, so that a reader that runs away is a finding too.

Directories are fuzzed as one JSON object of path to content, the form of tests/readers/folders.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["multigold"]):
    from multigold.errors import MultigoldError
    from multigold.model.verdict import Match, Reason, Verdict
    from multigold.readers import ReadOptions, chat, eva, nemo, tau1, tau2, tau2_directory, verdicts
    from multigold.readers.decoding import read_document
    from multigold.readers.folder import Folder
    from multigold.readers.streaming import scan_document
    from multigold.rendering.document import verdict_json
    from multigold.rescoring.stored import stored_reports, stored_verdict

CASES = Path(__file__).resolve().parents[1] / "tests" / "readers"


def drain(results: Any) -> None:
    """Read all of a file, as re-scoring does."""
    for task in results.tasks.values():
        task.text_fingerprint()
        task.gold_fingerprint()
    for run in results.runs:
        assert run.problem is None or run.problem.sentence
        json.dumps([call.call.to_json() for call in run.trajectory.calls or ()], allow_nan=False).encode()
        "".join(message.text for message in run.trajectory.messages).encode()


def document_target(module: Any) -> Callable[[bytes], None]:
    """Return a target that reads an input by one reader."""

    def target(data: bytes) -> None:
        with contextlib.suppress(MultigoldError):
            document = read_document(data, "fuzz")
            if module.recognise(document):
                drain(module.read(document, ReadOptions(rejoin=len(data) % 2 == 0)))

    return target


def folder_target(module: Any) -> Callable[[bytes], None]:
    """Return a target that reads an input as a directory by one reader."""

    def target(data: bytes) -> None:
        try:
            files = json.loads(data)
        except (ValueError, RecursionError):
            return
        if not isinstance(files, dict):
            return
        contents = {
            path: (x if isinstance(x, str) else json.dumps(x)).encode("utf-8", "replace") for path, x in files.items()
        }
        folder = Folder(name="fuzz", paths=tuple(sorted(contents)), load=contents.__getitem__)
        with contextlib.suppress(MultigoldError):
            if module.recognise(folder):
                for results in module.read(folder, ReadOptions()):
                    drain(results)

    return target


def verdicts_target(data: bytes) -> None:
    """Read an input as a file of our own verdicts, and write what it says again."""
    with contextlib.suppress(MultigoldError):
        document = read_document(data, "fuzz")
        if verdicts.recognise(document):
            results = verdicts.read(document, ReadOptions())
            for report in stored_reports(results).values():
                json.dumps(report.to_json(), allow_nan=False)
            for run in results.runs:
                json.dumps(verdict_json(stored_verdict(run)), allow_nan=False)


def streaming_target(scratch: Path) -> Callable[[bytes], None]:
    """Return a target that cuts an input as a large file is cut."""

    def target(data: bytes) -> None:
        scratch.write_bytes(data)
        with contextlib.suppress(MultigoldError):
            document = scan_document(scratch, "fuzz")
            for module in (tau2, tau1, chat):
                if module.recognise(document):
                    drain(module.read(document, ReadOptions()))

    return target


TARGETS: dict[str, Callable[[Path], Callable[[bytes], None]]] = {
    "tau2": lambda _: document_target(tau2),
    "tau1": lambda _: document_target(tau1),
    "chat": lambda _: document_target(chat),
    "tau2-directory": lambda _: folder_target(tau2_directory),
    "nemo": lambda _: folder_target(nemo),
    "eva": lambda _: folder_target(eva),
    "verdicts": lambda _: verdicts_target,
    "streaming": lambda home: streaming_target(home / "large.json"),
}
"""Reader to what makes its target, given a scratch directory."""


def seeds() -> Iterator[bytes]:
    """Yield the golden cases: documents, and directories as one object."""
    for path in sorted(CASES.glob("cases/*.json")):
        case = json.loads(path.read_text())
        yield json.dumps(case["document"]).encode() if "document" in case else str(case.get("text", "")).encode()
    for path in sorted(CASES.glob("folders/*.json")):
        yield json.dumps(json.loads(path.read_text())["files"]).encode()
    some = Verdict(
        outcome="matched", matched=("a",), matches=(Match(reading="a", standing="core"),), positions={"L1": ("yes",)}
    )
    none = Verdict(outcome="unscored", reason=Reason(code="no_calls", sentence="There are none."), bounds=(0.0, 1.0))
    stored = [verdict_json(some), verdict_json(none)]
    files = [{"name": "a.json", "digest": "", "warnings": ["odd"], "format": "tau2"}]
    made = {"multigold": "0.1.0", "equivalences": ["minted-ids"]}
    whole = {"schema": verdicts.SCHEMA, "provenance": made, "files": files, "verdicts": stored}
    yield json.dumps(whole).encode()


def words() -> Iterator[str]:
    """Yield a libFuzzer dictionary: the keys and short strings of the seeds."""
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value)
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str) and len(value) < 30:
            found.add(value)

    for seed in seeds():
        with contextlib.suppress(ValueError, RecursionError):
            walk(json.loads(seed))
    for word in sorted(found):
        if word.isascii() and word.isprintable() and word:
            escaped = json.dumps(word)[1:-1].replace("\\", "\\\\").replace('"', '\\"')
            yield f'"\\"{escaped}\\""'


ODD = (None, True, 0, -1, 1.5, 10**400, "", "N/A", "\ud800", "1" * 50, "Action:\n{", [], {}, [[[]]], {"id": None})
"""What a place of an input is replaced with."""


def spoiled(value: Any, chance: random.Random) -> Any:
    """Return a JSON value with one place in it replaced, removed or doubled."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        changed = {**value, key: spoiled(value[key], chance)}
        if chance.random() < 0.1:
            del changed[key]
        return changed
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        changed = [*value[:place], spoiled(value[place], chance), *value[place + 1 :]]
        return changed * 2 if chance.random() < 0.1 else changed
    return chance.choice(ODD)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Spoil an input: half of the time a place of the JSON value that it is, else some of its bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.5:
        with contextlib.suppress(ValueError, RecursionError):
            changed = json.dumps(spoiled(json.loads(data), chance)).encode()
            if len(changed) <= max_size:
                return changed
    return bytes(atheris.Mutate(data, max_size))


def main() -> None:
    """Fuzz one reader."""
    parser = argparse.ArgumentParser(description="Fuzz a reader.")
    parser.add_argument("reader", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--corpus", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        corpus = chosen.corpus or home / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds()):
            (corpus / f"seed-{number}").write_bytes(seed)
        (home / "words.dict").write_text("\n".join(words()) + "\n")
        arguments = [
            *(sys.argv[0], str(corpus), f"-max_total_time={int(chosen.minutes * 60)}", f"-dict={home / 'words.dict'}"),
            *("-max_len=20000", "-timeout=25", "-rss_limit_mb=2048", "-print_final_stats=1"),
        ]
        atheris.Setup(arguments, TARGETS[chosen.reader](home), custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
