"""`rag:index` at work: the plan, a progress bar, the report; and again whenever something changes.

exit_code = Indexing(target, Path("docs"), mode="full", dry_run=False, as_json=False)(…)
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from flowkit.cli.lines import coloured, say
from flowkit.cli.rag_apps import Target, finish
from flowkit.cli.rag_report import plan_lines, report_lines
from flowkit.cli.running import run_work
from flowkit.cli.tables import print_json, print_lines
from flowkit.rag.ingest import Files, IngestPlan, IngestReport, Progress, default_splitter
from flowkit.rag.split import Splitter

__all__ = ["Indexing", "told"]

_STAGES = {"reading": "Reading", "indexing": "Indexing", "deleting": "Deleting", "done": "Done"}


class Indexing:
    """One `rag:index`."""

    def __init__(
        self,
        target: Target,
        path: Path,
        *,
        mode: Literal["source", "full", "append"],
        dry_run: bool,
        as_json: bool,
    ) -> None:
        self._target = target
        self._path = path
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
                self._path,
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
        if self._as_json:
            plan = report.plan
            shown: Any = plan.to_wire() if self._dry_run and plan else report.to_wire()
            print_json(shown)
            return
        if self._dry_run and report.plan is not None:
            print_lines(plan_lines(report.plan))
        print_lines(report_lines(report, dry_run=self._dry_run, hint_full=self._mode == "source"))

    async def _watch(self, splitter: Splitter) -> None:
        from watchfiles import awatch

        files = Files(self._path, root=self._target.ai.settings.root)
        changes = awatch(self._path, watch_filter=lambda _, path: files.includes(Path(path)), debounce=800)
        # Watching begins before the first look, so that no change falls between the two.
        coming = asyncio.ensure_future(anext(changes))
        try:
            self._show(await self._ingest(splitter))
            say(f"watching {self._path.as_posix()}; Ctrl-C ends it", "dim")
            while True:
                await coming
                coming = asyncio.ensure_future(anext(changes))
                report = await self._ingest(splitter)
                if report.written or report.updated or report.deleted:
                    self._show(report)
        finally:
            coming.cancel()
            await asyncio.wait([coming])
            await changes.aclose()


@contextmanager
def _bar() -> Iterator[Any]:
    """A progress bar on stderr, where that is a terminal; gives the function that moves it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    colours = coloured(sys.stderr)
    console = Console(file=sys.stderr, color_system="256" if colours else None, no_color=not colours)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.fields[told]}"))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Reading", total=None, told="")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                description=_STAGES[progress.stage],
                completed=progress.done,
                total=progress.total,
                told=told(progress),
            )

        yield tell


def told(progress: Progress) -> str:
    """What stands behind the bar: `120/340 chunks  38/s  6 s left`."""
    from flowkit.cli.units import duration_ms, number

    of = "" if progress.total is None else f"/{number(progress.total)}"
    parts = [f"{number(progress.done)}{of} {progress.unit}"]
    if progress.rate_per_second:
        rate = progress.rate_per_second
        parts.append(f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s")
    if progress.eta_seconds:
        parts.append(f"{duration_ms(1000 * max(1, round(progress.eta_seconds)))} left")
    return "  ".join(parts)
