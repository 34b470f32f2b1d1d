"""What `doctor` looks at, one function for each thing. Every one of them returns findings and never raises.

for finding in check_installation(ai): finding.state, finding.what, finding.advice
"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flowkit.app import Flowkit

__all__ = ["Finding", "State", "check_installation", "check_project"]

State = Literal["fine", "broken", "absent"]

_PYTHON = (3, 11)
_LOW_DISK = 200_000_000  # bytes; an index of 10,000 chunks and its traces take about 40 MB


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: is it fine, what was looked at, what was found, and what to do."""

    group: str
    state: State
    what: str
    detail: str = ""
    advice: str | None = None


def check_installation(ai: "Flowkit | None") -> Iterator[Finding]:
    """Python, flowkit, SQLite and the plugins."""
    group = "Installation"
    python = platform.python_version()
    if sys.version_info >= _PYTHON:
        yield Finding(group, "fine", "Python", f"{python}, {sys.executable}")
    else:
        yield Finding(group, "broken", "Python", python, "flowkit needs Python 3.11 or newer")
    try:
        yield Finding(group, "fine", "flowkit", metadata.version("flowkit-ai"))
    except metadata.PackageNotFoundError:
        folder = Path(__file__).parents[2]
        yield Finding(group, "absent", "flowkit", f"used from {folder}", "pip install flowkit-ai, or pip install -e .")
    yield _sqlite(group)
    yield from _plugins(group, ai)


def _sqlite(group: str) -> Finding:
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    except sqlite3.Error as error:
        advice = "use a Python whose SQLite has full-text search (FTS5)"
        return Finding(group, "broken", "SQLite", f"{sqlite3.sqlite_version}: {error}", advice)
    return Finding(group, "fine", "SQLite", f"{sqlite3.sqlite_version}, with full-text search")


def _plugins(group: str, ai: "Flowkit | None") -> Iterator[Finding]:
    """Each installed plugin: does it load, and does the app use it?"""
    entries = sorted(metadata.entry_points(group="flowkit.plugins"), key=lambda entry: entry.name)
    if not entries:
        yield Finding(group, "absent", "plugins", "none installed", "pip install 'flowkit-ai[easy]' brings two")
    used = set() if ai is None else {type(plugin).__module__.partition(".")[0] for plugin in ai.registry.plugins}
    for entry in entries:
        name = entry.dist.name if entry.dist is not None else entry.name
        version = entry.dist.version if entry.dist is not None else ""
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - a plugin's import runs any code
            advice = f"pip install --force-reinstall {name}"
            yield Finding(group, "broken", name, f"{version} cannot be imported: {error}", advice)
            continue
        if ai is None:
            yield Finding(group, "fine", name, version)
        elif entry.module.partition(".")[0] in used:
            yield Finding(group, "fine", name, f"{version}, used by the app")
        else:
            yield Finding(group, "absent", name, f"{version}, not used by the app")
        if entry.module == "flowkit_local":
            yield _weights(group)


def _weights(group: str) -> Finding:
    from flowkit.errors import FlowkitError
    from flowkit_local.weights import MINILM_SHA256, TOKENIZER_SHA256, check, minilm_files

    try:
        files = minilm_files()
        for file, sha256 in zip(files, (MINILM_SHA256, TOKENIZER_SHA256), strict=True):
            check(file, sha256)
    except FlowkitError as error:
        return Finding(group, "broken", "model files", error.message, error.hint)
    except OSError as error:
        advice = "let this user read it"
        return Finding(group, "broken", "model files", f"{error.filename}: {error.strerror}", advice)
    from flowkit.cli.units import size

    return Finding(group, "fine", "model files", f"all-minilm-l6-v2, {size(sum(f.stat().st_size for f in files))}")


