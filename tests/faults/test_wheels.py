"""The wheels, installed where nothing of this repository is: a flow indexes and answers."""

import os
import re
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path

import pytest

from tests.support.modules import ROOT

pytestmark = pytest.mark.heavy

APP = """
from flowkit import Document, Flowkit
from flowkit_devstore import DevStore
from flowkit_local import Local

ai = Flowkit(plugins=[Local(), DevStore("menu", embedder="local/all-minilm-l6-v2")], model="local/extractive")


@ai.flow
async def ask(question: str) -> str:
    await ai.index("menu", [Document.from_text(dish) for dish in ("Tomato soup costs 5 euros.", "Cake costs 4 euros.")])
    hits = await ai.retrieve("menu", question, k=1)
    return (await ai.generate(prompt=question, docs=hits)).text


@ai.flow
def where() -> list[str]:
    import flowkit, flowkit_devstore, flowkit_local
    return [module.__file__ for module in (flowkit, flowkit_devstore, flowkit_local)]
"""


def test_installed_wheels_run_a_flow(tmp_path: Path):
    """Only flowkit itself is installed anew; what it depends on is taken from the running environment, by a path file,
    as tests use no network."""
    wheels = tmp_path / "wheels"
    for folder in (ROOT, ROOT / "plugins" / "devstore", ROOT / "plugins" / "local"):
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
    home = tmp_path / "venv"
    venv.create(home, with_pip=False, symlinks=os.name == "posix")
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = home / scripts / "python"
    install = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--offline",
        "--no-deps",
        "--no-index",
        "--python",
        str(python),
    ]
    subprocess.run([*install, *map(str, sorted(wheels.glob("*.whl")))], check=True, capture_output=True)
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
    )
    # Plain entries of a .pth file only lengthen the path: the editable installs there stay out of it.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n" + sysconfig.get_path("platlib") + "\n")

    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "menu"\n')
    (project / "app.py").write_text(APP)
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def flowkit(*arguments: str) -> str:
        command = [home / scripts / "flowkit", *arguments]
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert flowkit("--version") == "flowkit 0.1.0\n"
    assert flowkit("flow:run", "where").count(str(site)) == 3
    assert flowkit("flow:run", "ask", '"What does the soup cost?"') == "Tomato soup costs 5 euros.\n"
    assert "ask" in flowkit("trace:list")
    _shows_its_page(home / scripts, project, env)
    installed = {path.relative_to(site).as_posix() for path in (site / "flowkit").rglob("*") if path.suffix != ".pyc"}
    assert "flowkit/py.typed" in installed
    missing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "flowkit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    } - installed
    assert not missing, "files of the package that the wheel lacks"


def _shows_its_page(scripts: Path, project: Path, env: dict[str, str]) -> None:
    """`flowkit start` serves the developer UI out of the wheel; no program but Python's is on the path."""
    command = [str(scripts / "flowkit"), "start", "app.py", "--no-open"]
    with subprocess.Popen(
        command, cwd=project, env={**env, "PATH": str(scripts)}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as started:
        try:
            assert started.stderr is not None
            said = ""
            while not (found := re.search(r"(http://127[^\s#]+)   Ctrl-C", said)):
                line = started.stderr.readline().decode()
                assert line, f"it ended: {said}"
                said += line
            page = _get(found[1])
            assert b'id="root"' in page
            assert b"__CSP_NONCE__" not in page
            (program,) = re.findall(rb'src="(/assets/[^"]+)"', page)
            assert len(_get(found[1] + program.decode())) > 100_000
        finally:
            started.terminate()
            started.communicate(timeout=60)


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        content: bytes = answer.read()
    return content
