"""The helpers of the tests do what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import conftest
from tests.support.offline.sitecustomize import NetworkRefused, is_local

OFFLINE = Path(__file__).parent / "support" / "offline"


def test_a_test_with_a_missing_need_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(conftest.NEEDS, "npm", lambda: False)
    monkeypatch.setattr(conftest, "REQUIRED", "")

    with pytest.raises(pytest.skip.Exception, match="the stock tool: npm is missing on this machine"):
        conftest.require("npm", "the stock tool")


def test_a_required_need_that_is_missing_fails_the_test(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(conftest.NEEDS, "npm", lambda: False)
    monkeypatch.setattr(conftest, "REQUIRED", "browser, npm")

    with pytest.raises(pytest.fail.Exception, match="npm is missing, and FLOWKIT_REQUIRE names it"):
        conftest.require("npm", "the stock tool")


def test_a_need_that_is_there_lets_the_test_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(conftest.NEEDS, "npm", lambda: True)

    conftest.require("npm", "the stock tool")


def test_an_unknown_need_is_refused(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ValueError, match="no need 'nmp'"):
        conftest.require("nmp", "a slip")

    monkeypatch.setattr(conftest, "REQUIRED", "nmp")
    with pytest.raises(pytest.UsageError, match="FLOWKIT_REQUIRE names nmp"):
        conftest.required()


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "", None, "app.localhost", b"localhost"]
)
def test_this_machine_is_local(host: object):
    assert is_local(host)


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "192.168.1.1", "2001:db8::1", "localhost.example.com"])
def test_other_machines_are_not(host: object):
    assert not is_local(host)


def test_a_test_cannot_reach_the_network():
    import socket

    with pytest.raises(NetworkRefused, match="tests stay on this machine"):
        socket.create_connection(("192.0.2.1", 80), timeout=0.1)
    with pytest.raises(NetworkRefused):
        socket.getaddrinfo("example.com", 80)


def test_a_process_of_a_test_cannot_either():
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=0.1)"
    run = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(OFFLINE)}, capture_output=True, text=True)

    assert run.returncode == 1
    assert "tests stay on this machine" in run.stderr
