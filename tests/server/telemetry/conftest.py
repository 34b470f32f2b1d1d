"""The telemetry API of a project, on a real port."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.dev_server import Browser, dev_server


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    async with dev_server(tmp_path) as browser:
        yield browser
