"""The docs are followed to the letter: what a page shows and is not so, is found."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.console import ConsoleError, matches, steps_of
from tests.support.markdown import MarkdownError, blocks_of
from tests.support.page import Page, PageError


def follow(text: str, tmp_path: Path) -> Path:
    """Follow a page; returns its project folder."""
    page_path, folder = tmp_path / "page.md", tmp_path / "project"
    page_path.write_text(text, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with Page(page_path, folder, {"PATH": path, "PYTHONPATH": ""}) as page:
        page.run()
    return folder


def fenced(language: str, text: str, before: str = "") -> str:
    return f"# A page\n\n{before}\n```{language}\n{text}\n```\n"


def test_blocks_are_found_with_language_title_and_line():
    page = '# Title\n\n```python title="app.py"\nx = 1\n```\n\n- in a list:\n\n  ~~~console\n  $ make help\n  ~~~\n'

    first, second = blocks_of(page)

    assert (first.language, first.title, first.text, first.line) == ("python", "app.py", "x = 1", 4)
    assert (second.language, second.title, second.text, second.line) == ("console", None, "$ make help", 10)


def test_a_longer_fence_holds_a_shorter_one():
    (block,) = blocks_of("````text\n```python\nx\n```\n````\n")

    assert block.text == "```python\nx\n```"


def test_comments_before_a_block_are_its_orders_and_need_a_reason():
    page = "<!-- not run: needs a key -->\n<!-- needs npm: stock tools -->\n<!-- exits 2 -->\n\n```console\n$ x\n```\n"

    (block,) = blocks_of(page)

    assert (block.not_run, block.needs, block.exits) == ("needs a key", {"npm": "stock tools"}, 2)
    with pytest.raises(MarkdownError, match="say why"):
        blocks_of("<!-- not run -->\n```python\nx\n```\n")


def test_a_comment_counts_for_the_next_block_only():
    first, second = blocks_of("<!-- not run: a -->\n```python\nx\n```\n```python\ny\n```\n")
    (third,) = blocks_of("<!-- not run: a -->\nOther text.\n```python\nx\n```\n")

    assert (first.not_run, second.not_run, third.not_run) == ("a", None, None)


def test_an_open_block_is_an_error():
    with pytest.raises(MarkdownError, match="line 3: the block is not closed"):
        blocks_of("a\n\n```python\nx = 1\n")


def test_console_blocks_hold_commands_and_what_they_show():
    first, second = steps_of("$ flowkit flow:run menuQA \\\n    'What is vegan?'\nThe pie.\n\n$ flowkit --version")

    assert (first.command, first.shown) == ("flowkit flow:run menuQA 'What is vegan?'", "The pie.")
    assert (second.command, second.shown, second.line) == ("flowkit --version", "", 4)
    with pytest.raises(ConsoleError, match="begins with"):
        steps_of("flowkit --version")


@pytest.mark.parametrize(
    ("shown", "output"),
    [
        ("a\nb", "a\nb\n"),
        ("took … ms", "took 12.5 ms\n"),
        ("first\n…\nlast", "first\nx\ny\nlast\n"),
        ("first\n…\nlast", "first\nlast\n"),
        ("…", ""),
        ("a", "\x1b[1ma\x1b[0m   \n\n"),
        ("(a+b)*", "(a+b)*"),
    ],
)
def test_what_is_shown_may_leave_parts_open(shown: str, output: str):
    assert matches(shown, output)


@pytest.mark.parametrize(
    ("shown", "output"), [("a", "a\nb"), ("a\nb", "a"), ("took … ms", "took 1 s"), ("x\n…", "y\nx")]
)
def test_what_is_shown_and_is_not_so_does_not_match(shown: str, output: str):
    assert not matches(shown, output)


@pytest.mark.heavy
def test_python_blocks_share_a_namespace_and_may_await(tmp_path: Path):
    follow(
        fenced("python", "import asyncio\nasync def f(x: int) -> int:\n    await asyncio.sleep(0)\n    return x + 1")
        + fenced("python", "y = await f(1)\nprint(y)")
        + fenced('text title="output"', "2"),
        tmp_path,
    )


@pytest.mark.heavy
def test_a_failing_block_points_at_its_line(tmp_path: Path):
    with pytest.raises(PageError) as caught:
        follow(fenced("python", "x = 1\nx / 0"), tmp_path)

    assert str(caught.value).startswith("page.md:5: ")
    assert 'page.md", line 6' in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)


@pytest.mark.heavy
def test_another_output_than_shown_is_found(tmp_path: Path):
    with pytest.raises(PageError, match="the block printed\n2"):
        follow(fenced("python", "print(2)") + fenced('text title="output"', "3"), tmp_path)
    with pytest.raises(PageError, match="directly after the Python block"):
        follow(fenced('text title="output"', "3"), tmp_path)


@pytest.mark.heavy
def test_titled_blocks_become_files_that_later_blocks_use(tmp_path: Path):
    folder = follow(
        fenced('python title="lib/app.py"', 'NAME = "menu"\nprint("ready")')
        + fenced('markdown title="docs/a.md"', "# Hello")
        + fenced("python", "from lib.app import NAME\nassert NAME == 'menu'")
        + fenced(
            "console",
            "$ cd lib\n$ python app.py\nready\n$ cd ..\n$ python -c 'print(open(\"docs/a.md\").read())'\n# Hello",
        ),
        tmp_path,
    )

    assert (folder / "docs" / "a.md").read_text() == "# Hello\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (fenced('python title="app.py"', "raise SystemExit(3)"), "ended with 3"),
        (fenced('python title="../app.py"', "x = 1"), "not in the project folder"),
        (fenced("python", "x = (", "<!-- not run: needs a key -->"), "no Python"),
        (fenced("console", "$ python -c 'print(1)'\n2"), "showed\n1"),
        (fenced("console", "$ python -c 'raise SystemExit(2)'"), "ended with 2"),
        (fenced("console", "$ rm -r x"), "the docs run"),
        (fenced("console", "$ cd nowhere"), "no folder 'nowhere'"),
        (fenced("console", "$ make nonsense"), "no make target 'nonsense'"),
        (fenced("console", "$ pip install flowkit-nonsense"), "no package 'flowkit-nonsense'"),
        (fenced("console", '$ pip install "flowkit-ai[nonsense]"'), "no extra nonsense"),
        (fenced("bash", "make test"), "a block of 'bash' cannot be run"),
        (fenced("json", "{"), "Expecting"),
        (fenced("toml", "a ="), "Invalid value"),
    ],
)
@pytest.mark.heavy
def test_what_is_not_so_is_found(page: str, message: str, tmp_path: Path):
    with pytest.raises(PageError, match=message):
        follow(page, tmp_path)


@pytest.mark.heavy
def test_what_is_so_passes(tmp_path: Path):
    follow(
        fenced("console", '$ pip install "flowkit-ai[easy]" flowkit-devstore\n$ make test\n… passed')
        + fenced("console", "$ X=1 python -c 'import os; print(os.environ[\"X\"])'\n1")
        + fenced("console", "$ python -c 'raise SystemExit(2)'", "<!-- exits 2 -->")
        + fenced("python", "unknown()", "<!-- not run: needs a key -->")
        + fenced("text", "a picture")
        + fenced("json", '{"a": 1}'),
        tmp_path,
    )


@pytest.mark.heavy
def test_a_server_runs_until_the_page_ends(tmp_path: Path):
    code = "import signal, time; print('serving http://127.0.0.1:9', flush=True); signal.sigwait([signal.SIGINT])"
    text = fenced('python title="server.py"', code, "<!-- not run: it serves -->")
    text += fenced("console", "$ python server.py &\nserving http://…")

    follow(text, tmp_path)

    with pytest.raises(PageError, match="ended"):
        follow(fenced("console", "$ python -c 'print(1)' &\nserving"), tmp_path)


@pytest.mark.heavy
def test_what_a_server_shows_may_come_in_any_order(tmp_path: Path):
    code = "import signal; print('b', flush=True); print('a', flush=True); signal.sigwait([signal.SIGINT])"
    page = fenced('python title="server.py"', code, "<!-- not run: it serves -->")

    follow(page + fenced("console", "$ python server.py &\na\nb"), tmp_path)
