"""`flow:batchRun`: a flow over every input of a file.

$ flowkit flow:batchRun menuQA questions.jsonl --output answers.jsonl --concurrency 4 --label monday
"""

import os
from pathlib import Path

import click

from flowkit.cli.apps import HELP, app_option, load
from flowkit.cli.lines import CliError
from flowkit.cli.whole_files import check_output

__all__ = ["flow_batch_run"]


@click.command("flow:batchRun", context_settings=HELP)
@click.argument("flow")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@app_option
@click.option(
    "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write inputs and outputs there"
)
@click.option("--label", metavar="LABEL", help="Mark the runs, for eval:extractData --label")
@click.option(
    "-n", "--concurrency", type=click.IntRange(1, 1000), default=1, show_default=True, help="How many run at once"
)
@click.option("-c", "--context", metavar="JSON", help="The context of every run")
@click.option("--restart", is_flag=True, help="Begin anew, instead of where the last run stopped")
@click.option("-v", "--verbose", is_flag=True, help="Tell each failure as it happens")
def flow_batch_run(
    flow: str,
    file: Path,
    app: str | None,
    output: Path | None,
    label: str | None,
    concurrency: int,
    context: str | None,
    restart: bool,
    verbose: bool,
) -> int:
    """Run FLOW over every input of FILE, in this process.

    FILE is a JSON array of inputs, or has one JSON value on each line (.jsonl). When the first one is an object with
    the key `input`, each is such an object. The output, in the same order, has `input` and `output`, or `error`; it is
    a JSON array, or lines with a FILE that ends in .jsonl, or lines on stdout.

    With --output a run that was stopped, or in which some inputs failed, goes on where it stopped when the same command
    is given again. Exits with 1 when an input failed.
    """
    if output is not None:
        _check_output(output, file)

    from flowkit.cli.batch_files import read_inputs
    from flowkit.cli.batch_runs import BatchRun
    from flowkit.cli.results import Results
    from flowkit.cli.value import read_object

    inputs = read_inputs(file)
    values = read_object(context, "--context") if context is not None else None
    with Results() as results:
        ai = load(app, verbose=verbose)
        batch = BatchRun(ai, results, label=label, concurrency=concurrency, context=values, verbose=verbose)
        exit_code = batch(flow, inputs, output, restart=restart)
    if batch.threads_left:
        os._exit(exit_code)
    return exit_code


def _check_output(output: Path, file: Path) -> None:
    """The output takes the place of what was there."""
    check_output(output, "--output")
    if output.exists() and not output.is_file():
        raise CliError(f"--output: {output} is no file", hint="without --output, the rows go to stdout")
    if output.exists() and file.exists() and output.samefile(file):
        raise CliError(f"--output: {output} holds the inputs", hint="name another file")
