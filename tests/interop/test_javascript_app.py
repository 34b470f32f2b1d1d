"""`flowkit start -- node app.mjs`: an app made with Genkit for JavaScript is seen and run as one of ours is."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interop.conftest import REASON, Project
from tests.server.reflection.scripts import free_port

pytestmark = [pytest.mark.heavy, pytest.mark.requires("npm", REASON)]

APP = """
import { genkit, z } from 'genkit';

const ai = genkit({});

ai.defineModel({ name: 'fake/echo', label: 'Echo' }, async (request, send) => {
  if (send) send({ content: [{ text: 'echo: ' }] });
  const last = request.messages.at(-1).content[0].text;
  return { message: { role: 'model', content: [{ text: 'echo: ' + last }] }, finishReason: 'stop' };
});

export const greet = ai.defineFlow(
  {
    name: 'greet',
    inputSchema: z.object({ name: z.string(), loud: z.boolean().optional() }),
    outputSchema: z.string(),
  },
  async ({ name }) => {
    const answer = await ai.generate({ model: 'fake/echo', prompt: name });
    return ai.run('polish', async () => answer.text + ' スープ');
  });

ai.definePrompt({ name: 'price', model: 'fake/echo', input: { schema: z.object({ dish: z.string() }) } },
  'Price of {{dish}}?');

export const count = ai.defineFlow(
  { name: 'count', inputSchema: z.number(), streamSchema: z.object({ i: z.number() }) },
  async (n, { sendChunk }) => { for (let i = 0; i < n; i++) sendChunk({ i }); return n; });

export const boom = ai.defineFlow({ name: 'boom' }, async () => { throw new Error('kaboom'); });

export const forever = ai.defineFlow({ name: 'forever' }, async (_, { abortSignal }) => {
  await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 100000);
    abortSignal.addEventListener('abort', () => { clearTimeout(timer); reject(abortSignal.reason); });
  });
});
"""


class Started:
    """`flowkit start` over the app, and what a page asks it."""

    def __init__(self, http: httpx.Client, project: Project) -> None:
        self.http = http
        self.project = project

    def get(self, path: str) -> Any:
        response = self.http.get(path)
        assert response.status_code == 200, response.text
        return response.json()

    def start(self, key: str, given: object) -> Any:
        response = self.http.post("/api/runs", json={"key": key, "input": given})
        assert response.status_code == 200, response.text
        return response.json()

    def ended(self, run: Any) -> Any:
        """Events of a run that has ended."""
        lines = self.http.get(f"/api/runs/{run['runId']}/events").text.splitlines()
        return [json.loads(line) for line in lines]


@contextmanager
def started(project: Project, packages: Path) -> Iterator[Started]:
    (project.folder / "app.mjs").write_text(APP, encoding="utf-8")
    (project.folder / "pyproject.toml").unlink()
    project.write("package.json", {"name": "bistro", "private": True})
    (project.folder / "node_modules").symlink_to(packages / "node_modules")
    port = free_port()
    process = project.start(sys.executable, "-m", "flowkit", "start", "-n", "--port", port, "--", "node", "app.mjs")
    try:
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, trust_env=False, timeout=30, headers={"X-Flowkit-UI": "1"}) as http:
            found = Started(http, project)
            until(lambda: _lists(http) or _begun_again(project), project)
            yield found
    finally:
        project.end(process)


def _begun_again(project: Project) -> None:
    """Genkit looks for a free port, and takes it a moment later: when another app was faster, it crashes. As a user
    would, change a file then, for which `flowkit start` waits."""
    crashes = project.out.count("waiting for a change")
    changed = project.folder / f"again{crashes}.yaml"
    if "Error: listen EADDRINUSE" in project.out and crashes and not changed.exists():
        changed.touch()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[Started]:
    with started(Project(tmp_path_factory.mktemp("javascript")), packages) as found:
        yield found


def until(condition: Callable[[], Any], project: Project) -> Any:
    end = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < end, project.out
        time.sleep(0.1)
    return found


def _lists(http: httpx.Client) -> bool:
    try:
        return "/flow/greet" in http.get("/api/actions").text
    except httpx.HTTPError:
        return False


def test_its_actions_are_listed(app: Started):
    listed = app.get("/api/actions")

    actions = {action["key"]: action for action in listed["actions"]}
    assert {"/flow/greet", "/flow/count", "/model/fake/echo"} <= actions.keys()
    assert actions["/flow/greet"]["inputSchema"]["required"] == ["name"]
    assert listed["runtime"]["version"].startswith("nodejs/")
    assert "source" not in actions["/flow/greet"]


def test_a_run_gives_its_result_and_its_trace_with_every_step(app: Started):
    run = app.start("/flow/greet", {"name": "スープ"})
    events = app.ended(run)

    assert events[-1]["result"] == "echo: スープ スープ"
    assert events[-1]["run"]["status"] == "success"
    trace = until(lambda: _whole(app, run["traceId"]), app.project)
    names = {span["displayName"]: span for span in trace["spans"].values()}
    assert {"greet", "generate", "fake/echo", "polish"} <= names.keys()
    assert names["greet"]["attributes"]["genkit:state"] == "success"
    summaries = app.get("/api/traces/summaries?q=スープ")["traces"]
    assert [(each["name"], each["status"]) for each in summaries] == [("greet", "success")]
    assert app.get("/api/inputs?key=/flow/greet")["inputs"][0]["input"] == {"name": "スープ"}


def _whole(app: Started, trace_id: str) -> Any:
    """The trace, once its root has ended."""
    response = app.http.get(f"/api/traces/{trace_id}")
    if response.status_code != 200:
        return None
    trace = response.json()
    return trace if trace.get("endTime") and len(trace["spans"]) >= 4 else None


def test_a_prompt_that_is_only_rendered_is_no_run(app: Started):
    """Genkit's own server throws such spans away; ours lists them nowhere."""
    run = app.start("/prompt/price", {"dish": "soup"})

    assert "Price of soup?" in json.dumps(app.ended(run)[-1]["result"])
    until(lambda: app.http.get(f"/api/traces/{run['traceId']}/outline").status_code == 200, app.project)
    listed = [trace["traceId"] for trace in app.get("/api/traces?limit=100")["traces"]]
    listed += [trace["traceId"] for trace in app.get("/api/traces/summaries")["traces"]]
    assert run["traceId"] not in listed


