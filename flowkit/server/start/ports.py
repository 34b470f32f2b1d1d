"""The port that `flowkit start` listens on: bound before anybody is told of it.

socket = listen(host="127.0.0.1", port=None)          # the first free one from 4100 on
"""

import errno
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from flowkit.errors import ConfigError
from flowkit.server.processes import listen_near, listen_on

__all__ = ["FIRST_PORT", "listen", "port_holder"]

FIRST_PORT = 4100


def listen(*, host: str, port: int | None, first_port: int = FIRST_PORT) -> socket.socket:
    """A listening socket on `port`; without one, on the first free port.

    Raises:
        ConfigError: the port that was asked for is taken, by whom it says; or the host is not of this machine.
    """
    try:
        if port is None:
            return listen_near(first_port, host=host)
        return listen_on(port, host=host)
    except OSError as error:
        if port is not None and error.errno == errno.EADDRINUSE:
            holder = port_holder(port)
            what = f"port {port} is taken by {holder}" if holder else f"port {port} is taken by another program"
            raise ConfigError(what, hint="end it, or leave --port out to use the next free one") from None
        if port is not None and error.errno == errno.EACCES:
            raise ConfigError(f"port {port} needs special rights", hint="use one above 1023") from None
        raise ConfigError(
            f"cannot listen on {host}: {error.strerror or error}", hint="is it of this machine?"
        ) from None


def port_holder(port: int) -> str | None:
    """Who listens on a port, as `flowkit start (process 4711 in ~/shop)`; None when that cannot be found out."""
    pid = _pid_on_linux(port) if sys.platform.startswith("linux") else _pid_by_lsof(port)
    return None if pid is None else _described(pid)


def _pid_on_linux(port: int) -> int | None:
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            listens = "0A"
            if fields[3] == listens and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    if not inodes:
        return None
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                if any(str(file.readlink()) in inodes for file in (process / "fd").iterdir()):
                    return int(process.name)
            except OSError:  # another user's, or gone
                continue
    return None


def _pid_by_lsof(port: int) -> int | None:
    lsof = shutil.which("lsof")
    if lsof is None:
        return None
    try:
        asked = [lsof, "-nP", "-t", f"-iTCP:{port}", "-sTCP:LISTEN"]
        found = subprocess.run(asked, capture_output=True, text=True, timeout=3, check=False).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return int(found[0]) if found and found[0].isdecimal() else None


def _described(pid: int) -> str:
    if pid == os.getpid():
        return "this very process"
    folder = Path(f"/proc/{pid}")
    try:
        words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
        where = str((folder / "cwd").readlink())
    except OSError:
        return f"process {pid}"
    home = str(Path.home())
    where = f"~{where[len(home) :]}" if where == home or where.startswith(home + os.sep) else where
    return f"{_command(words)} (process {pid} in {where})"


def _command(words: list[str]) -> str:
    """A command line as its user would say it: without the interpreter's path, and not too long."""
    names = [Path(word).name if number < 2 and "/" in word else word for number, word in enumerate(words)]
    if len(names) > 1 and re.fullmatch(r"python[\d.]*", names[0]) and names[1] in ("flowkit", "uvicorn", "genkit"):
        names = names[1:]
    elif names[1:3] == ["-m", "flowkit"]:
        names = names[2:]
    text = " ".join(names) or "a process"
    return text if len(text) <= 60 else text[:59] + "…"
