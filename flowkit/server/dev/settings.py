"""What the settings page shows: versions, plugins, where data lies and how much, which names the environment sets.

    operations = settings_operations(root, traces, uploads)

Values of the environment are never told, whatever their names.
"""

import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from flowkit.config import MAX_TRACES, MAX_TRACES_BYTES, names_set
from flowkit.schema.wire import Wire
from flowkit.server.operations import Call, Operation
from flowkit.server.telemetry.traces import Traces
from flowkit.server.version import flowkit_version
from flowkit.tracing.log_store import MAX_LOGS

__all__ = ["PluginInfo", "Retention", "SettingsData", "StoredData", "Variable", "Versions", "settings_operations"]

_NAMES = (
    "ANTHROPIC_API_KEY",
    "CHROMA_API_KEY",
    "FLOWKIT_EMBEDDING_CACHE",
    "FLOWKIT_ENV",
    "FLOWKIT_MAX_TRACES",
    "FLOWKIT_MAX_TRACES_BYTES",
    "FLOWKIT_ROOT",
    "FLOWKIT_TRACES",
    "GEMINI_API_KEY",
    "GENKIT_ENV",
    "GENKIT_TELEMETRY_SERVER",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "OPENAI_API_KEY",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_SERVICE_NAME",
    "PINECONE_API_KEY",
)
_PACKAGES = ("pydantic", "opentelemetry-api", "starlette", "uvicorn", "numpy", "onnxruntime")


class Variable(Wire):
    """A name of the environment. `set`: it has a value, which nobody is told."""

    name: str
    set: bool


class PluginInfo(Wire):
    """An installed plugin package."""

    name: str
    package: str
    version: str


class StoredData(Wire):
    """Something on disk."""

    name: str
    path: str
    """Relative to the project, POSIX."""
    size_bytes: int
    count: int | None = None
    """Traces, log records, files."""


class Retention(Wire):
    """What is kept; the oldest goes first."""

    max_traces: int = MAX_TRACES
    max_bytes: int = MAX_TRACES_BYTES
    max_logs: int = MAX_LOGS


class Versions(Wire):
    flowkit: str
    python: str
    platform: str
    packages: dict[str, str]


class SettingsData(Wire):
    root: str
    versions: Versions
    plugins: tuple[PluginInfo, ...]
    data: tuple[StoredData, ...]
    retention: Retention
    environment: tuple[Variable, ...]


def settings_operations(root: Path, traces: Traces) -> Sequence[Operation]:
    """The operation."""

    async def settings(call: Call) -> SettingsData:
        return await traces.read(_settings, root, traces)

    return [
        Operation(
            "getSettings",
            "GET",
            "/api/settings",
            "Versions, plugins, data and its sizes",
            settings,
            answer=SettingsData,
        )
    ]


def _settings(root: Path, traces: Traces) -> SettingsData:
    return SettingsData(
        root=str(root),
        versions=Versions(
            flowkit=flowkit_version(),
            python=platform.python_version(),
            platform=f"{platform.system()} {platform.machine()} ({sys.platform})",
            packages={name: version for name in _PACKAGES if (version := _version(name)) is not None},
        ),
        plugins=tuple(_plugins()),
        data=tuple(_data(root, traces)),
        retention=Retention(max_traces=traces.kept.max_traces, max_bytes=traces.kept.max_bytes),
        environment=tuple(Variable(name=name, set=is_set) for name, is_set in names_set(_NAMES).items()),
    )


def _plugins() -> list[PluginInfo]:
    found = [
        PluginInfo(name=entry.name, package=entry.dist.name, version=entry.dist.version)
        for entry in metadata.entry_points(group="flowkit.plugins")
        if entry.dist is not None
    ]
    return sorted(found, key=lambda plugin: plugin.name)


def _data(root: Path, traces: Traces) -> list[StoredData]:
    folder, stats = root / ".flowkit", traces.store.stats()
    found = [
        _stored("traces", stats.path, root, stats.size_bytes, stats.traces),
        _stored("logs", stats.path, root, 0, traces.logs.count()),
    ]
    for name in ("indexes", "cache", "uploads"):
        files = [file for file in (folder / name).rglob("*") if file.is_file()] if (folder / name).is_dir() else []
        size = sum(_size(file) for file in files)
        found.append(_stored(name, folder / name, root, size, len(files)))
    return found


def _stored(name: str, path: Path, root: Path, size_bytes: int, count: int) -> StoredData:
    shown = path.relative_to(root) if path.is_relative_to(root) else path
    return StoredData(name=name, path=shown.as_posix(), size_bytes=size_bytes, count=count)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # gone meanwhile
        return 0


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
