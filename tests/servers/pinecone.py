"""A Pinecone server for tests: it keeps data for real, and can be as slow and as unfriendly as the service.

with PineconeServer() as server: Pinecone("menu", api_key="k", host=server.url)

Requests and answers are checked against the published OpenAPI documents, when those are at hand (see openapi.py).
"""

import json
import socket
import threading
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers.openapi import OpenApi
from tests.servers.pinecone_data import Index, Record, Refused, matches

__all__ = ["PineconeServer", "Refused"]

VERSION = "2025-10"
MOST_BYTES = 2 * 1024 * 1024
ANSWER_BYTES = 4 * 1024 * 1024
Answer = tuple[int, Any, dict[str, str]]


class PineconeServer:
    """Control plane and data planes on one port, which it keeps when it is started again."""

    def __init__(self, *, delay_seconds: float = 0.0, ready_after: int = 0, api_key: str = "k") -> None:
        """`delay_seconds`: until a write can be read. `ready_after`: how often an index says that it is not ready."""
        self.delay_seconds, self.ready_after, self.api_key = delay_seconds, ready_after, api_key
        self.indexes: dict[str, Index] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.problems: list[str] = []
        self.checked = 0
        self.lock = threading.RLock()
        self._faults: deque[tuple[str, int | None, str | None, dict[str, str]]] = deque()
        self._asked: dict[str, int] = {}
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> "PineconeServer":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        class Bound(_Handler):
            pineconed = self

        self._server = _Server(("127.0.0.1", self._port), Bound)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.cut()

    def fail(
        self,
        path: str,
        status: int,
        *,
        times: int = 1,
        after: int = 0,
        message: str | None = None,
        headers: Mapping[str, str] = {},
    ) -> None:
        """Answer the next requests to a path, or those `after` some more, with an error."""
        self._faults.extend([(path, 200, None, {})] * after)
        self._faults.extend([(path, status, message, dict(headers))] * times)

    def drop(self, path: str, *, times: int = 1, done: bool = False) -> None:
        """Cut the connection of the next requests to a path; `done`: after having done what was asked."""
        self._faults.extend([(path, None, "done" if done else None, {})] * times)

    def know(self, name: str) -> None:
        """An index that a test has put into `indexes` itself."""
        self._asked[name] = self.ready_after

    def heal(self) -> None:
        """Nothing more goes wrong."""
        self._faults.clear()

    def count(self, path: str) -> int:
        """How many requests came to a path."""
        return sum(found == path for _, found, _ in self.requests)

    # What follows is called by the handler.

    def answer(self, method: str, path: str, query: dict[str, list[str]], headers: Any, raw: bytes) -> Answer | None:
        """None cuts the connection."""
        body = json.loads(raw) if raw else None
        name, route = "", path
        if path.startswith("/data/"):
            _, _, name, rest = path.split("/", 3)
            route = f"/{rest}"
        with self.lock:
            self.requests.append((method, route, body))
            fault = next((fault for fault in self._faults if fault[0] == route), None)
            if fault is not None:
                self._faults.remove(fault)
            if fault is not None and fault[1] != 200:
                _, status, message, extra = fault
                if status is None:
                    if message == "done":
                        self._done(method, name, route, query, body, raw)
                    return None
                found: Answer = (status, _error(name, status, 8 if status == 429 else 13, message or "later"), extra)
            else:
                found = self._answer(method, name, route, query, headers, body, raw)
            self._check(method, name, route, query, headers, body, found)
            return found

    def _answer(
        self, method: str, name: str, route: str, query: dict[str, list[str]], headers: Any, body: Any, raw: bytes
    ) -> Answer:
        try:
            if headers.get("api-key") != self.api_key:
                raise Refused(401, 16, "Invalid API Key")
            return self._done(method, name, route, query, body, raw)
        except Refused as refused:
            return refused.status, _error(name, refused.status, refused.code, refused.message), {}

    def _done(self, method: str, name: str, route: str, query: dict[str, list[str]], body: Any, raw: bytes) -> Answer:
        if not name:
            return self._control(method, route, body)
        if name not in self.indexes:
            raise Refused(404, 5, "Index not found")
        answer = self._data(self.indexes[name], route, query, body, raw)
        if len(json.dumps(answer[1])) > ANSWER_BYTES:
            raise Refused(400, 3, "the answer is over 4 MB; ask for less")
        return answer

    def _control(self, method: str, route: str, body: Any) -> Answer:
        _, _, name = route.lstrip("/").partition("/") if "/" in route.lstrip("/") else ("", "", "")
        match method, bool(name):
            case "GET", False:
                return 200, {"indexes": [self._described(index) for index in self.indexes.values()]}, {}
            case "POST", False:
                if body["name"] in self.indexes:
                    raise Refused(409, 6, "Resource already exists")
                index = Index(body["name"], body["dimension"], body.get("metric", "cosine"), body["spec"],
                              time.monotonic(), self.delay_seconds)  # fmt: skip
                self.indexes[index.name] = index
                self._asked[index.name] = 0
                return 201, self._described(index), {}
            case "GET", True if name in self.indexes:
                return 200, self._described(self.indexes[name]), {}
            case "DELETE", True if name in self.indexes:
                del self.indexes[name]
                return 202, None, {}
        raise Refused(404, 5, f"Resource {name} not found")

    def _described(self, index: Index) -> dict[str, Any]:
        self._asked[index.name] += 1
        ready = self._asked[index.name] > self.ready_after
        spec = {**index.spec["serverless"], "read_capacity": {"mode": "OnDemand", "status": {"state": "Ready"}}}
        return {
            "name": index.name,
            "dimension": index.dimension,
            "metric": index.metric,
            "host": f"{self.url}/data/{index.name}",
            "spec": {"serverless": spec},
            "status": {"ready": ready, "state": "Ready" if ready else "Initializing"},
            "vector_type": "dense",
            "deletion_protection": "disabled",
        }

    def _data(self, index: Index, route: str, query: dict[str, list[str]], body: Any, raw: bytes) -> Answer:
        given = body if body is not None else {key: values[0] for key, values in query.items()}
        name = given.get("namespace") or "__default__"
        space = index.namespaces.get(name)
        seen = {"x-pinecone-max-indexed-lsn": str(space.seen)} if space is not None else {}
        records = space.records() if space is not None else {}
        match route:
            case "/vectors/upsert":
                if len(raw) > MOST_BYTES:
                    raise Refused(400, 3, f"Request size {len(raw)} exceeds the limit of {MOST_BYTES} bytes")
                if len(body["vectors"]) > 1000:
                    raise Refused(400, 3, "more than 1000 vectors")
                lsn = index.upsert(name, body["vectors"])
                return 200, {"upsertedCount": len(body["vectors"])}, {"x-pinecone-request-lsn": str(lsn)}
            case "/vectors/delete":
                if len(body.get("ids", ())) > 1000 or "filter" in body:
                    raise Refused(400, 3, "up to 1000 ids, or deleteAll")
                lsn = index.delete(name, None if body.get("deleteAll") else body["ids"])
                return 200, {}, {"x-pinecone-request-lsn": str(lsn)}
            case "/query":
                hits = index.query(name, body["vector"], body["topK"], body.get("filter"), body.get("sparseVector"))
                found = [_match(record, score, body) for record, score in hits]
                return 200, {"matches": found, "namespace": name, "usage": {"readUnits": 1}}, seen
            case "/vectors/fetch":
                ids = query["ids"]
                held = {id: _vector(records[id]) for id in ids if id in records}
                return 200, {"vectors": held, "namespace": name, "usage": {"readUnits": 1}}, seen
            case "/vectors/fetch_by_metadata":
                where = body["filter"]
                kept = sorted(record.id for record in records.values() if matches(where, record.metadata))
                page, token = _page(kept, body.get("limit", 100), body.get("paginationToken"))
                answer = {"vectors": {id: _vector(records[id]) for id in page}, "namespace": name}
                return 200, {**answer, **token}, seen
            case "/vectors/list":
                listed = sorted(id for id in records if id.startswith(given.get("prefix", "")))
                page, token = _page(listed, int(given.get("limit", 100)), given.get("paginationToken"))
                return 200, {"vectors": [{"id": id} for id in page], "namespace": name, **token}, seen
            case "/describe_index_stats":
                counts = {key: len(space.records()) for key, space in index.namespaces.items()}
                summary = {key: {"vectorCount": count} for key, count in counts.items() if count}
                total = sum(counts.values())
                return 200, {"namespaces": summary, "dimension": index.dimension, "totalVectorCount": total}, seen
        raise Refused(404, 5, f"no such operation: {route}")

    def _check(
        self, method: str, name: str, route: str, query: dict[str, list[str]], headers: Any, body: Any, found: Answer
    ) -> None:
        spec = OpenApi.of(f"db_{'data' if name else 'control'}_{VERSION}.oas.yaml")
        if headers.get("x-pinecone-api-version") != VERSION:
            self.problems.append(f"{route}: the API's version is {headers.get('x-pinecone-api-version')!r}")
        if spec is None:
            return
        status, answer, _ = found
        given = {key.lower(): value for key, value in headers.items()}
        self.checked += 1
        self.problems += spec.check(method, route, query=query, headers=given, body=body, status=status, answer=answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def cut(self) -> None:
        """End the connections that clients keep open."""
        for request in list(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    pineconed: PineconeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def _any(self) -> None:
        address = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        found = self.pineconed.answer(
            self.command, unquote(address.path), parse_qs(address.query, keep_blank_values=True), self.headers, raw
        )
        if found is None:
            self.close_connection = True
            return
        status, answer, headers = found
        data = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        for key, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = _any

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests look at `requests`."""


def _error(name: str, status: int, code: int, message: str) -> dict[str, Any]:
    if name:
        return {"code": code, "message": message, "details": []}
    words = {401: "UNAUTHENTICATED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS", 429: "RESOURCE_EXHAUSTED"}
    return {"status": status, "error": {"code": words.get(status, "UNKNOWN"), "message": message}}


def _vector(record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {"id": record.id, "values": record.values, "metadata": record.metadata}
    if record.sparse:
        found["sparseValues"] = {"indices": list(record.sparse), "values": list(record.sparse.values())}
    return found


def _match(record: Record, score: float, body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"id": record.id, "score": score}
    if body.get("includeValues"):
        found["values"] = record.values
        if record.sparse:
            found["sparseValues"] = {"indices": list(record.sparse), "values": list(record.sparse.values())}
    if body.get("includeMetadata"):
        found["metadata"] = record.metadata
    return found


def _page(ids: list[str], limit: int, token: str | None) -> tuple[list[str], dict[str, Any]]:
    """The last page has no `pagination` at all."""
    if token is not None:
        after = urlsafe_b64decode(token).decode()
        ids = [id for id in ids if id > after]
    page = ids[:limit]
    return page, {"pagination": {"next": urlsafe_b64encode(page[-1].encode()).decode()}} if len(ids) > limit else {}
