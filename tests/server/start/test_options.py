"""Options of `flowkit start` that are refused before anything is started."""

import pytest

from flowkit.cli.main import main
from flowkit.cli.start import start


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "add --token"),
        (["--host", "192.168.1.5"], "add --token"),
        (["--host", "box.example"], "add --token"),
        (["--host", "::", "--token"], "--allow-host"),
        (["--allow-host", "*"], "is no host name"),
        (["--allow-host", "*.example.com"], "is no host name"),
        (["--allow-host", "https://dev.example.com"], "is no host name"),
        (["--allow-origin", "*"], "is no origin"),
        (["--allow-origin", "null"], "is no origin"),
        (["--allow-origin", "https://dev.example.com/"], "is no origin"),
        (["--allow-origin", "https://a.*.dev"], "is no origin"),
        (["--port", "0"], "--port"),
        (["--port", "65536"], "--port"),
        (["app.py", "uvicorn"], "uvicorn"),
        (["--"], "no command after --"),
        (["app.py", "--", "python", "app.py"], "an APP and a COMMAND"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]):
    assert main(["start", *arguments]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "app", "token", "command"),
    [
        ([], None, None, []),
        (["--token"], None, "", []),
        (["--token", "app.py"], "app.py", "", []),
        (["--token", "shop.flows:ai"], "shop.flows:ai", "", []),
        (["--token", "s3cret", "app.py"], "app.py", "s3cret", []),
        (["--token=s3cret"], None, "s3cret", []),
        (["--token", "--", "python", "-m", "x", "--token"], None, "", ["python", "-m", "x", "--token"]),
        (["--", "node", "app.js", "--", "-v"], None, None, ["node", "app.js", "--", "-v"]),
    ],
)
def test_a_token_needs_no_value_and_a_command_keeps_its_own_options(
    arguments: list[str], app: str | None, token: str | None, command: list[str]
):
    context = start.make_context("flowkit start", list(arguments))

    assert (context.params["app"], context.params["token"], context.obj) == (app, token, command)
