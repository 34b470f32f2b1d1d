"""A plan and a report of an ingest as lines for people.

print_lines(plan_lines(plan)); print_lines(report_lines(report, dry_run=False, hint_full=True))
"""

from collections.abc import Iterator

from rich.text import Text

from flowkit.cli.lines import one_line
from flowkit.cli.tables import styled
from flowkit.cli.units import duration_ms, number
from flowkit.rag.ingest import IngestPlan, IngestReport, Skipped, SourceChange

__all__ = ["plan_lines", "reason", "report_lines"]

_LISTED = 20
_MARKS = {"added": ("+", "good"), "changed": ("~", "warn"), "removed": ("-", "bad"), "unchanged": (" ", "dim")}


def plan_lines(plan: IngestPlan) -> Iterator[Text]:
    """What is going to be done, source by source."""
    sources = plan.sources
    counts = [
        f"{number(sources.added)} new" if sources.added else "",
        f"{number(sources.changed)} changed" if sources.changed else "",
        f"{number(sources.removed)} gone" if sources.removed else "",
        f"{number(sources.unchanged)} unchanged" if sources.unchanged else "",
    ]
    told = ", ".join(each for each in counts if each) or "nothing found"
    yield Text.assemble(styled("Plan", "strong"), f" for {one_line(plan.index)}: {told}")
    width = max((len(_source(change.source)) for change in plan.changes[:_LISTED]), default=0)
    for change in plan.changes[:_LISTED]:
        mark, style = _MARKS[change.status]
        yield Text.assemble("  ", styled(mark, style), f" {_source(change.source):{width}}  ", _chunks(change))
    if len(plan.changes) > _LISTED:
        yield styled(f"  … and {number(len(plan.changes) - _LISTED)} more", "dim")


def _chunks(change: SourceChange) -> Text:
    counts = [
        f"{number(len(change.added))} to embed" if change.added else "",
        f"{number(len(change.updated))} moved" if change.updated else "",
        f"{number(len(change.removed))} to delete" if change.removed else "",
    ]
    return styled("chunks: " + ", ".join(each for each in counts if each), "dim")


def report_lines(report: IngestReport, *, dry_run: bool, hint_full: bool) -> Iterator[Text]:
    """What was done, what was left out, and what to look at."""
    if dry_run:
        plan = report.plan
        empty = plan is not None and plan.is_empty
        yield styled("Nothing to do." if empty else "A dry run: nothing was done.", "dim")
    elif not (report.documents or report.unchanged or report.written or report.deleted):
        yield Text.assemble(styled("Nothing to index", "warn"), ": there is no file with text")
    elif not (report.written or report.updated or report.deleted):
        what = f"{_number(report.documents, 'file')}, {_number(report.unchanged, 'chunk')}"
        yield Text.assemble(styled("✓ ", "good"), f"{one_line(report.index)} is up to date: {what}")
    else:
        counts = [
            f"{number(report.written)} chunks written" if report.written else "",
            f"{number(report.updated)} updated" if report.updated else "",
            f"{number(report.deleted)} deleted" if report.deleted else "",
            f"{number(report.unchanged)} unchanged" if report.unchanged else "",
        ]
        told = ", ".join(each for each in counts if each)
        took = duration_ms(1000 * report.seconds)
        files = _number(report.documents, "file")
        yield Text.assemble(styled("✓ ", "good"), f"{one_line(report.index)}: {files} in {took}; {told}")
    yield from _skipped(report.skipped)
    for warning in report.warnings:
        yield styled(f"Warning: {warning}", "warn")
    if report.outdated:
        gone = f"{_number(report.outdated, 'chunk')} of files that are gone stay in the index"
        yield styled(f"{gone}{'; --mode full deletes them' if hint_full else ''}", "dim")


def reason(item: Skipped) -> str:
    """Why, to stand behind the source's name."""
    return item.reason.removeprefix(f"{item.source!r} ")


def _skipped(skipped: tuple[Skipped, ...]) -> Iterator[Text]:
    if not skipped:
        return
    yield styled(f"Skipped {_number(len(skipped), 'file')}:", "warn")
    for item in skipped[:_LISTED]:
        yield Text.assemble(f"  {_source(item.source)}  ", styled(reason(item), "dim"))
    if len(skipped) > _LISTED:
        yield styled(f"  … and {number(len(skipped) - _LISTED)} more", "dim")


def _number(count: int, what: str) -> str:
    return f"{number(count)} {what}{'' if count == 1 else 's'}"


def _source(source: str | None) -> str:
    """Names of files may hold what moves the cursor."""
    return one_line(source or "(no source)")
