"""A Chroma server for the tests of the plugin: one for the whole run, an index of its own for each test."""

import itertools
import os
from collections.abc import Iterator

import pytest

from tests.servers.chroma import ChromaServer

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer.started(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture
def index() -> str:
    """The name of an index that nobody else uses."""
    return f"menu-{os.getpid()}-{next(NUMBERS)}"
