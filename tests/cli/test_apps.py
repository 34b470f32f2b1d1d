"""Which app a command is about, and what is said when there is none or it cannot be imported."""

import pytest

from tests.cli.conftest import Project

HELLO = 'from flowkit import Flowkit\n{name} = Flowkit()\n@{name}.flow\ndef hello() -> str:\n    return "{text}"\n'


def hello(text: str, name: str = "ai") -> str:
    return HELLO.format(text=text, name=name)


@pytest.mark.parametrize("app", ["shop/flows.py", "shop.flows:ai", "shop/flows.py:ai", "shop.flows", "./shop/flows.py"])
def test_an_app_is_named_as_module_or_file(project: Project, app: str):
    project.write("shop/flows.py", hello("shop"))

    assert project.run("flow:run", "hello", "--app", app).out == "shop\n"


def test_a_file_in_a_package_may_import_its_neighbours(project: Project):
    project.write("shop/__init__.py", "")
    project.write("shop/words.py", 'WORD = "neighbour"\n')
    project.write("shop/flows.py", hello("x").replace('"x"', "WORD") + "\nfrom shop.words import WORD\n")

    assert project.run("flow:run", "hello", "--app", "shop/flows.py").out == "neighbour\n"


def test_a_file_name_need_not_be_an_identifier(project: Project):
    project.write("my-app.py", hello("mine"))

    assert project.run("flow:run", "hello", "--app", "my-app.py").out == "mine\n"


def test_pyproject_names_the_app(project: Project):
    project.write("pyproject.toml", '[tool.flowkit]\napp = "shop.flows:kitchen"\n')
    project.write("shop/flows.py", hello("configured", "kitchen") + "other = Flowkit()\n")

    assert project.run("flow:run", "hello").out == "configured\n"


def test_without_a_name_the_usual_files_are_looked_at_in_order(project: Project):
    project.write("flows.py", hello("flows"))
    project.write("main.py", hello("main"))
    assert project.run("flow:run", "hello").out == "hello\n"

    (project.folder / "app.py").unlink()
    assert project.run("flow:run", "hello").out == "main\n"


def test_a_file_that_knows_nothing_of_flowkit_is_passed_over(project: Project):
    project.write("app.py", 'raise RuntimeError("a web app that must not be imported")\n')
    project.write("flows.py", hello("flows"))

    assert project.run("flow:run", "hello").out == "flows\n"


def test_the_working_directory_comes_before_the_project_root(project: Project):
    project.write("kitchen/app.py", hello("kitchen"))
    project.folder = project.folder / "kitchen"

    assert project.run("flow:run", "hello").out == "kitchen\n"


def test_the_project_root_is_found_from_a_folder_inside(project: Project):
    project.write("docs/readme.md", "")
    project.folder = project.folder / "docs"

    assert project.run("flow:run", "hello").out == "hello\n"


@pytest.mark.parametrize(
    ("app", "said"),
    [
        ("nowhere.py", "there is no file nowhere.py"),
        ("nowhere:ai", "there is no module 'nowhere'"),
        ("shop.nowhere:ai", "there is no module 'shop.nowhere'"),
        ("app:kitchen", "app has no 'kitchen'"),
        ("app.py:asyncio", "app.py:asyncio is a module, not a Flowkit"),
        ("not a name", "'not a name' is neither a module nor a file"),
    ],
)
def test_a_wrong_name_says_what_is_wrong(project: Project, app: str, said: str):
    project.write("shop/__init__.py", "")

    run = project.run("flow:list", "--app", app)

    assert (run.code, run.out) == (2, "")
    assert said in run.err
    assert "Hint:" in run.err


def test_no_app_says_what_was_looked_for(project: Project):
    (project.folder / "app.py").unlink()

    run = project.run("flow:run", "hello")

    assert run.code == 2
    assert "no app found: there is no app.py, main.py, flows.py in" in run.err
    assert "--app module:ai" in run.err
    assert '[tool.flowkit] app = "module:ai"' in run.err


def test_a_module_without_a_flowkit_says_so(project: Project):
    project.write("app.py", "flowkit = None\n")

    assert "app.py has no Flowkit" in project.run("flow:list").err


def test_of_several_flowkits_one_has_to_be_chosen(project: Project):
    project.write("app.py", hello("a", "first") + hello("b", "second"))

    run = project.run("flow:run", "hello")
    assert run.code == 2
    assert "app.py has several Flowkits: first, second" in run.err
    assert "--app app.py:first" in run.err

    assert project.run("flow:run", "hello", "--app", "app.py:second").out == "b\n"


def test_two_names_of_one_flowkit_are_one(project: Project):
    project.write("app.py", hello("a") + "app = ai\n")

    assert project.run("flow:run", "hello").out == "a\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import flowkit\nimport no_such_package\n", "No module named 'no_such_package' (app.py:2)"),
        ("import flowkit\n\ndef make():\n    return {}['x']\nmake()\n", "KeyError: 'x' (app.py:4)"),
        ("import flowkit\nif True\n    pass\n", "SyntaxError: expected ':'"),
        ("import flowkit, sys\nsys.exit('wrong settings')\n", "SystemExit: wrong settings (app.py:2)"),
        ("import flowkit, json\njson.loads('{')\n", "(app.py:2)"),
        ("from flowkit import Flowkit\nai = Flowkit()\n@ai.flow\ndef f(*args): ...\n", "(app.py:3)"),
    ],
)
def test_an_error_of_the_app_is_told_with_its_line(project: Project, code: str, said: str):
    project.write("app.py", code)

    run = project.run("flow:run", "hello")

    assert (run.code, run.out) == (1, "")
    assert "app.py cannot be imported" in run.err
    assert said in run.err
    assert "Traceback" not in run.err


def test_verbose_shows_the_traceback_of_an_import(project: Project):
    project.write("app.py", "import flowkit\n\ndef make():\n    return {}['x']\nmake()\n")

    err = project.run("flow:run", "hello", "-v").err

    assert "return {}['x']" in err
    assert "importlib" not in err
    assert "discover.py" not in err


def test_a_pyproject_that_cannot_be_read_is_named(project: Project):
    project.write("pyproject.toml", "[tool.flowkit\n")

    run = project.run("flow:list")

    assert run.code == 2
    assert "pyproject.toml cannot be read" in run.err
