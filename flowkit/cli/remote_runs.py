"""One run of a flow in the app that runs already, as `flowkit start` has started it, or `GENKIT_ENV=dev python app.py`.

run = RemoteRun(runtime, results, stream=False, output=None, verbose=False)
exit_code = run("menuQA", "What is vegan?", context=None)
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from flowkit.cli.failures import is_users
from flowkit.cli.flow_runs import unknown_flow
from flowkit.cli.lines import INTERRUPTED, CliError, complain, say
from flowkit.cli.results import Results, as_json
from flowkit.cli.shape import example, short_type
from flowkit.cli.value import read_input
from flowkit.cli.whole_files import write_whole
from flowkit.core.signature import MISSING
from flowkit.schema.model import GenerateResponseChunk
from flowkit.server.runtimes import Runtime
from flowkit.server.start.crash import read_crash

__all__ = ["RemoteRun"]

_ASK_SECONDS = 15.0
_CANCELLED = 1


class RemoteRun:
    """How a flow of the running app is run and shown. Leaving cancels it: the app hears that nobody waits."""

    def __init__(self, runtime: Runtime, results: Results, *, stream: bool, output: Path | None, verbose: bool) -> None:
        self._runtime = runtime
        self._results = results
        self._stream = stream
        self._output = output
        self._verbose = verbose
        self._trace_id: str | None = None

    def __call__(self, name: str, argument: str | None, context: Mapping[str, Any] | None) -> int:
        """Run it; returns the exit code.

        Raises:
            CliError: no such flow, an input that cannot be read, or the app is gone.
        """
        name = name.removeprefix("/flow/")
        actions = self._actions()
        about = actions.get(f"/flow/{name}")
        if about is None:
            names = sorted(key.removeprefix("/flow/") for key in actions if key.startswith("/flow/"))
            raise unknown_flow(name, names)
        schema = about.get("inputSchema")
        value: Any = MISSING
        if argument is not None:
            given = read_input(argument, schema, f"flow {name!r}")
            value = given.value
            if given.note:
                say(given.note, "dim")
        say(f"in the running app (process {self._runtime.pid})", "dim")
        body = {"key": f"/flow/{name}", **({} if value is MISSING else {"input": value})}
        if context is not None:
            body["context"] = dict(context)
        exit_code = self._run(body, name, schema)
        if self._trace_id is not None:
            say(f"Trace ID: {self._trace_id}", "dim")
        return exit_code

    def _run(self, body: Mapping[str, Any], name: str, schema: Any) -> int:
        connection = self._connect(None)
        try:
            last = b""
            response = self._ask(connection, "POST", f"/api/runAction{'?stream=true' if self._stream else ''}", body)
            self._trace_id = response.getheader("x-genkit-trace-id")
            if response.status != 200:
                raise self._gone(f"{response.status} {response.read(500).decode('utf-8', 'replace')}")
            for line in _frames(response):
                if line.endswith(b"\n"):
                    self._results.chunk(_chunk(json.loads(line)))
                else:
                    last = line
            answer = json.loads(last)
        except KeyboardInterrupt:
            self._results.stop()
            say("interrupted", "dim")
            return INTERRUPTED
        except BrokenPipeError:  # whoever reads our output has gone
            return INTERRUPTED
        except (OSError, HTTPException, ValueError) as error:
            self._results.stop()
            raise self._gone(str(error) or type(error).__name__) from None
        finally:
            connection.close()
        if "error" in answer:
            self._results.stop()
            return self._explain(answer["error"], name, schema, missing="input" not in body)
        return self._print(answer.get("result"))

    def _actions(self) -> dict[str, Any]:
        connection = self._connect(_ASK_SECONDS)
        try:
            found: dict[str, Any] = json.loads(self._ask(connection, "GET", "/api/actions").read())
        except (OSError, HTTPException, ValueError) as error:
            raise self._gone(str(error)) from None
        finally:
            connection.close()
        return found

    def _connect(self, seconds: float | None) -> HTTPConnection:
        return HTTPConnection(*self._runtime.address, timeout=seconds)

    def _ask(self, connection: HTTPConnection, method: str, path: str, body: Any = None) -> HTTPResponse:
        sent = None if body is None else json.dumps(body).encode()
        connection.request(method, path, sent, {} if sent is None else {"Content-Type": "application/json"})
        return connection.getresponse()

    def _gone(self, why: str) -> CliError:
        message = f"the running app (process {self._runtime.pid}) does not answer: {why}"
        return CliError(message, hint="try again; or --in-process runs the flow without it", exit_code=1)

    def _print(self, result: Any) -> int:
        exit_code = 0
        if self._output is not None:
            try:
                write_whole(self._output, (as_json(result) + "\n").encode("utf-8", "replace"))
            except OSError as error:
                complain(f"--output: {error.strerror or error}: {self._output}")
                exit_code = 1
        try:
            self._results.value(result)
        except BrokenPipeError:
            pass
        return exit_code

    def _explain(self, error: Mapping[str, Any], name: str, schema: Any, *, missing: bool) -> int:
        details = error.get("details") or {}
        crash = read_crash(str(details.get("stack") or ""), exit_code=1, root=Path.cwd(), is_users=is_users)
        if error.get("code") == _CANCELLED:
            say("cancelled", "dim")
            return 1
        # The flow's own input was refused when nothing of the user's code was reached.
        if details.get("status") == "INVALID_ARGUMENT" and details.get("errors") and not crash.is_users:
            takes = f"it takes {short_type(schema)}" if schema else None
            if missing and schema:
                form = example(schema)
                shown = f'"{form}"' if isinstance(form, str) else shlex.quote(json.dumps(form, ensure_ascii=False))
                takes = f"{takes}; for instance: flowkit flow:run {name} {shown}"
            complain(str(error.get("message")), takes)
            return 2
        if self._verbose and details.get("stack"):
            say(str(details["stack"]).rstrip())
        hint = details.get("hint")
        if hint is None and not self._verbose:
            hint = "-v shows where; flowkit trace:get latest shows every step"
        where = f" ({crash.place})" if crash.is_users else ""
        complain(f"{error.get('message')}{where}", hint)
        return 1


def _frames(response: HTTPResponse) -> Iterator[bytes]:
    """Lines as they come; the last one has no newline."""
    while line := response.readline():
        yield line


def _chunk(chunk: Any) -> Any:
    """A model's chunk is shown by its text."""
    if isinstance(chunk, Mapping) and isinstance(chunk.get("content"), list) and ("role" in chunk or "index" in chunk):
        try:
            return GenerateResponseChunk.from_wire(chunk)
        except ValueError:
            return chunk
    return chunk
