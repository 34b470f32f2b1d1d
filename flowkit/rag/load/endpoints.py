"""The hosts behind clouds: whether one can be reached, asked before a package tries to for a minute or more.

check_endpoint(endpoint_of("s3", files), "s3://bucket/docs")
"""

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from flowkit.errors import BackendError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["check_endpoint", "endpoint_of"]

_PATIENCE_SECONDS = 5.0
"""For one address of the host."""
_TRIES = 2


def endpoint_of(scheme: str, files: "AbstractFileSystem") -> str:
    """The URL that a file system sends its requests to. Blocks."""
    if scheme == "gs":
        return str(files.base)
    if scheme == "az":
        return str(files.service_client.url)
    files.connect()
    return str(files.s3.meta.endpoint_url)


def check_endpoint(url: str, root: str) -> None:
    """Connect to the host, and hang up. What goes through a proxy is left to those who know it. Blocks.

    Raises:
        BackendError: nobody is there.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if {parts.scheme, "all"} & getproxies().keys() and not proxy_bypass(host):
        return
    for left in reversed(range(_TRIES)):
        try:
            address = (host, parts.port or (80 if parts.scheme == "http" else 443))
            socket.create_connection(address, timeout=_PATIENCE_SECONDS).close()
            return
        except (OSError, UnicodeError) as error:
            if not left:
                reason = getattr(error, "strerror", None) or error
                raise BackendError(
                    f"{root!r} cannot be reached: {host}: {reason}",
                    hint="check the network, and endpoint_url= where it is set",
                    status="UNAVAILABLE",
                ) from error
