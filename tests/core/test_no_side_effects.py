"""Importing flowkit, making an app and running a flow outside dev changes nothing but the flow's own doing."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.modules import ROOT

WATCHED = """
import json, logging, os, sys, threading, warnings
before = {
    "env": dict(os.environ),
    "handlers": [str(h) for h in logging.getLogger().handlers],
    "loggers": sorted(logging.Logger.manager.loggerDict),
    "filters": list(warnings.filters),
    "path": list(sys.path),
    "hooks": [sys.excepthook, sys.unraisablehook, threading.excepthook],
}
exec(sys.argv[1])
import opentelemetry.trace
after = {
    "env": dict(os.environ),
    "handlers": [str(h) for h in logging.getLogger().handlers],
    "filters": list(warnings.filters),
    "path": list(sys.path),
    "hooks": [sys.excepthook, sys.unraisablehook, threading.excepthook],
}
heavy = {"numpy", "starlette", "uvicorn", "httpx", "rich", "click", "opentelemetry.sdk", "pypdf", "semchunk", "sqlite3"}
print(json.dumps({
    "changed": [key for key, value in after.items() if value != before[key]],
    "threads": [t.name for t in threading.enumerate() if t is not threading.main_thread()],
    "heavy": sorted(heavy & set(sys.modules)),
    "levels": [n for n in logging.Logger.manager.loggerDict if n.startswith("flowkit") and logging.getLogger(n).level],
    "provider": type(opentelemetry.trace.get_tracer_provider()).__name__,
    "files": sorted(os.listdir()),
}))
"""

IMPORTED = "import flowkit; flowkit.Flowkit; import flowkit.plugin"
MADE = """
from flowkit import Flowkit, Document
ai = Flowkit()
@ai.flow()
def menu(day: int) -> str: return "soup"
@ai.tool()
async def weather(city: str) -> str: return "sunny"
@ai.model()
def model(request) -> str: return ""
@ai.embedder()
def embedder(texts: list[str]): return []
@ai.retriever()
def retriever(query: str): return []
"""
RUN = (
    MADE
    + "import asyncio; assert asyncio.run(menu(1)) == 'soup'; assert ai.run_sync(menu, 1) == 'soup'\n"
    + "ai.run_sync(ai.aclose())"
)


def look(code: str, folder: Path) -> dict[str, object]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCHED, textwrap.dedent(code)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("code", "threads"), [(IMPORTED, []), (MADE, []), (RUN, [])], ids=["import", "make", "run"])
def test_nothing_is_touched(tmp_path: Path, code: str, threads: list[str]):
    assert look(code, tmp_path) == {
        "changed": [],
        "threads": threads,
        "heavy": [],
        "levels": [],
        "provider": "ProxyTracerProvider",
        "files": [],
    }
