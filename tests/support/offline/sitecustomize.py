"""No network in tests: connecting anywhere but this machine raises, and says so.

PYTHONPATH=tests/support/offline python …     # every Python process that a test starts
offline.refuse_the_network()                  # the process of the tests themselves, see tests/conftest.py
"""

import sys

LOCAL_NAMES = {"", "localhost", "0.0.0.0", "::", "::1"}
# Reserved names that never resolve: tests of unreachable hosts use them.
RESERVED_ENDINGS = (".localhost", ".invalid", ".test")


class NetworkRefused(RuntimeError):
    """A test reached for the network."""


def is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None:
        return True
    if not isinstance(host, str):
        return False
    host = host.strip("[]").lower().rstrip(".")
    return host in LOCAL_NAMES or host.startswith("127.") or host.endswith(RESERVED_ENDINGS)


def check(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        # An internet address is a tuple; a unix socket's is a path.
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if not is_local(host):
        raise NetworkRefused(f"{event} to {host!r}: tests stay on this machine")


def refuse_the_network() -> None:
    """From now on, in this process. An audit hook stays until the process ends."""
    sys.addaudithook(check)


if __name__ == "sitecustomize":
    refuse_the_network()