def check_project(ai: "Flowkit | None", problem: Finding | None, cwd: Path) -> Iterator[Finding]:
    """Root, app, data folder, traces, indexes and disk. `problem` says why there is no app."""
    from flowkit.config import ROOT_MARKERS, Settings

    group = "Project"
    settings = Settings.from_env()
    marker = next((name for name in ROOT_MARKERS if (settings.root / name).is_file()), None)
    if marker is None:
        advice = "put a pyproject.toml there, so that subfolders belong to the same project"
        yield Finding(group, "absent", "root", f"{settings.root} (the working directory)", advice)
    else:
        yield Finding(group, "fine", "root", f"{settings.root} ({marker})")
    if problem is not None:
        yield problem
    elif ai is not None:
        flows = len(ai.registry.keys("flow"))
        from flowkit.server.plugin_shapes import plugin_id

        plugins = ", ".join(map(plugin_id, ai.registry.plugins)) or "no plugins"
        yield Finding(group, "fine", "app", f"{flows} flow{'' if flows == 1 else 's'}; {plugins}")
    yield _data_folder(group, settings.data_folder)
    yield _traces(group, settings.data_folder)
    yield from _indexes(group, settings.data_folder)
    yield _disk(group, settings.data_folder)


def _data_folder(group: str, folder: Path) -> Finding:
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        if not existing.is_dir():
            return Finding(
                group, "broken", "data folder", f"{existing} is a file", "move it away: flowkit keeps a folder there"
            )
    except OSError as error:
        return Finding(group, "broken", "data folder", f"{folder}: {error.strerror}", "let this user into its folders")
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        advice = f"make {existing} writable for this user"
        return Finding(group, "broken", "data folder", f"{folder}: {error.strerror}", advice)
    if existing is not folder:
        return Finding(group, "absent", "data folder", f"{folder} is made by the first run")
    if os.name == "posix" and folder.stat().st_mode & 0o077:
        advice = f"traces hold what your flows were given: chmod 700 {folder}"
        return Finding(group, "absent", "data folder", f"{folder} can be read by other users", advice)
    return Finding(group, "fine", "data folder", str(folder))


def _traces(group: str, folder: Path) -> Finding:
    from flowkit.cli.units import number, size
    from flowkit.errors import FlowkitError
    from flowkit.tracing import TRACES_FILE
    from flowkit.tracing.store import TraceStore

    store = TraceStore(folder / TRACES_FILE)
    try:
        stats = store.stats()
        skipped = store.list(limit=200, internal=True).skipped
    except FlowkitError as error:
        return Finding(group, "broken", "traces", error.message, error.hint or f"move {store.path} away")
    finally:
        store.close()
    if not stats.traces:
        return Finding(group, "absent", "traces", "no runs yet")
    shown = f"{number(stats.traces)} run{'s' if stats.traces > 1 else ''}, {size(stats.size_bytes)}"
    if skipped:
        return Finding(group, "broken", "traces", f"{shown}; {skipped} cannot be read", f"move {store.path} away")
    return Finding(group, "fine", "traces", shown)


def _indexes(group: str, folder: Path) -> Iterator[Finding]:
    try:
        from flowkit_devstore import list_indexes
    except ImportError:
        return
    from flowkit.cli.units import number
    from flowkit.errors import FlowkitError

    try:
        indexes = list_indexes(folder / "indexes")
    except FlowkitError as error:
        yield Finding(group, "broken", "indexes", error.message, error.hint)
        return
    for index in indexes:
        if index.error:
            yield Finding(group, "broken", f"index {index.name}", index.error, index.hint)
        else:
            shown = f"{number(index.count or 0)} documents, {index.embedder or 'no embedder'}"
            yield Finding(group, "fine", f"index {index.name}", shown)


def _disk(group: str, folder: Path) -> Finding:
    from flowkit.cli.units import size

    try:
        free = shutil.disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free
    except OSError as error:
        return Finding(group, "absent", "disk", f"how much is free is not known: {error.strerror}")
    if free < _LOW_DISK:
        return Finding(group, "broken", "disk", f"{size(free)} free", "make room: indexes and traces cannot be written")
    return Finding(group, "fine", "disk", f"{size(free)} free")
