"""``netspurt new``: a commented scenario to start from."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from netspurt.cli.arguments import path_options
from netspurt.cli.arguments.options import add_force, add_json
from netspurt.cli.exits import FINE
from netspurt.files import output
from netspurt.files.places import SCENARIO, SCENARIO_MARK, Destination
from netspurt.inputs.paths import one_path
from netspurt.inputs.template import template


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument(
        "file", nargs="?", metavar="FILE.toml", help="where to write it (default: standard output)"
    )
    add_force(command)
    path_options.add_values(command)


def command(options: argparse.Namespace) -> int:
    """Writes the scenario, or prints it.

    Raises:
        RequestError: a value is wrong, or the file exists and netspurt did not write it.
    """
    path = one_path.of_options(vars(options))
    # Checks the values: their error names the option.
    path.scenario()
    text = template(path)
    if options.file is None:
        print(json.dumps({"file": None, "text": text}) if options.json else text, end="")
        return FINE
    options.places.admit(Destination(options.file, "FILE.toml", SCENARIO))
    file = Path(options.file)
    with output.file(file) as stage:
        stage.write_text(f"{SCENARIO_MARK} {options.asked}\n{text}", encoding="utf-8")
    if options.json:
        print(json.dumps({"file": str(file), "text": text}))
    else:
        print(f"{file}: a scenario to start from; try: netspurt run {file}")
    return FINE
