"""A door before a Postgres server that breaks the connection at a COMMIT: before it arrives, or after it was done.

async with cut_at_commit(dsn, folder, when="after") as door: PgVector("menu", dsn=door.dsn)
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

__all__ = ["Door", "cut_at_commit"]

SOCKET = ".s.PGSQL.5432"


class Door:
    """`cuts` says how many commits are still to be broken, `broken` how many were."""

    def __init__(self, dsn: str, server: Path, when: Literal["before", "after"]) -> None:
        self.dsn = dsn
        self.cuts = 0
        self.broken = 0
        self._server = server
        self._when = when

    async def pass_through(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(self._server)
        back = asyncio.create_task(self._copy(far_reader, writer))
        try:
            while data := await reader.read(65536):
                if self.cuts == 0 or b"COMMIT" not in data:
                    far_writer.write(data)
                    continue
                self.cuts -= 1
                self.broken += 1
                back.cancel()
                await asyncio.wait([back])
                if self._when == "after":
                    far_writer.write(data)
                    await far_reader.read(65536)  # the server's answer, which nobody will see
                break
        finally:
            back.cancel()
            for each in (writer, far_writer):
                each.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()


@asynccontextmanager
async def cut_at_commit(dsn: str, folder: Path, *, when: Literal["before", "after"]) -> AsyncIterator[Door]:
    host = str(conninfo_to_dict(dsn)["host"])
    door = Door(make_conninfo(dsn, host=str(folder)), Path(host) / SOCKET, when)
    server = await asyncio.start_unix_server(door.pass_through, folder / SOCKET)
    try:
        yield door
    finally:
        server.close()
