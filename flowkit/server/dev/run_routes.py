"""Starting, following and cancelling runs; and which apps there are to run them.

operations = run_operations(runs, apps, lambda: state)
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from flowkit.schema.wire import Wire
from flowkit.server.dev.apps import Apps
from flowkit.server.dev.runs import Runs
from flowkit.server.dev.shapes import AppState, Cancelled, RunEvent, RunInfo, RunList, RunStart, RuntimeList
from flowkit.server.operations import Call, Operation
from flowkit.server.streams import NDJSON, Lines

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["FollowRun", "run_operations"]


class FollowRun(Wire):
    after: int = Field(-1, ge=-1)
    """The last event that is known already."""


def run_operations(runs: Runs, apps: Apps, app: Callable[[], AppState]) -> Sequence[Operation]:
    """The operations."""

    async def start(call: Call) -> RunInfo:
        return (await runs.start(call.body)).info

    async def list_runs(call: Call) -> RunList:
        return RunList(runs=tuple(runs.list()))

    async def get_run(call: Call) -> RunInfo:
        return runs.get(call.params["run_id"]).info

    async def follow(call: Call) -> "ASGIApp":
        return Lines(runs.get(call.params["run_id"]).follow(call.query.after))

    async def cancel(call: Call) -> Cancelled:
        return Cancelled(cancelled=await runs.cancel(call.params["run_id"]))

    async def list_runtimes(call: Call) -> RuntimeList:
        return RuntimeList(runtimes=tuple(await apps.list()), app=app())

    return [
        Operation(
            "startRun",
            "POST",
            "/api/runs",
            "Run an action; the answer has the ids of run and trace while it still runs",
            start,
            body=RunStart,
            answer=RunInfo,
        ),
        Operation(
            "listRuns", "GET", "/api/runs", "Runs that were started here, newest first", list_runs, answer=RunList
        ),
        Operation("getRun", "GET", "/api/runs/{run_id}", "How a run stands", get_run, answer=RunInfo),
        Operation(
            "followRun",
            "GET",
            "/api/runs/{run_id}/events",
            "What happens in a run, from its start to its end, one JSON value per line",
            follow,
            query=FollowRun,
            answer=RunEvent,
            gives=NDJSON,
        ),
        Operation("cancelRun", "POST", "/api/runs/{run_id}/cancel", "Stop a run", cancel, answer=Cancelled),
        Operation(
            "listRuntimes",
            "GET",
            "/api/runtimes",
            "Running apps that actions can be run in, and the state of the one that is supervised",
            list_runtimes,
            answer=RuntimeList,
        ),
    ]
