"""One run of a file to its verdict; whatever is wrong with the run makes it unscored, and never stops the batch."""

from __future__ import annotations

import attrs

from multigold.errors import GoldSetError, MultigoldError
from multigold.model.task import Task
from multigold.model.verdict import Reason, Verdict
from multigold.readers import ResultsFile, Run
from multigold.rescoring.context import FileContext, ScoringContext, brings_own_golds
from multigold.rescoring.format_kinds import holds_verdicts, is_eva, is_voice
from multigold.rescoring.options import Options
from multigold.scoring.judging import blank, judge, unscored


def judge_run(run: Run, file: FileContext, context: ScoringContext) -> Verdict:
    """Score one run of a file; whatever is wrong with it makes it unscored, with its place.

    Raises:
        GoldSetError: If a catalogue's gold set is wrong, which is no fault of the run.
    """
    if file.missing is not None:
        return unscored_run(run, file.missing)
    if holds_verdicts(file.results):
        from multigold.rescoring.stored import stored_verdict

        return stored_verdict(run)
    task = file.results.tasks.get(run.task_id)
    voice = is_voice(file.results)
    if task is None:
        verdict = unscored_run(run, run.problem or _no_task(run, file))
        return attrs.evolve(verdict, stratum="other_version" if context.lists(run.task_id, file) else "free")
    try:
        if voice:
            return _judge_voice(run, task, file, context)
        golds = context.golds(task, file)
        if run.problem is not None:
            return unscored(blank(task, run.trajectory, golds), run.problem.code, run.problem.sentence)
        verdict = judge(
            task,
            run.trajectory,
            golds,
            environment=file.environment,
            contested=context.options.contested,
            check_reads=context.options.check_reads,
        )
        return _with_session(verdict, run) if is_eva(file.results) else verdict
    except GoldSetError as error:
        if not brings_own_golds(file.results, run.task_id):
            raise
        return unscored_run(run, Reason(code="bad_gold", sentence=f"{run.place}: the file's own golds: {error}"))
    except MultigoldError as error:
        return unscored_run(run, Reason(code="bad_run", sentence=f"{run.place}: {error}"))
    except Exception as error:  # one bad run never stops a batch, whatever a stranger's file made of it
        return unscored_run(run, Reason(code="bad_run", sentence=f"{run.place}: {type(error).__name__}: {error}"))


def _with_session(verdict: Verdict, run: Run) -> Verdict:
    from multigold.rescoring.eva import with_session

    return with_session(verdict, run)


def _judge_voice(run: Run, task: Task, file: FileContext, context: ScoringContext) -> Verdict:
    from multigold.rescoring.nemo.judging import judge_voice

    environment = file.environment
    return judge_voice(
        run,
        task,
        context.golds(task, file) if environment else None,
        environment,
        context.hashes(environment) if environment else None,
        contested=context.options.contested,
    )


def _no_task(run: Run, file: FileContext) -> Reason:
    if file.results.tasks:
        return Reason(code="task_unknown", sentence=f"{run.place}: the file has no task {run.task_id!r}")
    if file.results.embeds_tasks:
        return Reason(code="task_unknown", sentence=f"{run.place}: none of the tasks that the file embeds can be read")
    return Reason(
        code="tasks_missing",
        sentence="the file embeds no tasks; --benchmark-release says which release's tasks it was run on",
    )


def unscored_run(run: Run, reason: Reason) -> Verdict:
    """Return the verdict on a run that cannot be scored."""
    trajectory = run.trajectory
    return Verdict(
        outcome="unscored",
        reason=reason,
        recorded=trajectory.recorded,
        termination=trajectory.termination,
        task_id=run.task_id,
        run_id=trajectory.run_id,
        trial=trajectory.trial,
        agent=trajectory.agent,
    )


def named(verdict: Verdict, results: ResultsFile, options: Options) -> Verdict:
    """Return a verdict with the names of its file, domain and agent."""
    if holds_verdicts(results):
        return attrs.evolve(verdict, file=verdict.file or results.name, agent=options.agent_name or verdict.agent)
    return attrs.evolve(
        verdict,
        file=results.name,
        domain=results.domain,
        agent=options.agent_name or verdict.agent or results.agent,
    )
