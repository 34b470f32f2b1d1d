"""Settings: the only reader of the environment.

settings = Settings.from_env()
settings.dev                   # True under `flowkit start`, `flowkit flow:run` and Genkit's CLI
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from flowkit.errors import InvalidInputError

__all__ = [
    "MAX_TRACES",
    "MAX_TRACES_BYTES",
    "ROOT_MARKERS",
    "Settings",
    "child_environment",
    "claim_serving",
    "devui_folder",
    "is_under_test",
    "names_set",
    "project_root",
    "serving_process",
    "watches_by_polling",
]

# The markers by which Genkit's CLI finds a project, so that both tools look into the same folder.
ROOT_MARKERS = (
    "package.json",
    "go.mod",
    "pyproject.toml",
    "requirements.txt",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "pubspec.yaml",
)

MAX_TRACES = 10_000
MAX_TRACES_BYTES = 1_000_000_000
"""What is kept when nobody says otherwise."""

_LEAST_TRACES, _LEAST_BYTES = 1, 1_000_000
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_SERVED_BY = "FLOWKIT_SERVED_BY"
_PARENT = "FLOWKIT_PARENT"


def project_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` (default: the working directory) with a project marker, else `start`."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if any((folder / marker).is_file() for marker in ROOT_MARKERS):
            return folder
    return start


def serving_process() -> int | None:
    """The process of this tree that serves the app to developer tools; None when none has said so."""
    pid = os.environ.get(_SERVED_BY, "")
    return int(pid) if pid.isdecimal() else None


def claim_serving() -> None:
    """From now on this process serves; those that it starts are told so by their environment."""
    os.environ[_SERVED_BY] = str(os.getpid())


def watches_by_polling() -> bool:
    """`WATCHFILES_FORCE_POLLING`: file events do not reach this machine (some mounts of containers)."""
    return bool(os.environ.get("WATCHFILES_FORCE_POLLING"))


def names_set(names: Iterable[str]) -> dict[str, bool]:
    """Which names the environment gives a value; the values stay here."""
    return {name: bool(os.environ.get(name)) for name in names}


def devui_folder() -> Path | None:
    """`FLOWKIT_DEVUI_DIR`: pages of the developer UI that are served instead of the shipped ones."""
    folder = os.environ.get("FLOWKIT_DEVUI_DIR")
    return Path(folder).resolve() if folder else None


def child_environment(*, telemetry_url: str) -> dict[str, str]:
    """The environment of an app that `flowkit start` runs.

    Args:
        telemetry_url: Where runtimes of other frameworks send spans. Ours write them to the file that the parent reads,
            and send it nothing.
    """
    ours = (_SERVED_BY, "GENKIT_REFLECTION_V2_SERVER", "GENKIT_RUNTIME_ID")
    return {
        **{name: value for name, value in os.environ.items() if name not in ours},
        "GENKIT_ENABLE_REALTIME_TELEMETRY": "true",
        "GENKIT_ENV": "dev",
        "GENKIT_TELEMETRY_SERVER": telemetry_url,
        _PARENT: telemetry_url,
        # What an app prints is to be seen when it prints it; a pipe would hold it back.
        "PYTHONUNBUFFERED": "1",
    }


def is_under_test() -> bool:
    """True in a process that runs pytest. Programs that tests start are not meant."""
    # Before 8.2 there was only the second, and only while a test runs.
    return bool({"PYTEST_VERSION", "PYTEST_CURRENT_TEST"} & os.environ.keys()) and "_pytest.main" in sys.modules


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says, read once per `Flowkit`."""

    dev: bool = False
    """`FLOWKIT_ENV=dev` or `GENKIT_ENV=dev`: the process is driven by a developer's tools."""
    traces: bool = False
    """`FLOWKIT_TRACES=1`, or dev: runs are kept in the local trace store."""
    max_traces: int = MAX_TRACES
    """`FLOWKIT_MAX_TRACES`: how many traces the local store keeps; the oldest go first."""
    max_traces_bytes: int = MAX_TRACES_BYTES
    """`FLOWKIT_MAX_TRACES_BYTES`: how large it may become, 1,000,000 at least."""
    root: Path = Path()
    """The project root; data lives in `<root>/.flowkit`."""
    embedding_cache: bool = True
    """Off with `FLOWKIT_EMBEDDING_CACHE=0`: vectors are kept in `<root>/.flowkit/cache`, so that none is made twice."""
    telemetry_url: str | None = None
    """`GENKIT_TELEMETRY_SERVER`: where a Genkit tool wants spans; None when that is our own parent."""
    reflection_v2_url: str | None = None
    """`GENKIT_REFLECTION_V2_SERVER`: the WebSocket of a Genkit tool."""
    runtime_id: str | None = None
    """`GENKIT_RUNTIME_ID`: a name for this runtime chosen by the user."""
    otlp: str | None = None
    """How the standard `OTEL_*` variables ask for spans to be exported: `http/protobuf` or `grpc`; None when not."""

    def __post_init__(self) -> None:
        _check("max_traces", self.max_traces, _LEAST_TRACES)
        _check("max_traces_bytes", self.max_traces_bytes, _LEAST_BYTES)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "Settings":
        """What variables say: those of this process, if none are given.

        Raises:
            InvalidInputError: one is no number, or too small.
        """
        env = os.environ if env is None else env
        dev = "dev" in (env.get("FLOWKIT_ENV"), env.get("GENKIT_ENV"))
        asked = env.get("FLOWKIT_TRACES", "").lower()
        root = env.get("FLOWKIT_ROOT")
        telemetry = env.get("GENKIT_TELEMETRY_SERVER")
        return cls(
            dev=dev,
            traces=asked in _TRUE or (dev and not asked),
            max_traces=_number(env, "FLOWKIT_MAX_TRACES", MAX_TRACES, least=_LEAST_TRACES),
            max_traces_bytes=_number(env, "FLOWKIT_MAX_TRACES_BYTES", MAX_TRACES_BYTES, least=_LEAST_BYTES),
            root=Path(root).resolve() if root else project_root(),
            embedding_cache=env.get("FLOWKIT_EMBEDDING_CACHE", "").lower() not in _FALSE,
            telemetry_url=telemetry if telemetry and telemetry != env.get(_PARENT) else None,
            reflection_v2_url=env.get("GENKIT_REFLECTION_V2_SERVER") or None,
            runtime_id=env.get("GENKIT_RUNTIME_ID") or None,
            otlp=_otlp_protocol(env),
        )

    @property
    def data_folder(self) -> Path:
        """`<root>/.flowkit`: indexes, traces.db, cache, uploads. Made by whoever first writes, with mode 0700."""
        return self.root / ".flowkit"


def _number(env: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = env.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise InvalidInputError(f"{name} is {text!r}", hint=f"a whole number, such as {default}") from None
    _check(name, value, least)
    return value


def _check(name: str, value: int, least: int) -> None:
    if value < least:
        raise InvalidInputError(f"{name} is {value}", hint=f"it is at least {least}")


def _otlp_protocol(env: Mapping[str, str]) -> str | None:
    """By the OpenTelemetry specification; only that an exporter must be asked for, by its name or by an endpoint."""
    exporters = {name.strip() for name in env.get("OTEL_TRACES_EXPORTER", "").split(",") if name.strip()}
    endpoint = env.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or env.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    wanted = "otlp" in exporters if exporters else bool(endpoint)
    if not wanted or env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    named = env.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or env.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    return named or "http/protobuf"
