"""Several processes for one batch, with the output of one.

Each process has a context of its own and reads the files itself: only which runs to judge goes to it, and only verdicts
come back. Shares are handed out in order and collected in order, a few ahead, so that memory stays bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from multigold.errors import CallError
from multigold.model.verdict import Verdict
from multigold.readers import ResultsSource, Run
from multigold.rescoring.context import FileContext, ScoringContext
from multigold.rescoring.judge_run import judge_run
from multigold.rescoring.options import Options

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from types import TracebackType

SHARE = 32
"""Runs that a process judges at a time."""

_WORTH_IT = 2 * SHARE
"""Fewer runs than this are not worth a second process, which reads the database again."""


class WorkerPool:
    """The processes of one batch, started when there is enough to do; a context manager."""

    def __init__(self, options: Options, jobs: int) -> None:
        if jobs < 1:
            raise CallError(f"{jobs} jobs cannot do anything", remedy="--jobs takes a number from 1.")
        self._options = options
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def judge(self, source: ResultsSource, index: int, runs: int) -> Iterator[Verdict] | None:
        """Yield the verdicts of the runs of one file of a source, in order.

        Args:
            source: The source.
            index: Which of its files.
            runs: How many runs that file has.

        Returns:
            The verdicts; None if the caller should judge the runs itself.
        """
        if self._jobs == 1 or runs < _WORTH_IT or source.kind == "stdin":
            return None
        # Most batches need one process, and should not pay for what starts others.
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        if self._pool is None:
            # A fresh interpreter per process: nothing of this one leaks into it, on any platform.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._jobs, mp_context=context, initializer=_start, initargs=(self._options,)
            )
        return self._collect(self._pool, source, index, runs)

    def _collect(self, pool: ProcessPoolExecutor, source: ResultsSource, index: int, runs: int) -> Iterator[Verdict]:
        from concurrent.futures.process import BrokenProcessPool

        shares = iter(range(0, runs, SHARE))
        pending: deque[Future[list[Verdict]]] = deque()
        try:
            for start in islice(shares, 2 * self._jobs):
                pending.append(pool.submit(_judge_share, source, index, start))
            while pending:
                yield from pending.popleft().result()
                pending.extend(pool.submit(_judge_share, source, index, start) for start in islice(shares, 1))
        except BrokenProcessPool as error:
            raise CallError(
                "one of the processes was ended from outside, perhaps for want of memory", remedy="Use fewer --jobs."
            ) from error


class _Worker:
    """What one process keeps between shares: its context, and how far it has read the present file."""

    def __init__(self, options: Options) -> None:
        self.context = ScoringContext(options)
        self._file: tuple[ResultsSource, int] | None = None
        self._file_context: FileContext | None = None
        self._runs: Iterator[Run] = iter(())
        self._position = 0

    def judge(self, source: ResultsSource, index: int, start: int) -> list[Verdict]:
        if self._file != (source, index) or self._file_context is None or start < self._position:
            results = self.context.open(source)[index]
            self._file_context = self.context.for_file(results)
            self._file, self._runs, self._position = (source, index), iter(results.runs), 0
        file = self._file_context
        share = islice(self._runs, start - self._position, start - self._position + SHARE)
        verdicts = [judge_run(run, file, self.context) for run in share]
        self._position = start + len(verdicts)
        return verdicts


_worker: _Worker | None = None
"""This process's worker; only ever set in a process that `WorkerPool` started."""


def _start(options: Options) -> None:
    global _worker
    _worker = _Worker(options)


def _judge_share(source: ResultsSource, index: int, start: int) -> list[Verdict]:
    assert _worker is not None
    return _worker.judge(source, index, start)
