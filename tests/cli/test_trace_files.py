"""`trace:export` and `trace:import`: a run as a file, and back in another project."""

import json

import pytest

from tests.cli.conftest import Project


def kept(project: Project, text: str = "soup") -> str:
    return project.run("flow:run", "say", text).err.rpartition("Trace ID: ")[2].strip()


def test_a_run_goes_to_a_file_and_comes_back_after_it_was_lost(project: Project):
    trace_id = kept(project, "Käse 以上")
    before = project.run("trace:get", trace_id, "--json").out

    exported = project.run("trace:export", "latest", "run.json")
    for file in (project.folder / ".flowkit").glob("traces.db*"):
        file.unlink()
    imported = project.run("trace:import", "run.json")

    assert exported.code == 0
    assert exported.err.startswith("run.json  ")
    assert imported.out == f"{trace_id}\n"
    assert imported.err == f"1 step; flowkit trace:get {trace_id[:8]} shows them\n"
    assert project.run("trace:get", trace_id, "--json").out == before
    assert "Käse 以上" in (project.folder / "run.json").read_text(encoding="utf-8")


def test_a_file_goes_through_pipes(project: Project):
    trace_id = kept(project)

    data = project.run("trace:export", trace_id[:8], "-").out

    assert json.loads(data)["traceId"] == trace_id
    assert project.run("trace:import", "-", stdin=data).out == f"{trace_id}\n"
    json_of_get = project.run("trace:get", trace_id, "--json").out
    assert project.run("trace:import", "-", stdin=json_of_get).code == 0


def test_a_file_is_only_overwritten_when_that_is_wanted(project: Project):
    kept(project)
    project.write("run.json", "mine")

    refused = project.run("trace:export", "latest", "run.json")

    assert (refused.code, (project.folder / "run.json").read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert project.run("trace:export", "latest", "run.json", "--force").code == 0


def test_secrets_of_a_foreign_file_are_replaced(project: Project):
    trace_id = kept(project)
    data = json.loads(project.run("trace:export", trace_id, "-").out)
    (span,) = data["spans"].values()
    span["attributes"]["genkit:input"] = '{"api_key": "sk-123"}'
    project.write("foreign.json", json.dumps(data))

    assert project.run("trace:import", "foreign.json").code == 0

    assert "sk-123" not in project.run("trace:get", trace_id, "--json").out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("{}", "this is no trace"),
        ('{"spans": {}}', "has no span"),
        ('{"spans": {"a": {}}}', "'a'"),
        ("[" * 100_000, "is no JSON"),
        ("\xff", "is no JSON"),
    ],
)
def test_a_file_that_is_no_trace(project: Project, content: str, said: str):
    project.write("run.json", content)

    run = project.run("trace:import", "run.json")

    assert run.code == 2
    assert said in run.err
    assert "run.json" in run.err


def test_what_is_not_there(project: Project):
    assert "there are no runs" in project.run("trace:export", "latest", "x").err
    assert "there is no file 'x'" in project.run("trace:import", "x").err
    kept(project)
    assert project.run("trace:export", "0" * 32, "x").code == 2


def test_a_folder_is_no_file(project: Project):
    kept(project)
    (project.folder / "runs").mkdir()

    exported = project.run("trace:export", "latest", "runs", "--force")
    imported = project.run("trace:import", "runs")

    assert (exported.code, imported.code) == (2, 2)
    assert "runs is a folder" in exported.err
    assert "runs cannot be read: Is a directory" in imported.err


def test_a_file_keeps_its_mode_and_a_link_stays_one_when_it_is_overwritten(project: Project):
    kept(project)
    project.write("private.json", "{}").chmod(0o600)
    (project.folder / "run.json").symlink_to("private.json")

    assert project.run("trace:export", "latest", "run.json", "--force").code == 0

    assert (project.folder / "run.json").is_symlink()
    assert (project.folder / "private.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((project.folder / "private.json").read_bytes())["traceId"]


def test_odd_text_in_a_foreign_file(project: Project):
    trace_id = kept(project)
    data = json.loads(project.run("trace:export", trace_id, "-").out)
    (span,) = data["spans"].values()
    span["displayName"] = "half \ud83d, NUL \0"
    span["attributes"] |= {"genkit:input": '"\ud83d"', "odd \ud83d": "\ud83d\0"}
    data["logs"] = [{**record, "message": "half \ud83d"} for record in data["logs"]]
    project.write("foreign.json", json.dumps(data))

    assert project.run("trace:import", "foreign.json").code == 0
    assert project.run("trace:get", trace_id).code == 0
    assert json.loads(project.run("trace:get", trace_id, "--json").out)["traceId"] == trace_id
