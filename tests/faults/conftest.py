"""A project whose index, cache and traces are put through faults, and what plays the faults.

def test_a_run(menu): assert menu.process("flow:run", "indexMenu", menu.lines(30)).out == "30\\n"
"""

import asyncio
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from flowkit import Document
from flowkit.errors import NotFoundError
from flowkit_devstore import DevStore
from tests.cli.conftest import Project, Run

APP = '''
"""An index of numbered lines, whose embedder keeps a log of the texts that it was given."""
import asyncio
import os
import time
from pathlib import Path

from flowkit import Document, Flowkit
from flowkit.plugin import EmbedderInfo
from flowkit_devstore import DevStore

HERE = Path(__file__).parent
ai = Flowkit(plugins=[DevStore("menu", embedder="numbers")])


@ai.embedder("numbers", info=EmbedderInfo(label="Numbers", dimensions=64, max_batch_size=10, revision="1"))
async def numbers(texts: list[str]) -> list[list[float]]:
    """Vectors that follow from the texts alone."""
    await asyncio.sleep(float(os.environ.get("EMBED_SECONDS", "0")))
    log = os.open(HERE / "embedded.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(log, "".join(f"{text.split()[0]}\\n" for text in texts).encode())
    os.close(log)
    return [[1.0 + (hash_of(text) >> at) % 7 for at in range(64)] for text in texts]


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode()[:9], "big") * 2654435761 % 2**64


@ai.flow("indexMenu")
async def index_menu(path: Path) -> int:
    """Index a file, a document for each line; returns how many were new."""
    lines = (HERE / path).read_text(encoding="utf-8").splitlines()
    return (await ai.index("menu", [Document.from_text(line, {"source": path.name}) for line in lines])).written


@ai.flow("menuQA")
async def menu_qa(question: str) -> list[str]:
    return [hit.text for hit in await ai.retrieve("menu", question, k=3)]


@ai.flow
async def say(text: str) -> str:
    return text


@ai.flow
async def length(text: str) -> int:
    return len(text)


@ai.flow
async def big(text: str) -> str:
    return text * 40_000
'''


_RESTRICTED = """
import json, os, sys, tempfile, warnings
from flowkit.cli.main import main
runs = []
before = os.dup(1)
for arguments in json.loads(sys.argv[1]):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        runs.append((code, out.read().decode(), err.read().decode()))
os.write(before, json.dumps(runs).encode())
"""


class Menu(Project):
    """The project, with its index looked at from outside."""

    def lines(self, count: int, *, chars: int = 200, name: str = "menu.txt") -> str:
        """A file of numbered lines; returns its name."""
        self.write(name, "".join(f"dish{number:05d} {'soup ' * (chars // 5)}\n" for number in range(count)))
        return name

    def embedded(self) -> list[str]:
        """Every text that the embedder was given, in order."""
        log = self.folder / "embedded.log"
        return log.read_text(encoding="utf-8").split() if log.exists() else []

    def forget_embedded(self) -> None:
        (self.folder / "embedded.log").unlink(missing_ok=True)

    def indexed(self) -> list[int]:
        """The numbers of all documents in the index, each looked at; none when there is no index."""
        return asyncio.run(_numbers(self.folder / ".flowkit" / "indexes"))

    def restricted(self, *commands: tuple[str, ...]) -> list[Run]:
        """Commands, one after the other, in one process that obeys file modes."""
        done = subprocess.run(
            [sys.executable, "-c", _RESTRICTED, json.dumps(commands)],
            cwd=self.folder,
            env={**os.environ, **self.cached, "FLOWKIT_ENV": "dev", "FLOWKIT_TRACES": "1"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            preexec_fn=without_overrides,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return [Run(*each) for each in json.loads(done.stdout)]

    def script(self, name: str, *arguments: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
        """A program of the project, with its output as a pipe."""
        process = subprocess.Popen(
            [sys.executable, name, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def clear(self) -> None:
        """Empty the index."""
        asyncio.run(_clear(self.folder / ".flowkit" / "indexes"))

    @property
    def cached(self) -> Mapping[str, str]:
        """The environment of a run that has the embedding cache."""
        return {"FLOWKIT_EMBEDDING_CACHE": "1"}


async def _numbers(folder: Path) -> list[int]:
    store = DevStore("menu", folder=folder)
    try:
        await store.open(create=False)
    except NotFoundError:
        return []
    numbers: list[int] = []
    cursor = None
    while True:
        page = await store.fetch(limit=500, cursor=cursor, with_vectors=True)
        for item in page.items:
            assert item.vector is not None
            assert len(item.vector) == 64
            numbers.append(number_of(item.document))
        cursor = page.cursor
        if cursor is None:
            break
    assert (await store.stats()).count == len(numbers)
    await store.aclose()
    return sorted(numbers)


async def _clear(folder: Path) -> None:
    store = DevStore("menu", folder=folder)
    await store.open(create=False)
    await store.clear()
    await store.aclose()


def number_of(document: Document) -> int:
    return int(document.text[4:9])


@pytest.fixture
def menu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Menu]:
    made = Menu(tmp_path, monkeypatch, capfd)
    made.write("pyproject.toml", '[project]\nname = "menu"\n')
    made.write("app.py", APP)
    yield made
    made.stop()


Mount = Callable[[Path, int], Path]


@pytest.fixture
def small_disk() -> Iterator[Mount]:
    """Puts a file system of so many kB at a folder; mounting again over it changes its size."""
    mounted: list[Path] = []

    def mount(folder: Path, size_kb: int) -> Path:
        folder.mkdir(exist_ok=True, mode=0o700)
        options = f"size={size_kb}k,mode=700"
        if folder in mounted:
            subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
            return folder
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("a full disk is played with a small tmpfs, which only root on Linux may mount")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path, *, leave_kb: int = 0) -> Path:
    """Fill a file system up to so many kB; returns the file that does it."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
        if leave_kb:
            file.truncate(max(0, file.tell() - leave_kb * 1024))
    return ballast


_DROP_FROM_BOUNDING_SET = 24
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def without_overrides() -> None:
    """For `preexec_fn`: root obeys file modes from the next program on, as anybody does. For others it changes nothing.

    Another user would do as well, were the interpreter always in a folder that every user can enter.
    """
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _OVERRIDES:
            if libc.prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0) != 0:
                os._exit(77)


def one_error(run: Run) -> tuple[str, str]:
    """The error and the hint of a failed command, which are a line each."""
    lines = [line for line in run.err.splitlines() if not line.startswith("Trace ID: ")]
    assert run.out == ""
    assert "Traceback" not in run.err
    assert len(lines) == 2, run.err
    error, hint = lines
    assert error.startswith("Error: ")
    assert hint.startswith("Hint:  ")
    return error[7:], hint[7:]
