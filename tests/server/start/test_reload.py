"""Hot reload: what changes is seen, what breaks is shown, what is mended comes back."""

import os
import sys

import pytest

from tests.server.start.conftest import APP, Project, Started

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform == "win32", reason="processes of POSIX"),
]


def test_one_address_is_shown_when_the_app_is_ready(shared: tuple[Project, Started]):
    _, started = shared

    status = started.wait_for("running")
    assert started.run("hello", "Ada") == "hello Ada"
    assert (status["app"], status["restarts"], status["error"]) == ("app.py", 0, None)
    assert status["pid"] == status["runtime"]["pid"] == started.run("where")
    assert status["url"] == started.url
    assert started.get("/api/__health").body == b"OK"
    assert started.err.count("http://") == 1
    assert "✓ app.py ready in " in started.err


def test_what_the_app_prints_and_logs_goes_through(shared: tuple[Project, Started]):
    _, started = shared
    started.wait_for("running")

    assert started.out == "to stdout\n"
    assert "to stderr\n" in started.err


def test_the_developers_settings_do_not_reach_the_app(shared: tuple[Project, Started]):
    _, started = shared

    found = started.run("env")
    assert found["GENKIT_ENV"] == "dev"
    assert found["GENKIT_TELEMETRY_SERVER"] == started.url
    assert "GENKIT_RUNTIME_ID" not in found
    assert "GENKIT_REFLECTION_V2_SERVER" not in found


def test_traces_of_the_app_are_kept_for_the_command_line(shared: tuple[Project, Started]):
    project, started = shared
    started.run("hello", "Ada")

    assert "hello" in project.run("trace:list").stdout


def test_changed_new_and_deleted_files_restart_the_app(project: Project):
    started = project.start()
    first = started.wait_for("running")["pid"]

    project.write("app.py", APP.replace("hello {name}", "bonjour {name}"))
    assert started.wait_for("running", 1)["pid"] != first
    assert started.run("hello", "Ada") == "bonjour Ada"

    project.write("menu/prices.py", "SOUP = 7\n")
    project.write("app.py", APP + "\nfrom menu.prices import SOUP\nai.flow('price')(lambda: SOUP)\n")
    started.wait_for("running", 2)
    assert started.run("price") == 7

    restarts = started.status["restarts"]
    project.write("prompts/greet.prompt", "Say hello")
    changed = started.wait_for("running", restarts + 1)["changed"]
    assert changed == ["prompts/greet.prompt"]
    project.write("menu/settings.yaml", "a: 1")
    started.wait_for("running", restarts + 2)

    (project.folder / "menu" / "prices.py").unlink()
    error = started.wait_for("failed", restarts + 3)["error"]
    assert error["message"] == "ModuleNotFoundError: No module named 'menu.prices'"
    assert "↻ menu/prices.py changed" in started.err


def test_what_is_not_source_does_not_restart_it(project: Project):
    started = project.start()
    started.wait_for("running")
    for name in (
        ".venv/lib/x.py",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        ".git/hook.py",
        ".flowkit/cache.yaml",
        ".genkit/x.yaml",
        "node_modules/a/b.py",
        "__pycache__/x.py",
        "notes.txt",
        "data/rows.json",
    ):
        project.write(name, "changed")
    project.write("last.py", "")

    status = started.wait_for("running", 1)
    assert status["restarts"] == 1
    assert status["changed"] == ["last.py"]
    assert (project.folder / ".flowkit" / "cache.yaml").read_text() == "changed"


def test_two_changes_within_a_second_that_keep_the_size_are_seen(project: Project):
    """Python compares seconds and sizes, and would run what it has compiled before."""
    module = project.write("value.py", "V = 1\n")
    project.write("app.py", APP + "\nimport value\nai.flow('value')(lambda: value.V)\n")
    started = project.start()
    assert started.run("value") == 1

    times = module.stat()
    module.write_text("V = 2\n")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    started.wait_for("running", 1)
    assert started.run("value") == 2


BROKEN = {
    "x = (": "SyntaxError: '(' was never closed",
    "import nowhere": "ModuleNotFoundError: No module named 'nowhere'",
    "ai.flow('printing')(print)": "flowkit.errors.ConfigError: flow 'printing'",
}


def test_an_error_at_import_is_shown_and_goes_when_it_is_mended(project: Project):
    line = len(APP.splitlines()) + 2
    started = None
    for number, (broken, message) in enumerate(BROKEN.items()):
        project.write("app.py", f"{APP}\n{broken}\n")
        # Without its files the UI is one plain page, which says the state in words.
        started = started or project.start(env={"FLOWKIT_DEVUI_DIR": str(project.folder / "nowhere")})

        error = started.wait_for("failed", number)["error"]
        assert (error["file"], error["line"]) == ("app.py", line)
        assert error["message"].startswith(message)
        assert broken in error["traceback"]
        assert "flowkit/server" not in error["traceback"]
    assert started is not None
    assert started.err.count(f"✗ failed at app.py:{line}; waiting for a change") == len(BROKEN)
    page = started.get("/")
    assert (page.status, b"app.py does not run." in page.body) == (200, True)

    project.write("app.py", APP)
    assert started.wait_for("running")["error"] is None
    assert started.run("hello", "Ada") == "hello Ada"
    assert started.err.count("http://") == 1


def test_an_app_that_fails_half_way_was_never_there(project: Project):
    """The Flowkit exists before the error; tools must not find half an app."""
    project.write("app.py", APP + "\nimport time\ntime.sleep(0.2)\n1 / 0\n")
    started = project.start()

    error = started.wait_for("failed")["error"]
    assert error["message"] == "ZeroDivisionError: division by zero"
    assert "ready" not in started.err
    assert project.runtimes == []

    project.write("app.py", "print('no flows here')\n")
    started.wait_for("failed", 1)
    assert "app.py has no Flowkit" in started.status["error"]["message"]
    assert started.out == "no flows here\n"


def test_there_may_be_no_app_at_all(empty: Project):
    ran = empty.run("start")

    assert ran.returncode == 2
    assert "no app found" in ran.stderr
    assert ran.stdout == ""


def test_a_module_of_a_package_may_be_the_app(empty: Project):
    empty.write("shop/__init__.py", "")
    empty.write("shop/flows.py", APP)
    started = empty.start("shop.flows:ai")

    assert started.wait_for("running")["app"] == "shop.flows:ai"
    assert started.run("hello", "Ada") == "hello Ada"
