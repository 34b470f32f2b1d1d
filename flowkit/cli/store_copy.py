"""`store:copy` at work: the two stores, a progress bar, the report.

exit_code = copy(source, target, app=None, source_options=(), target_options=("dsn=…",), overwrite=False, …)
"""

from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from flowkit.cli.bars import progress
from flowkit.cli.lines import CliError, one_line
from flowkit.cli.rag_apps import finish
from flowkit.cli.running import run_work
from flowkit.cli.store_names import app_of, options_of, store_of
from flowkit.cli.tables import print_json, print_lines, styled
from flowkit.cli.units import number
from flowkit.rag.stores.transfer import CopyReport, copy_index

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["copy"]


def copy(
    source: str,
    target: str,
    *,
    app: str | None,
    source_options: Sequence[str],
    target_options: Sequence[str],
    overwrite: bool,
    add: bool,
    as_json: bool,
) -> int:
    """Do it; returns the exit code."""
    if overwrite and add:
        raise CliError("--overwrite and --add exclude each other")
    if source == target and sorted(source_options) == sorted(target_options):
        raise CliError(f"{source} cannot be copied into itself", hint="name another index or store")
    ai = app_of(app)
    first = store_of(source, ai, options_of(source_options), "--from")
    second = store_of(target, ai, options_of(target_options), "--to")

    async def work() -> CopyReport:
        async with aclosing(first), aclosing(second):
            with _bar(source) as tell:
                return await copy_index(first, second, overwrite=overwrite, add=add, on_progress=tell)

    outcome = run_work(ai, work)
    exit_code = finish(outcome, interrupted="stopped; what is copied stays, and the next run does the rest")
    if outcome.result is not None:
        _show(outcome.result, target, as_json=as_json)
    return exit_code


@contextmanager
def _bar(name: str) -> Iterator[Any]:
    """A progress bar, where somebody sees it; gives the function that moves it."""
    with progress(_columns) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _columns() -> "Sequence[ProgressColumn]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    name = TextColumn("Copying {task.description}")
    return name, BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn(compact=True)


def _show(report: CopyReport, target: str, *, as_json: bool) -> None:
    if as_json:
        print_json({key: value for key, value in asdict(report).items() if value is not None})
        return
    counts = [
        f"{number(report.copied)} copied" if report.copied or not report.unchanged else "",
        f"{number(report.unchanged)} were there" if report.unchanged else "",
        f"{number(report.deleted)} deleted" if report.deleted else "",
    ]
    from rich.text import Text

    told = f"{one_line(target)}: {', '.join(each for each in counts if each)}; it holds {number(report.count)}"
    print_lines([Text.assemble(styled("✓ ", "good"), told)])
