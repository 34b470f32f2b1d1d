"""Values of 5 MB: as a flow's input from a file and a pipe, as a document, as a query, in traces."""

import pytest

from tests.faults.conftest import Menu

pytestmark = pytest.mark.heavy

SIZE = 5_000_000


def test_an_input_of_5_mb_goes_through_the_command_line_and_into_the_trace(menu: Menu):
    text = "süß " * (SIZE // 5)
    menu.write("big.txt", text)

    from_file = menu.run("flow:run", "length", "@big.txt")
    assert (from_file.code, from_file.out) == (0, f"{len(text)}\n")
    from_pipe = menu.run("flow:run", "say", "-", "--output", "out.json", stdin=text)
    assert from_pipe.code == 0
    assert from_pipe.out.rstrip("\n") == text.rstrip("\n")
    assert (menu.folder / "out.json").stat().st_size > SIZE
    listed = menu.run("trace:list")
    assert listed.code == 0
    assert len(listed.out) < 5000
    whole = menu.run("trace:get", "latest", "--json")
    assert whole.out.count(text[:40_000]) >= 2, "input and output are kept whole"


def test_a_document_of_5_mb(menu: Menu):
    words = "dish00000 " + "soup " * (SIZE // 5)
    menu.write("menu.txt", words + "\n" + "dish00001 bread\n")

    run = menu.run("flow:run", "indexMenu", '"menu.txt"')
    assert (run.code, run.out) == (0, "2\n")
    assert menu.indexed() == [0, 1]
    menu.write("query.txt", words)
    asked = menu.run("flow:run", "menuQA", "@query.txt")
    assert asked.code == 0
    assert len(asked.out) > SIZE
    assert menu.run("flow:run", "indexMenu", '"menu.txt"').out == "0\n"
    assert menu.run("store:list").code == 0


def test_an_error_that_names_5_mb_is_a_line(menu: Menu):
    menu.write(
        "app.py",
        (menu.folder / "app.py").read_text()
        + "\n\n@ai.flow\nasync def fail(text: str) -> str:\n    raise ValueError(text)\n",
    )
    menu.write("big.txt", "x" * SIZE)

    run = menu.run("flow:run", "fail", "@big.txt")

    assert run.code == 1
    assert len(run.err) < 2000
    refused = menu.run("flow:run", "indexMenu", "@big.txt")
    assert refused.code in (1, 2)
    assert len(refused.err) < 2000
    assert menu.run("trace:get", "latest").code == 0
