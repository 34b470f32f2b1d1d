"""One run of a flow from the command line: find it, read its input, run it, tell how it went.

run = FlowRun(ai, results, stream=False, output=None, verbose=False)
exit_code = run("menuQA", "What is vegan?", context=None)
"""

import difflib
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowkit.app import Flowkit
from flowkit.cli.failures import describe, place, user_traceback
from flowkit.cli.lines import INTERRUPTED, CliError, complain, say
from flowkit.cli.results import Results, as_json
from flowkit.cli.running import Outcome, run_work
from flowkit.cli.shape import example, parameters
from flowkit.cli.value import read_input
from flowkit.cli.whole_files import write_whole
from flowkit.core.action import Action
from flowkit.core.context import RunContext
from flowkit.core.signature import MISSING
from flowkit.core.spans import SpanRecord
from flowkit.core.stream import ActionStream
from flowkit.errors import FlowkitError, InvalidInputError

__all__ = ["FlowRun", "unknown_flow"]

AnyAction = Action[Any, Any, Any]

_LISTED = 30  # flows that the error about an unknown one lists


class FlowRun:
    """How a flow is run and shown."""

    def __init__(self, ai: Flowkit, results: Results, *, stream: bool, output: Path | None, verbose: bool) -> None:
        self._ai = ai
        self._results = results
        self._stream = stream
        self._output = output
        self._verbose = verbose
        self._trace_id: str | None = None
        self._reader_left = False
        self._abandoned = False
        self.threads_left = False
        """The run was stopped, and a thread of the app would keep the process alive."""

    def __call__(self, name: str, argument: str | None, context: Mapping[str, Any] | None) -> int:
        """Run it; returns the exit code.

        Raises:
            CliError: no such flow, or an input that cannot be read.
        """
        name = name.removeprefix("/flow/")
        names = sorted(key.removeprefix("/flow/") for key in self._ai.registry.keys("flow"))
        if name not in names:
            raise unknown_flow(name, names)
        self._ai.runtime.on_span = self._seen
        action: AnyAction | None = None
        value: Any = MISSING

        async def work() -> Any:
            nonlocal action, value
            action = await self._ai.registry.get(f"/flow/{name}")
            value = self._input(action, argument)
            if self._stream:
                return await self._streamed(action, value, context)
            return await action.run(value, context=context)

        outcome = run_work(self._ai, work)
        self.threads_left = outcome.threads_left
        if isinstance(outcome.error, CliError):
            raise outcome.error
        return self._tell(outcome, action, value)

    def _input(self, action: AnyAction, argument: str | None) -> Any:
        if argument is None:
            return MISSING
        given = read_input(argument, action.input_schema, f"flow {action.name!r}")
        if given.note:
            say(given.note, "dim")
        return given.value

    async def _streamed(self, action: AnyAction, value: Any, context: Mapping[str, Any] | None) -> Any:
        async with ActionStream[Any, Any](lambda send: action.run(value, context=context, on_chunk=send)) as chunks:
            async for chunk in chunks:
                self._show(chunk)
                if self._reader_left and self._output is None:
                    self._abandoned = True
                    return None  # leaving the block cancels the flow: nobody would read the rest
            return await chunks.result

    def _show(self, chunk: Any) -> None:
        if not self._reader_left:
            try:
                self._results.chunk(chunk)
            except BrokenPipeError:
                self._reader_left = True

    def _seen(self, span: SpanRecord) -> None:
        if self._trace_id is None:
            self._trace_id = span.trace_hex

    def _tell(self, outcome: Outcome, action: AnyAction | None, value: Any) -> int:
        """Print what came of it, and the trace's id."""
        exit_code = outcome.exit_code
        if self._abandoned:
            exit_code = INTERRUPTED
        elif outcome.stopped_by is not None:
            self._results.stop()
            say("interrupted", "dim")
        elif outcome.error is not None:
            self._results.stop()
            exit_code = self._explain(outcome, outcome.error, action, value)
        else:
            exit_code = self._print(outcome.result)
        if self._trace_id is not None:
            say(f"Trace ID: {self._trace_id}{'' if outcome.kept else ' (not kept)'}", "dim")
        return exit_code

    def _print(self, result: Any) -> int:
        exit_code = 0
        if self._output is not None:
            try:
                write_whole(self._output, (as_json(result) + "\n").encode("utf-8", "replace"))
            except OSError as error:
                complain(f"--output: {error.strerror or error}: {self._output}")
                exit_code = 1
        if not self._reader_left:
            try:
                self._results.value(result)
            except BrokenPipeError:
                self._reader_left = True
        return exit_code

    def _explain(self, outcome: Outcome, error: BaseException, action: AnyAction | None, value: Any) -> int:
        if action is not None and isinstance(error, InvalidInputError) and _is_refused(action, value):
            _explain_input(error, action, value)
            return 2
        if self._verbose:
            say(user_traceback(error))
        where = place(error)
        message = error.message if isinstance(error, FlowkitError) else describe(error)
        if isinstance(error, SystemExit):
            message = f"the flow ended the process with exit code {error.code}"
        hint = getattr(error, "hint", None) if isinstance(error, FlowkitError) else None
        if hint is None and not self._verbose:
            hint = "-v shows where" + ("; flowkit trace:get latest shows every step" if outcome.kept else "")
        complain(f"{message} ({where})" if where else message, hint)
        return 1


def _is_refused(action: AnyAction, value: Any) -> bool:
    """True when the flow itself does not take this input; an action that it calls may refuse one, too."""
    try:
        action.signature.bind(value, RunContext({}, {}, None, None))
    except InvalidInputError:
        return True
    return False


def _explain_input(error: InvalidInputError, action: AnyAction, value: Any) -> None:
    takes = parameters(action)
    hint = f"it takes {takes}" if takes else None
    if value is not MISSING:
        if action.signature.single and isinstance(value, dict) and [*value] == [takes.partition(":")[0]]:
            inner = json.dumps(next(iter(value.values())), ensure_ascii=False)
            hint = f"{hint}, alone: flowkit flow:run {action.name} {shlex.quote(inner)}"
        complain(error.message, hint)
        return
    form = example(action.input_schema or {})
    shown = f'"{form}"' if isinstance(form, str) else shlex.quote(json.dumps(form, ensure_ascii=False))
    complain(f"flow {action.name!r} needs an input", f"{hint}; for instance: flowkit flow:run {action.name} {shown}")


def unknown_flow(name: str, names: list[str]) -> CliError:
    """What to say when the app has no flow of that name."""
    if not names:
        return CliError(f"no flow {name!r}: the app has no flows", hint="@ai.flow() above a function makes one")
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    near = difflib.get_close_matches(name, names, n=1)
    start = f"did you mean {near[0]}? " if near else ""
    return CliError(f"no flow {name!r}", hint=f"{start}the app has: {listed}")
