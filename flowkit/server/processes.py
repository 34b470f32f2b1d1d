"""What differs between operating systems about processes and ports, in one place.

is_alive(4711)
socket = listen_near(3100)
"""

import errno
import os
import socket
import sys

__all__ = ["is_alive", "listen_near", "listen_on"]

_TRIES = 100


def is_alive(pid: int) -> bool:
    """True when there is a process of that id, whoever owns it."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_alive_on_windows(pid: int) -> bool:
    """os.kill would end the process there."""
    import ctypes

    query_limited_information, still_active = 0x1000, 259
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  not there on other systems, which mypy checks for
    handle = kernel.OpenProcess(query_limited_information, False, pid)
    if not handle:
        return False
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == still_active


def listen_near(port: int, *, host: str = "127.0.0.1") -> socket.socket:
    """A listening socket on the first free port from `port` on; after a hundred, on any.

    It is bound before anybody is told the port, so two processes that start together get two ports.
    """
    for number in [*range(port, port + _TRIES), 0]:
        try:
            return listen_on(number, host=host)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
    raise OSError(errno.EADDRINUSE, f"no port is free on {host}")


def listen_on(port: int, *, host: str) -> socket.socket:
    """A listening socket on that port.

    Raises:
        OSError: it is taken, or not allowed; or the host is not of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol asyncio does not switch Nagle's algorithm off, and each answer takes 40 ms longer.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform == "win32":  # where SO_REUSEADDR would let two listen on one port
            found.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE"), 1)  # noqa: B009
        else:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(100)
    except OSError:
        found.close()
        raise
    return found
