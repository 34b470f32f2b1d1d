"""A Docling service for tests: the routes, checks and answers of docling-serve's API v1, without its models.

with DoclingServer() as server:
    parse.docling(server.url)
    server.answer = {...}           # what the conversion comes to
"""

import base64
import threading
import time
from types import TracebackType
from typing import Any, Literal, Self
from uuid import uuid4

import uvicorn
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

__all__ = ["DoclingServer", "converted", "item"]


class _Options(BaseModel):
    """Of the service's options, those that matter here; it takes others, and ignores names it does not know."""

    model_config = ConfigDict(extra="allow")

    to_formats: list[Literal["md", "json", "yaml", "html", "text", "doctags"]] = ["md"]
    image_export_mode: Literal["placeholder", "embedded", "referenced"] = "embedded"
    md_page_break_placeholder: str = ""
    do_ocr: bool = True


class _File(BaseModel):
    kind: Literal["file"]
    base64_string: str
    filename: str


class _Target(BaseModel):
    kind: Literal["inbody", "zip", "presigned_url"] = "presigned_url"


class _Job(BaseModel):
    options: _Options = _Options()
    sources: list[_File] = Field(min_length=1)
    target: _Target = _Target()


def item(page: int, layer: str = "body") -> dict[str, Any]:
    """A piece of text as the service's JSON has it, as far as its place goes."""
    box = {"l": 0, "t": 0, "r": 1, "b": 1, "coord_origin": "BOTTOMLEFT"}
    return {"content_layer": layer, "label": "text", "prov": [{"page_no": page, "bbox": box, "charspan": [0, 1]}]}


def converted(pages: dict[int, str], *, status: str = "success", errors: list[dict[str, Any]] | None = None) -> Any:
    """A conversion's outcome: its page breaks are written as the job asks for."""

    def answer(job: _Job) -> dict[str, Any]:
        mark = job.options.md_page_break_placeholder
        parts = [pages[number] for number in sorted(pages)]
        document: dict[str, Any] = {"filename": job.sources[0].filename, "md_content": None, "json_content": None}
        if "md" in job.options.to_formats:
            document["md_content"] = (f"\n\n{mark}\n\n" if mark else "\n\n").join(parts)
        if "json" in job.options.to_formats:
            document["json_content"] = {"schema_name": "DoclingDocument", "texts": [item(number) for number in pages]}
        return {
            "document": document,
            "status": status,
            "errors": errors or [],
            "processing_time": 0.1,
            "timings": {},
            "confidence": None,
        }

    return answer


class DoclingServer:
    """One server on a port of its own, in a thread."""

    def __init__(self, *, api_key: str = "") -> None:
        self.api_key = api_key
        self.answer: Any = converted({1: "# Menu\n\nTomato soup"})
        self.failure: str | None = None
        """Makes the task fail, with this message."""
        self.polls = 1
        """How often a task is said to be under way before it is done."""
        self.jobs: list[_Job] = []
        self.received: list[bytes] = []
        self._asked: dict[str, int] = {}
        routes = [
            Route("/health", self._health),
            Route("/v1/convert/source/async", self._convert, methods=["POST"]),
            Route("/v1/status/poll/{task}", self._poll),
            Route("/v1/result/{task}", self._result),
        ]
        config = uvicorn.Config(Starlette(routes=routes), port=0, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        until = time.monotonic() + 20
        while not self._server.started and time.monotonic() < until:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    def _refused(self, request: Request) -> JSONResponse | None:
        if self.api_key and request.headers.get("X-Api-Key") != self.api_key:
            return JSONResponse({"detail": None}, 401)
        return None

    async def _health(self, request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def _convert(self, request: Request) -> JSONResponse:
        if (refused := self._refused(request)) is not None:
            return refused
        try:
            job = _Job.model_validate_json(await request.body())
            content = base64.b64decode(job.sources[0].base64_string, validate=True)
        except ValidationError as error:
            return JSONResponse({"detail": error.errors(include_url=False, include_context=False)}, 422)
        self.jobs.append(job)
        self.received.append(content)
        task = str(uuid4())
        self._asked[task] = 0
        return JSONResponse(self._status(task))

    async def _poll(self, request: Request) -> JSONResponse:
        if (refused := self._refused(request)) is not None:
            return refused
        task = request.path_params["task"]
        if task not in self._asked:
            return JSONResponse({"detail": "Task not found."}, 404)
        self._asked[task] += 1
        return JSONResponse(self._status(task))

    async def _result(self, request: Request) -> JSONResponse:
        task = request.path_params["task"]
        if self._asked.get(task, -1) < self.polls:
            return JSONResponse({"detail": "Task result not found. Please wait for a completion status."}, 404)
        if self.failure is not None:
            return JSONResponse({"kind": "TaskFailureResult", "failure": self._failure()})
        return JSONResponse(self.answer(self.jobs[-1]))

    def _status(self, task: str) -> dict[str, Any]:
        asked = self._asked[task]
        state = ("pending" if not asked else "started") if asked < self.polls else "success"
        failed = self.failure if state == "success" else None
        return {
            "task_id": task,
            "task_type": "convert",
            "task_status": "failure" if failed else state,
            "task_position": 1 if state == "pending" else None,
            "task_meta": None,
            "error_message": failed,
            "failure": self._failure() if failed else None,
        }

    def _failure(self) -> dict[str, Any]:
        return {
            "category": "unknown",
            "message": self.failure,
            "retryable": False,
            "phase": "execution",
            "details": {},
        }
