"""The socket that the dev server listens on."""

import asyncio
import socket

import pytest

from flowkit.server.start.ports import listen
from tests.server.start.conftest import free_port


@pytest.mark.parametrize("asked", [True, False], ids=["the port that was asked for", "the next free one"])
async def test_small_answers_are_sent_at_once(asked: bool):
    """With Nagle's algorithm each of them would wait some 40 ms for the other side's acknowledgement."""
    delays: list[bool] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        delays.append(not connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listening = listen(host="127.0.0.1", port=free_port() if asked else None)
    async with await asyncio.start_server(answer, sock=listening):
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        await reader.read()
        writer.close()

    assert delays == [False]
