"""``netspurt paths``: the path models, in a list or one by one."""

from __future__ import annotations

import argparse
import json

from netspurt.cli.arguments.options import add_json
from netspurt.cli.exits import FINE
from netspurt.inputs.paths.path_models import PathModel, chosen, paths


def declare(command: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(command)
    command.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="show these with sources and keys, such as leo (default: list all)",
    )


def command(options: argparse.Namespace) -> int:
    """Prints a list, or the details of the named models.

    Raises:
        RequestError: there is no model of that name.
    """
    models = chosen(options.names)
    if options.json:
        print(json.dumps(models))
    elif options.names:
        print("\n\n".join(map(_described, models)))
    else:
        _print_list(paths())
    return FINE


def _print_list(models: list[PathModel]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for model in models:
        table.add_row(f"[bold]{model['name']}[/]", f"{model['title']}\n[dim]{model['summary']}[/]")
    console = Console()
    console.print(table, highlight=False)
    console.print(
        'Use one: netspurt run --path NAME -R, or path = "NAME" on a link. Details: netspurt paths NAME'
    )


def _described(model: PathModel) -> str:
    """All of a model in lines; the keys at the end are a piece of a scenario file."""
    lines = [f"{model['name']}: {model['title']}", f"  {model['summary']}"]
    parts = [
        ("Modelled", model["modelled"]),
        ("Not modelled", model["not_modelled"]),
        (
            "Parameters",
            [f'{each["name"]} = "{each["default"]}": {each["meaning"]}' for each in model["parameters"]],
        ),
        (
            "Sources",
            [f"{each['cite']}: {each['gives']}" for each in model["sources"]],
        ),
    ]
    for title, entries in parts:
        if entries:
            lines += [f"{title}:", *(f"  * {entry}" for entry in entries)]
    lines += ["Stands for these keys, where the user's side is the first node:", ""]
    lines += [f"    {line}" if line else "" for line in model["toml"].strip().splitlines()]
    return "\n".join(lines)
