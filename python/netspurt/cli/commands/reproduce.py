"""``netspurt reproduce``: runs the studies, prints their tables side by side, leaves a report."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt.cli.arguments.options import add_jobs, add_json, add_output, add_quiet
from netspurt.cli.exits import FELL_SHORT, FINE, INTERRUPTED
from netspurt.cli.progress import progress
from netspurt.errors import RequestError
from netspurt.files import output, places
from netspurt.inputs.typed import positive

if TYPE_CHECKING:
    from netspurt.studies.experiment import Study
    from netspurt.studies.model import StudyResult
    from netspurt.studies.runner import Work


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    add_quiet(command)
    command.add_argument(
        "studies",
        nargs="*",
        metavar="STUDY",
        help="terabit, rfc1106, rfc2415, doupnik, rfc889, today, or all (the default)",
    )
    command.add_argument("--quick", action="store_true", help="a subset with fewer seeds; its page says so")
    command.add_argument(
        "--no-live",
        action="store_true",
        help="only what is simulated, nothing measured with real programs on emulated paths",
    )
    command.add_argument(
        "--fit",
        action="store_true",
        help="choose the free parameters of these studies anew, on their fitted cells, and leave them in DIR/fit "
        "(of those that have any: doupnik; takes minutes)",
    )
    command.add_argument("--seeds", type=positive, metavar="N", help="seeds for each cell with randomness")
    add_jobs(command)
    add_output(
        command,
        "--out",
        places.REPORT_FOLDER,
        default="report",
        metavar="DIR",
        words="folder of the report (default: report)",
    )


def command(options: argparse.Namespace) -> int:
    """Runs the studies asked for and writes the report.

    Raises:
        RequestError: an unknown study, or a place that cannot be written to (found out before any work).
        ScenarioError: a scenario of a study is wrong.
    """
    from netspurt.studies import choose, find
    from netspurt.studies.experiment import Plan
    from netspurt.studies.runner import prepare

    studies = [find(name) for name in choose(options.studies)]
    if options.fit:
        return _fit(studies, options)
    plan = Plan(quick=options.quick, seeds=options.seeds, live=not options.no_live)
    with output.directory(Path(options.out), force=options.force) as stage:
        began = time.monotonic()
        works = [prepare(study, plan) for study in studies]
        results = _run_all(works, options.jobs)
        if any(result.interrupted for result in results):
            # The report takes a while.
            print(
                "netspurt: interrupted; finished cells are kept, the others are marked 'not run'; writing the report",
                file=sys.stderr,
            )
        from netspurt import report

        whole = report.document(results, options.quick, time.monotonic() - began)
        report.write(stage, results, _asked(options), whole)
    if options.json:
        print(json.dumps(whole))
    else:
        _print(results, Path(options.out))
    if whole["interrupted"]:
        return INTERRUPTED
    return FELL_SHORT if any(result.falls_short for result in results) else FINE


def _fit(studies: list[Study], options: argparse.Namespace) -> int:
    """Chooses the free parameters of those studies that have any, and leaves the files that would hold them.

    Raises:
        RequestError: none of them has any.
    """
    fits = [(study, study.fit) for study in studies if study.fit is not None]
    if not fits:
        names = ", ".join(study.name for study in studies)
        raise RequestError(
            f"nothing can be fitted anew in {names}: their parameters stand in their scenario files"
        )
    written: dict[str, dict[str, str]] = {}
    out = Path(options.out) / "fit"
    with output.directory(out, force=options.force) as stage:
        for study, fit in fits:
            print(f"netspurt: fitting {study.name}", file=sys.stderr)
            text = fit.run(options.jobs, lambda words: print(f"netspurt: {words}", file=sys.stderr))
            name = f"{study.name}-{fit.file}"
            (stage / name).write_text(text, encoding="utf-8")
            written[study.name] = {"file": str(out / name), "text": text}
    if options.json:
        print(json.dumps({"fitted": written}))
    else:
        for name, file in written.items():
            print(file["text"])
            print(f"left in {file['file']}; what the study runs with is in studies/{name}/")
    return FINE


def _run_all(works: list[Work], jobs: int) -> list[StudyResult]:
    """All studies; what Ctrl-C keeps from running shows as not run."""
    from netspurt.studies.runner import run_all

    with progress(sum(len(work.tasks) for work in works), "running") as advance:
        return run_all(works, jobs, advance)


def _asked(options: argparse.Namespace) -> str:
    words = ["netspurt", "reproduce", *options.studies]
    if options.quick:
        words.append("--quick")
    if options.no_live:
        words.append("--no-live")
    if options.seeds is not None:
        words += ["--seeds", str(options.seeds)]
    return shlex.join([*words, "--jobs", str(options.jobs), "--out", options.out])


def _print(results: list[StudyResult], out: Path) -> None:
    from rich.console import Console

    from netspurt.cli.views import side_by_side

    # A file or a pipe has no width: the tables stand there whole.
    console = Console() if sys.stdout.isatty() else Console(width=side_by_side.WIDE)
    for result in results:
        side_by_side.show(console, result)
    beyond = sum(table.kind == "beyond" for result in results for table in result.findings.tables)
    console.print(
        f"{beyond} tables beyond the documents, and all pictures: {out / 'index.html'}", soft_wrap=True
    )
