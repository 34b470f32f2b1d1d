"""A Chroma server for the tests of the plugin: one for the whole run, an index of its own for each test."""

import itertools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.chroma import ChromaServer

NUMBERS = itertools.count()
MEMORY = Path("/dev/shm")


@contextmanager
def quick_folder() -> Iterator[Path]:
    """In memory where the system has such a place: Chroma waits for the disk at every write."""
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="flowkit-chroma-", dir=where, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def server() -> Iterator[ChromaServer]:
    with quick_folder() as folder, ChromaServer.started(folder) as server:
        yield server


@pytest.fixture
def index() -> str:
    """The name of an index that nobody else uses."""
    return f"menu-{os.getpid()}-{next(NUMBERS)}"
