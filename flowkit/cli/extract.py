"""`eval:extractData`: runs that were kept, as a dataset for an evaluation. The app is not imported.

$ flowkit eval:extractData menuQA --label monday --output menu.json
"""

import json
from pathlib import Path

import click

from flowkit.cli.apps import HELP
from flowkit.cli.lines import CliError, say, write
from flowkit.cli.traces import open_traces
from flowkit.cli.whole_files import check_output, write_whole

__all__ = ["eval_extract_data"]


@click.command("eval:extractData", context_settings=HELP)
@click.argument("flow")
@click.option(
    "--max-rows", "--maxRows", type=click.IntRange(1, 100_000), default=100, show_default=True, help="How many at most"
)
@click.option("--label", metavar="LABEL", help="Only runs of flow:batchRun --label LABEL")
@click.option(
    "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write them there, not to stdout"
)
def eval_extract_data(flow: str, max_rows: int, label: str | None, output: Path | None) -> int:
    """Turn the kept runs of FLOW into rows of an evaluation dataset, newest first.

    A row has the run's input and output, the context (the text of every document that was retrieved for it), and the
    trace's id. The rows are a JSON array as eval:run takes it, Genkit's as well; with a FILE that ends in .jsonl, one
    on each line.
    """
    from flowkit.tracing.cases import extract_cases

    if output is not None:
        check_output(output, "--output")
    store = open_traces()
    labels = None if label is None else {"batchRun": label}
    rows = list(extract_cases(store, flow.removeprefix("/flow/"), limit=max_rows, labels=labels))
    if not rows:
        what = f"flow {flow!r} with the label {label!r}" if label else f"flow {flow!r}"
        raise CliError(f"there is no run of {what} in {store.path}", hint="flowkit trace:list shows what there is")
    if output is not None and output.suffix == ".jsonl":
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    if output is None:
        write(text)
    else:
        write_whole(output, text.encode("utf-8", "replace"))
    found = sum(bool(row["context"]) for row in rows)
    say(f"{len(rows)} run{'s' if len(rows) > 1 else ''}, {found} with retrieved documents", "dim")
    return 0
