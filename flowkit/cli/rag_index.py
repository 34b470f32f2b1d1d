"""`rag:index` at work: the plan, a progress bar, the report; and again whenever something changes.

exit_code = Indexing(target, "docs", load.directory("docs"), mode="full", dry_run=False, as_json=False)(…)
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flowkit.cli.bars import progress as progress_bar
from flowkit.cli.failures import describe
from flowkit.cli.lines import CliError, complain, say
from flowkit.cli.rag_apps import Target, finish
from flowkit.cli.rag_report import plan_lines, reason, report_lines
from flowkit.cli.rag_watch import watching
from flowkit.cli.running import run_work
from flowkit.cli.tables import print_json, print_lines
from flowkit.cli.units import duration_ms, number
from flowkit.errors import FlowkitError
from flowkit.rag.ingest import IngestPlan, IngestReport, Progress, default_splitter
from flowkit.rag.load import Files, Loader
from flowkit.rag.split import Splitter

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["Indexing", "told"]


class Indexing:
    """One `rag:index`."""

    def __init__(
        self,
        target: Target,
        place: Path | str,
        loader: Loader,
        *,
        mode: Literal["source", "full", "append"],
        dry_run: bool,
        as_json: bool,
    ) -> None:
        self._target = target
        self._place = place
        self._loader = loader
        self._mode: Literal["source", "full", "append"] = mode
        self._dry_run = dry_run
        self._as_json = as_json

    def __call__(self, *, max_tokens: int | None, overlap_tokens: int | None, watch: bool) -> int:
        """Do it; returns the exit code."""
        ai = self._target.ai

        async def work() -> None:
            splitter = await default_splitter(
                ai.registry, await self._target.embedder(), max_tokens=max_tokens, overlap_tokens=overlap_tokens
            )
            if watch:
                await self._watch(splitter)
            else:
                self._show(await self._ingest(splitter))

        outcome = run_work(ai, work)
        return finish(outcome, interrupted="stopped; what is done stays, and the next run does the rest")

    async def _ingest(self, splitter: Splitter) -> IngestReport:
        with _bar() as tell:
            return await self._target.ai.ingest(
                self._target.index,
                self._loader,
                sync=self._mode,
                splitter=splitter,
                dry_run=self._dry_run,
                on_plan=None if self._dry_run else self._agreed,
                on_progress=tell,
            )

    def _agreed(self, plan: IngestPlan) -> None:
        if not self._as_json and not plan.is_empty:
            print_lines(plan_lines(plan))

    def _show(self, report: IngestReport) -> None:
        alone = report.skipped[0] if len(report.skipped) == 1 and self._loader.scope is None else None
        if alone is not None and not report.documents and not self._as_json:
            raise CliError(f"{alone.source}: {reason(alone)}", hint=alone.hint, exit_code=1)
        if self._as_json:
            plan = report.plan
            shown: Any = plan.to_wire() if self._dry_run and plan else report.to_wire()
            print_json(shown)
            return
        if self._dry_run and report.plan is not None:
            print_lines(plan_lines(report.plan))
        print_lines(report_lines(report, dry_run=self._dry_run, hint_full=self._mode == "source"))

    async def _watch(self, splitter: Splitter) -> None:
        if not isinstance(self._loader, Files):
            raise CliError(f"{self._place} cannot be watched", hint="--watch is for folders and files of this machine")
        async with watching(self._loader) as changes:
            self._show(await self._ingest(splitter))
            say(f"watching {Path(self._place).as_posix()}; Ctrl-C ends it", "dim")
            async for _ in changes:
                try:
                    report = await self._ingest(splitter)
                except (FlowkitError, OSError, sqlite3.Error) as error:
                    # It may be right again after the next change: the folder is back, the disk has room.
                    complain(describe(error), getattr(error, "hint", None))
                    continue
                if report.written or report.updated or report.deleted:
                    self._show(report)


@contextmanager
def _bar() -> Iterator[Any]:
    """A progress bar, where somebody sees it; gives the function that moves it."""
    with progress_bar(_columns) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("Reading", total=None, told="")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.stage.capitalize(),
                completed=progress.done,
                total=progress.total,
                told=told(progress),
            )

        yield tell


def _columns() -> "Sequence[ProgressColumn]":
    from rich.progress import BarColumn, TextColumn

    return TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.fields[told]}")


def told(progress: Progress) -> str:
    """What stands behind the bar: `120/340 chunks  38/s  6 s left`."""
    of = "" if progress.total is None else f"/{number(progress.total)}"
    parts = [f"{number(progress.done)}{of} {progress.unit}"]
    if progress.rate_per_second:
        rate = progress.rate_per_second
        parts.append(f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
    if progress.eta_seconds:
        parts.append(f"{duration_ms(1000 * max(1, round(progress.eta_seconds)))} left")
    return "  ".join(parts)
