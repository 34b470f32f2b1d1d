"""The runs of a batch: several at once, with a progress bar, each marked with the batch's label.

exit_code = BatchRun(ai, results, label=None, concurrency=4, context=None, verbose=False)("menuQA", inputs, output)
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowkit.app import Flowkit
from flowkit.cli.bars import progress
from flowkit.cli.batch_files import Journal, Row
from flowkit.cli.failures import describe, place
from flowkit.cli.flow_runs import unknown_flow
from flowkit.cli.lines import INTERRUPTED, CliError, complain, one_line, say
from flowkit.cli.results import Results
from flowkit.cli.running import run_work
from flowkit.core.action import Action
from flowkit.core.spans import SpanRecord
from flowkit.core.values import to_plain
from flowkit.errors import FlowkitError
from flowkit.server.first_span import notice, outside

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

__all__ = ["BatchRun"]

_LABEL = "batchRun"  # Genkit's name for it
_TOLD = 5  # failures that are told at the end


class _Marked:
    """Sets the label at the root span of one run, and keeps its trace's id."""

    trace_id: str | None = None

    def __init__(self, label: str | None) -> None:
        self._label = label

    def span_opened(self, span: SpanRecord) -> None:
        self.trace_id = span.trace_hex
        if self._label is not None:
            span.set_attribute(_LABEL, self._label)


class BatchRun:
    """How a batch is run and shown."""

    def __init__(
        self,
        ai: Flowkit,
        results: Results,
        *,
        label: str | None,
        concurrency: int,
        context: Mapping[str, Any] | None,
        verbose: bool,
    ) -> None:
        self._ai = ai
        self._results = results
        self._label = label
        self._concurrency = concurrency
        self._context = context
        self._verbose = verbose
        self._rows: dict[int, Row] = {}
        self._printed = 0
        self._reader_left = False
        self._journal: Journal | None = None
        self.threads_left = False

    def __call__(self, flow: str, inputs: Sequence[Any], output: Path | None, *, restart: bool = False) -> int:
        """Run it; returns the exit code.

        Raises:
            CliError: there is no such flow.
        """
        flow = flow.removeprefix("/flow/")
        names = sorted(key.removeprefix("/flow/") for key in self._ai.registry.keys("flow"))
        if flow not in names:
            raise unknown_flow(flow, names)
        if output is not None:
            self._journal = Journal.open(output, inputs, restart=restart)
            self._rows.update(self._journal.done)
            if self._rows:
                say(f"{len(self._rows)} of {len(inputs)} were done before; going on", "dim")
        self._ai.runtime.on_span = notice

        with _progress(len(inputs), len(self._rows)) as step:
            outcome = run_work(self._ai, lambda: self._work(flow, inputs, step))
        self.threads_left = outcome.threads_left
        if outcome.stopped_by is not None:
            return self._stopped(inputs, outcome.exit_code)
        if self._reader_left:
            say(f"stopped after {len(self._rows)} of {len(inputs)}: nobody reads what comes", "dim")
            return INTERRUPTED
        if outcome.error is not None:
            if isinstance(outcome.error, CliError):
                raise outcome.error
            complain(describe(outcome.error))
            return 1
        return self._finish(inputs, output)

    async def _work(self, flow: str, inputs: Sequence[Any], step: Any) -> None:
        action = await self._ai.registry.get(f"/flow/{flow}")
        waiting = iter([number for number in range(len(inputs)) if number not in self._rows])

        async def worker() -> None:
            for number in waiting:
                row = await self._one(action, inputs[number])
                self._rows[number] = row
                if self._journal is not None:
                    self._journal.add(number, row)
                else:
                    self._print(len(inputs))
                step("error" in row)
                if self._reader_left:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(worker())

    async def _one(self, action: Action[Any, Any, Any], value: Any) -> Row:
        marked = _Marked(self._label)
        token = outside.set(marked)
        row: dict[str, Any] = {"input": value}
        try:
            row["output"] = to_plain(await action.run(value, context=self._context))
        except Exception as error:  # noqa: BLE001  one input's failure is not the others'
            message = error.message if isinstance(error, FlowkitError) else describe(error)
            where = place(error)
            row["error"] = f"{message} ({where})" if where else message
            if self._verbose:
                say(f"✗ {_short(value)}: {row['error']}", "bad")
        finally:
            outside.reset(token)
        if marked.trace_id is not None:
            row["traceId"] = marked.trace_id
        return row

    def _print(self, total: int) -> None:
        """Rows on stdout in the order of their inputs, as far as they are there."""
        while self._printed < total and self._printed in self._rows:
            try:
                self._results.chunk(self._rows[self._printed])
            except BrokenPipeError:
                self._reader_left = True
                return
            self._printed += 1

    def _stopped(self, inputs: Sequence[Any], exit_code: int) -> int:
        done = sum("error" not in row for row in self._rows.values())
        say("interrupted", "dim")
        if self._journal is not None:
            self._journal.close()
            say(f"{done} of {len(inputs)} are done; the same command goes on from there", "dim")
        return exit_code

    def _finish(self, inputs: Sequence[Any], output: Path | None) -> int:
        rows = [self._rows[number] for number in range(len(inputs))]
        if self._journal is not None:
            self._journal.finish(rows)
        failed = [row for row in rows if "error" in row]
        said = f"{len(rows) - len(failed)} of {len(rows)} succeeded"
        say(f"{said}; {output}" if output is not None else said, "dim")
        if not failed:
            return 0
        for row in failed[:_TOLD]:
            if not self._verbose:
                say(f"✗ {_short(row['input'])}: {one_line(row['error'])}", "bad")
        more = len(failed) - _TOLD
        if more > 0 and not self._verbose:
            say(f"… and {more} more", "dim")
        again = "; the same command runs these again" if output is not None else ""
        complain(f"{len(failed)} of {len(rows)} inputs failed", f"flowkit trace:list --status error shows them{again}")
        return 1


def _short(value: Any) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else text[:59] + "…"


@contextmanager
def _progress(total: int, done: int) -> Iterator[Any]:
    """A bar; gives the function that moves it by one run, which failed or not."""
    failures = 0
    with progress(_columns) as bar:
        if bar is None:
            yield lambda failed: None
            return
        task = bar.add_task("", total=total, completed=done, failed="")

        def step(failed: bool) -> None:
            nonlocal failures
            failures += failed
            bar.update(task, advance=1, failed=f"{failures} failed" if failures else "")

        yield step


def _columns() -> "Sequence[ProgressColumn]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    failed = TextColumn("{task.fields[failed]}", style="red")
    return BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), failed
