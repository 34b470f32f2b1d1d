"""Runs one command, and ends it with everything that it has started when whoever asked for it is gone.

    python -I -S guardian.py REPORT_FD GRACE_SECONDS COMMAND [ARGUMENT…]

stdin is the life line. A "t" on it, or its end (whoever held it was killed), gives the command SIGTERM, and SIGKILL
after GRACE_SECONDS; a "k" means SIGKILL at once. JSON lines go to REPORT_FD: {"pid"}, then {"exit"} (negative: a
signal). The guardian ends when nothing of the command is left.

It is a program of its own, without anything of flowkit, so that it starts in an instant and cannot fail with the app.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

__all__ = ["main"]

_LOOK_SECONDS = 0.02


def main(arguments: list[str]) -> int:
    report_fd, grace_seconds, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    guardian = _Guardian(report_fd, grace_seconds)
    if sys.platform == "win32":
        return guardian.run_on_windows(command)
    return guardian.run(command)


class _Guardian:
    def __init__(self, report_fd: int, grace_seconds: float) -> None:
        self._report_fd = report_fd
        self._grace = grace_seconds
        self._group = 0
        self._kill_at: float | None = None
        self._told: set[int] = set()

    def run(self, command: list[str]) -> int:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the supervisor's to understand
        signal.signal(signal.SIGTERM, lambda number, frame: self._end(self._grace))
        adopts = _adopt_orphans()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
        except OSError as error:
            self._report(failed=f"{command[0]}: {error.strerror}")
            return 127
        self._group = child.pid
        self._report(pid=child.pid)
        _let_go_of_output()
        threading.Thread(target=self._hold_life_line, daemon=True).start()
        self._reap(child, adopts=adopts)
        return 0

    def _reap(self, child: "subprocess.Popen[bytes]", *, adopts: bool) -> None:
        """Wait for the command, then for all that it has left behind."""
        exited = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG if exited or self._kill_at is not None else 0)
            except ChildProcessError:
                break
            except InterruptedError:
                continue
            if pid == child.pid:
                exited = True
                child.returncode = os.waitstatus_to_exitcode(status)
                self._report(exit=child.returncode)
                self._end(self._grace)
            elif not pid:
                self._press(adopts=adopts)
                time.sleep(_LOOK_SECONDS)
        while not adopts and self._signal_group(signal.SIGKILL if self._overdue() else 0):
            time.sleep(_LOOK_SECONDS)

    def _hold_life_line(self) -> None:
        while True:
            told = os.read(0, 1)
            self._end(0.0 if told == b"k" else self._grace)
            if not told:
                return

    def _end(self, grace_seconds: float) -> None:
        """SIGTERM now, SIGKILL later. In any thread; the wait in the main thread ends with the command."""
        kill_at = time.monotonic() + grace_seconds
        if self._kill_at is None or kill_at < self._kill_at:
            self._kill_at = kill_at
        self._signal_group(signal.SIGTERM if grace_seconds else signal.SIGKILL)
        if grace_seconds:
            late = threading.Timer(grace_seconds, self._signal_group, (signal.SIGKILL,))
            late.daemon = True
            late.start()

    def _press(self, *, adopts: bool) -> None:
        """Something is left: in the command's group, or among the orphans that have come to us."""
        overdue = self._overdue()
        if overdue:
            self._signal_group(signal.SIGKILL)
        for pid in _children() if adopts else ():
            if overdue or pid not in self._told:
                self._told.add(pid)
                _signal(pid, signal.SIGKILL if overdue else signal.SIGTERM)

    def _overdue(self) -> bool:
        return self._kill_at is not None and time.monotonic() >= self._kill_at

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self._group, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _report(self, **facts: object) -> None:
        if self._report_fd < 0:
            return
        try:
            os.write(self._report_fd, json.dumps(facts).encode() + b"\n")
        except OSError:  # nobody listens any more
            return

    def run_on_windows(self, command: list[str]) -> int:
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, creationflags=flags)
        except OSError:
            return 127

        def hold() -> None:
            os.read(0, 1)
            end = ["taskkill", "/PID", str(child.pid), "/T", "/F"]
            subprocess.run(end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

        threading.Thread(target=hold, daemon=True).start()
        return child.wait()


def _adopt_orphans() -> bool:
    """On Linux: descendants that lose their parent become our children, also those that left group and session."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        set_child_subreaper = 36
        return bool(ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _children() -> list[int]:
    own, found = os.getpid(), []
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib takes longer to import than the rest together
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    # The name in parentheses may hold anything, so what follows its last one counts.
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == own:
                found.append(int(name))
    return found


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _let_go_of_output() -> None:
    """The command's pipes must close with the command."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
