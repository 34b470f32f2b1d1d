"""Arrays as vectors of the database, and back: the bytes as they are, where the pgvector package makes objects between.

register_arrays(connection)
"""

import struct
from typing import Any

import numpy as np
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format

from flowkit_pgvector.rows import Float32

__all__ = ["register_arrays"]

_HEAD = struct.Struct(">HH")
"""The dimension, and two bytes of nothing; float32 in network order follow. (vector_send in pgvector's vector.c)"""


def register_arrays(connection: AsyncConnection[Any]) -> None:
    """On a connection that knows the type `vector`."""
    oid = connection.adapters.types["vector"].oid
    connection.adapters.register_dumper(np.ndarray, type("_VectorDumper", (_Dumper,), {"oid": oid}))
    connection.adapters.register_loader(oid, _Loader)


class _Dumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Float32) -> bytes:
        return _HEAD.pack(len(obj), 0) + obj.astype(">f4").tobytes()


class _Loader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Float32:
        return np.frombuffer(data, dtype=">f4", offset=_HEAD.size).astype(np.float32)
