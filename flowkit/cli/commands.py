"""Every command: its module, its function there, and its line in `flowkit --help`. Nothing is imported here.

COMMANDS["flow:run"].summary
"""

from typing import NamedTuple

__all__ = ["COMMANDS", "Entry", "help_text"]


class Entry(NamedTuple):
    group: str
    module: str
    function: str
    arguments: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "start": Entry("Develop and deploy", "flowkit.cli.start", "start", "[APP]", "Run the app with UI and hot reload"),
    "serve": Entry("Develop and deploy", "flowkit.cli.serve", "serve", "[APP]", "Serve the app's flows over HTTP"),
    "flow:run": Entry("Flows", "flowkit.cli.flows", "flow_run", "NAME [INPUT]", "Run a flow and print its result"),
    "flow:batchRun": Entry(
        "Flows", "flowkit.cli.batches", "flow_batch_run", "FLOW FILE", "Run a flow over every input of a file"
    ),
    "flow:list": Entry("Flows", "flowkit.cli.flows", "flow_list", "", "List the app's flows and what they take"),
    "rag:index": Entry("Documents", "flowkit.cli.rag", "rag_index", "PLACE", "Bring an index in step with a folder"),
    "rag:ask": Entry("Documents", "flowkit.cli.rag", "rag_ask", "QUESTION", "Answer from an index, with citations"),
    "rag:chunks": Entry("Documents", "flowkit.cli.rag", "rag_chunks", "FILE", "Show how a file would be cut"),
    "trace:list": Entry(
        "Traces", "flowkit.cli.traces", "trace_list", "", "List the runs of this project, newest first"
    ),
    "trace:get": Entry("Traces", "flowkit.cli.traces", "trace_get", "ID", "Show every step of one run"),
    "trace:export": Entry("Traces", "flowkit.cli.trace_files", "trace_export", "ID FILE", "Write one run to a file"),
    "trace:import": Entry("Traces", "flowkit.cli.trace_files", "trace_import", "FILE", "Read a run from a file"),
    "log:list": Entry("Traces", "flowkit.cli.logs", "log_list", "", "List what the app has logged"),
    "eval:extractData": Entry(
        "Evaluations", "flowkit.cli.extract", "eval_extract_data", "FLOW", "Turn kept runs into a dataset"
    ),
    "store:list": Entry("Stores", "flowkit.cli.stores", "store_list", "", "List the indexes of the dev store"),
    "store:create": Entry("Stores", "flowkit.cli.stores", "store_create", "STORE", "Make an index, or print its SQL"),
    "store:copy": Entry(
        "Stores", "flowkit.cli.stores", "store_copy", "SOURCE TARGET", "Copy an index to another store"
    ),
    "mcp": Entry("Set-up", "flowkit.cli.mcp", "mcp", "[APP]", "Serve flows and traces to an assistant (MCP)"),
    "doctor": Entry("Set-up", "flowkit.cli.doctor", "doctor", "", "Check the installation and this project"),
}

_USAGE = "flowkit COMMAND [ARGUMENTS]"
_OPTIONS = (("-h, --help", "Show this, or with a command all about it"), ("--version", "Show the version"))
_EXIT_CODES = "Exit codes: 0 fine, 1 failed, 2 wrong usage or input, 130 interrupted."


def help_text(*, colour: bool) -> str:
    """What `flowkit --help` prints."""
    strong, accent, dim, off = ("\x1b[1m", "\x1b[38;5;31m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "", "")
    width = max(len(f"{name} {entry.arguments}".rstrip()) for name, entry in COMMANDS.items()) + 2
    lines = ["RAG and AI flows in which every step can be seen.", "", f"{strong}Usage{off}  {_USAGE}"]
    group = ""
    for name, entry in COMMANDS.items():
        if entry.group != group:
            group = entry.group
            lines += ["", f"{strong}{group}{off}"]
        gap = " " * (width - len(f"{name} {entry.arguments}".rstrip()))
        arguments = f" {dim}{entry.arguments}{off}" if entry.arguments else ""
        lines.append(f"  {accent}{name}{off}{arguments}{gap}{entry.summary}")
    lines += ["", f"{strong}Options{off}"]
    lines += [f"  {accent}{option}{off}{' ' * (width - len(option))}{text}" for option, text in _OPTIONS]
    lines += ["", f"{dim}{_EXIT_CODES}{off}", ""]
    return "\n".join(lines)
