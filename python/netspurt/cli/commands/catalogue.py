"""``netspurt profiles``, ``mechanisms`` and ``schema``: what the native module knows, printed."""

from __future__ import annotations

import argparse
import json
from typing import Any

from netspurt.cli.options import add_json


def declare(command: argparse.ArgumentParser) -> None:
    """Its options: all three have the same."""
    add_json(command)


def command(options: argparse.Namespace) -> int:
    """Prints one of the three, as JSON or for people. Always succeeds."""
    from netspurt import _core

    if options.command == "schema":
        # The schema is JSON by itself: with and without --json it is the same document.
        print(_core.schema())
        return 0
    text = _core.profiles() if options.command == "profiles" else _core.mechanisms()
    if options.json:
        print(text)
        return 0
    entries: list[dict[str, Any]] = json.loads(text)
    if options.command == "profiles":
        _print_profiles(entries)
    else:
        _print_mechanisms(entries)
    return 0


def _print_profiles(profiles: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for profile in profiles:
        console.print(
            f"[bold]{escape(profile['name'])}[/]  {escape(profile.get('summary', ''))}", highlight=False
        )
        if profile.get("document"):
            console.print(f"    [dim]{escape(profile['document'])}[/]", highlight=False)
        settings = ", ".join(f"{key} = {json.dumps(value)}" for key, value in profile["tcp"].items())
        if settings:
            console.print(f"    {escape(settings)}", highlight=False)


def _print_mechanisms(families: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    for family in families:
        unit = f", in {family['unit']}" if family.get("unit") else ""
        default = f", default {json.dumps(family['default'])}" if family.get("default") is not None else ""
        console.print(f"[bold]{escape(family['path'])}[/]{escape(unit + default)}", highlight=False)
        console.print(f"    {escape(_sourced(family))}", highlight=False)
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 4))
        for choice in family.get("choices", []):
            name = choice["name"] + (" (default)" if choice.get("default") else "")
            table.add_row(f"[bold]{escape(name)}[/]", escape(_sourced(choice) + _parameters(choice)))
        console.print(table)


def _sourced(entry: dict[str, Any]) -> str:
    document = f" [{entry['document']}]" if entry.get("document") else ""
    return str(entry.get("summary") or "") + document


def _parameters(choice: dict[str, Any]) -> str:
    parameters = []
    for each in choice.get("parameters", []):
        unit = f" in {each['unit']}" if each.get("unit") else ""
        parameters.append(f"{each['name']}{unit} = {json.dumps(each.get('default'))}")
    return f" Parameters: {', '.join(parameters)}." if parameters else ""
