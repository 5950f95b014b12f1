"""``netspurt profiles``, ``mechanisms`` and ``schema``: what the native module knows, printed."""

from __future__ import annotations

import argparse
import json
from typing import Any


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
        settings = ", ".join(
            f"{key} = {json.dumps(value)}" for key, value in profile.get("settings", {}).items()
        )
        if settings:
            console.print(f"    {escape(settings)}", highlight=False)


def _print_mechanisms(choices: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("family", "choice", "", "unit", "document", box=None, header_style="bold", pad_edge=False)
    before = None
    for choice in choices:
        family, name = str(choice["family"]), str(choice["name"])
        table.add_row(
            escape(family) if family != before else "",
            escape(name) + (" (default)" if choice.get("default") else ""),
            escape(str(choice.get("summary") or "")),
            escape(str(choice.get("unit") or "")),
            escape(str(choice.get("document") or "")),
        )
        before = family
    Console().print(table)
