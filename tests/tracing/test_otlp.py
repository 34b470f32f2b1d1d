"""Export by OTLP, as the standard OTEL_* variables ask for it, to a receiver that decodes what arrives."""

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from flowkit.config import Settings
from flowkit.errors import ConfigError
from flowkit.tracing.otlp import start_export

APP = """
from opentelemetry import trace
from flowkit import Flowkit

ai = Flowkit()


@ai.flow
async def greet(name: str) -> str:
    with trace.get_tracer("some.library", "2.0").start_as_current_span("GET /names"):
        return await ai.run("shout", str.upper, name)


@ai.flow
async def log_in(user: str, password: str) -> str:
    return user
"""


class Receiver:
    """What a collector is: it takes protobuf on /v1/traces."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                assert self.path == "/v1/traces"
                receiver.requests.append(ExportTraceServiceRequest.FromString(body))
                receiver.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self) -> dict[str, Any]:
        return {
            span.name: span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        }

    @property
    def service_names(self) -> set[str]:
        return {
            attribute.value.string_value
            for request in self.requests
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "bistro"\nversion = "1"\n', encoding="utf-8")
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    return tmp_path


def flowkit(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flowkit", *arguments],
        cwd=project,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )


@pytest.mark.heavy
def test_a_run_goes_to_the_backend_and_stays_in_the_local_trace(receiver: Receiver, project: Path):
    ran = flowkit(
        project,
        "flow:run",
        "greet",
        "Ada",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
        OTEL_EXPORTER_OTLP_HEADERS="x-team=bistro",
        OTEL_SERVICE_NAME="bistro",
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "ADA"
    flow, library, step = (receiver.spans[name] for name in ("greet", "GET /names", "shout"))
    assert library.parent_span_id == flow.span_id
    assert step.parent_span_id == library.span_id
    attributes = {item.key: item.value.string_value for item in flow.attributes}
    assert attributes["genkit:input"] == '"Ada"'
    assert attributes["genkit:output"] == '"ADA"'
    assert receiver.service_names == {"bistro"}
    assert receiver.headers[0]["x-team"] == "bistro"
    outline = flowkit(project, "trace:get", "latest").stdout
    assert "\n├" in outline or "\n└" in outline
    assert "GET /names" in outline
    assert "shout" in outline
    assert flow.trace_id.hex() in outline


@pytest.mark.heavy
def test_secrets_do_not_leave_the_process(receiver: Receiver, project: Path):
    flowkit(
        project,
        "flow:run",
        "log_in",
        '{"user": "ada", "password": "hunter2"}',
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
    )

    exported = "".join(str(request) for request in receiver.requests)
    assert "hunter2" not in exported
    assert "<redacted>" in exported


@pytest.mark.heavy
def test_a_dead_backend_costs_the_run_nothing_but_a_warning(project: Path):
    ran = flowkit(
        project,
        "flow:run",
        "greet",
        "Ada",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_TIMEOUT="1",
    )

    assert ran.returncode == 0
    assert ran.stdout.strip() == "ADA"


@pytest.mark.parametrize(
    ("env", "protocol"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "http/protobuf"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, "http/protobuf"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "grpc"),
        (
            {
                "OTEL_TRACES_EXPORTER": "otlp",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            },
            "http/protobuf",
        ),
    ],
)
def test_the_standard_variables_decide(env: dict[str, str], protocol: str | None):
    assert Settings.from_env(env).otlp == protocol


def test_an_unknown_protocol_is_named():
    with pytest.raises(ConfigError, match="http/json") as caught:
        start_export("http/json", None)
    assert "http/protobuf" in str(caught.value.hint)


def test_nothing_is_started_when_nothing_is_asked():
    assert start_export(None, None) is None