def test_a_stream_comes_chunk_by_chunk(app: Started):
    events = app.ended(app.start("/flow/count", 3))

    assert [event["chunk"]["i"] for event in events if event["type"] == "chunk"] == [0, 1, 2]
    assert events[-1]["result"] == 3


def test_an_error_says_what_was_thrown(app: Started):
    run = app.start("/flow/boom", None)
    events = app.ended(run)

    assert events[-1]["run"]["status"] == "error"
    assert "kaboom" in events[-1]["error"]["message"]
    until(lambda: app.get("/api/traces/summaries?status=error&action=boom")["traces"], app.project)


def test_a_run_is_seen_while_it_runs_and_is_cancelled(app: Started):
    run = app.start("/flow/forever", None)
    assert (run["status"], len(run["traceId"])) == ("running", 32)
    until(lambda: app.get("/api/traces/summaries?status=running&action=forever")["traces"], app.project)

    told = app.http.post(f"/api/runs/{run['runId']}/cancel", json={})

    assert told.json() == {"cancelled": True}
    assert app.ended(run)[-1]["run"]["status"] == "cancelled"


def test_an_input_cannot_be_checked_without_running(app: Started):
    told = app.http.post("/api/validate", json={"key": "/flow/greet", "input": {}}).json()

    assert (told["checked"], told["valid"]) == (False, True)


def test_what_only_apps_of_ours_can_do_is_refused_with_words(app: Started):
    response = app.http.get("/api/stores")

    assert response.status_code == 501
    assert "does not answer" in response.json()["error"]["message"]


def test_flow_run_of_ours_runs_it(app: Started):
    ran = subprocess.run(
        [sys.executable, "-m", "flowkit", "flow:run", "greet", '{"name": "Ada"}'],
        cwd=app.project.folder,
        env=app.project.env,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ran.returncode == 0, ran.stderr
    assert "echo: Ada" in ran.stdout


def test_a_change_starts_it_again(app: Started):
    before = app.get("/api/runtimes")["runtimes"][0]["pid"]
    file = app.project.folder / "app.mjs"
    file.write_text(file.read_text(encoding="utf-8").replace("name: 'boom'", "name: 'bang'"), encoding="utf-8")

    until(lambda: "/flow/bang" in app.http.get("/api/actions").text, app.project)
    assert app.get("/api/runtimes")["runtimes"][0]["pid"] != before


def test_nothing_is_left_when_it_ends(tmp_path: Path, packages: Path):
    project = Project(tmp_path)
    with started(project, packages) as found:
        pid = found.get("/api/runtimes")["runtimes"][0]["pid"]

    until(lambda: not Path(f"/proc/{pid}").exists(), project)
    assert not list(project.folder.glob(".genkit/runtimes/*.json"))
    assert re.search(r"http://127\.0\.0\.1:\d+", project.out)
