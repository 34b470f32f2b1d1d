"""`flow:run` and `flow:list`.

$ flowkit flow:run menuQA "What is vegan?" --stream
$ flowkit flow:list
"""

import os
from pathlib import Path
from typing import Any

import click

from flowkit.cli.apps import HELP, app_option, load
from flowkit.cli.lines import CliError, say
from flowkit.cli.whole_files import check_output

__all__ = ["flow_list", "flow_run"]


class _FlowRun(click.Command):
    """Remembers whether `--` was given: behind it, an input may look like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["dashes"] = "--" in args
        return super().parse_args(ctx, args)


@click.command("flow:run", cls=_FlowRun, context_settings={**HELP, "ignore_unknown_options": True})
@click.argument("name")
@click.argument("input", required=False)
@app_option
@click.option("-s", "--stream", is_flag=True, help="Print the flow's chunks as they come")
@click.option("-c", "--context", metavar="JSON", help='The run\'s context, for instance {"auth": {"uid": "ada"}}')
@click.option(
    "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the result as JSON"
)
@click.option("-v", "--verbose", is_flag=True, help="When the flow fails, show where in your code")
@click.option("--in-process", is_flag=True, help="Run it here, also when the app runs already")
def flow_run(
    name: str,
    input: str | None,
    app: str | None,
    stream: bool,
    context: str | None,
    output: Path | None,
    verbose: bool,
    in_process: bool,
) -> int:
    """Run the flow NAME and print its result.

    INPUT is JSON, plain text, @file, or - for stdin. Only the result goes to stdout: text as it is, anything else as
    JSON. The run is traced; its id goes to stderr.

    When the app runs already (flowkit start), the flow runs in it; with --app or --in-process it runs here.
    """
    looks_like_option = input is not None and input.startswith("-") and not _is_value(input)
    if looks_like_option and not click.get_current_context().meta["dashes"]:
        hint = f"flowkit flow:run --help lists them; as an input it goes behind --: {name} -- {input}"
        raise CliError(f"no option {input!r}", hint=hint)
    if output is not None:
        check_output(output, "--output")

    from flowkit.cli.flow_runs import FlowRun
    from flowkit.cli.results import Results
    from flowkit.cli.value import read_object

    values = read_object(context, "--context") if context is not None else None
    runtime = None if in_process or app is not None else _running()
    with Results() as results:
        if runtime is not None:
            from flowkit.cli.remote_runs import RemoteRun

            remote = RemoteRun(runtime, results, stream=stream, output=output, verbose=verbose)
            return remote(name, input, values)
        ai = load(app, verbose=verbose)
        run = FlowRun(ai, results, stream=stream, output=output, verbose=verbose)
        exit_code = run(name, input, values)
    if run.threads_left:
        os._exit(exit_code)
    return exit_code


@click.command("flow:list", context_settings=HELP)
@app_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
def flow_list(app: str | None, as_json: bool) -> int:
    """List the app's flows: name, input and description."""
    from flowkit.cli.results import Results

    with Results():
        rows = _flows(load(app))
    if as_json:
        from flowkit.cli.tables import print_json

        print_json(rows)
        return 0
    if not rows:
        say("the app has no flows; @ai.flow() above a function makes one", "dim")
        return 0
    from flowkit.cli.tables import Column, print_table

    columns = (Column("Flow", "accent"), Column("Input", flexible=True), Column("Description", "dim", flexible=True))
    print_table(columns, [(row["name"], row["input"] or "–", row["description"] or "") for row in rows])
    return 0


def _running() -> Any:
    """The app of this project that runs now, if there is one."""
    from flowkit.config import Settings
    from flowkit.server.runtimes import running

    return running(Settings.from_env().root)


def _flows(ai: Any) -> list[dict[str, Any]]:
    from flowkit.cli.shape import parameters

    rows: dict[str, dict[str, Any]] = {}
    for info in ai.registry.list():
        if info.kind == "flow":
            rows[info.name] = {"name": info.name, "input": None, "description": info.description}
    for action in ai.registry.registered("flow"):
        rows[action.name].update(input=parameters(action), inputSchema=action.input_schema)
    return list(rows.values())


def _is_value(text: str) -> bool:
    """True for `-` and for negative numbers, which look like options."""
    return text == "-" or text[1:2].isdigit()
