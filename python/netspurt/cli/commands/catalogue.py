"""``netspurt profiles``, ``mechanisms`` and ``schema``: the catalogues of the native module."""

from __future__ import annotations

import argparse
import json
from typing import Any

from netspurt.cli.arguments.options import add_json
from netspurt.errors import RequestError, nearest
from netspurt.settings import toml


def declare(command: argparse.ArgumentParser) -> None:
    """Their options."""
    add_json(command)
    name = command.prog.rpartition(" ")[2]
    if name == "schema":
        return
    metavar, words = {
        "profiles": ("NAME", "only these, such as linux"),
        "mechanisms": (
            "PATH",
            "only these families, such as tcp.acking, or all of tcp, link, hub, host or flow",
        ),
    }[name]
    command.add_argument("names", nargs="*", metavar=metavar, help=words)


def command(options: argparse.Namespace) -> int:
    """Prints one of the three, as JSON or for people.

    Raises:
        RequestError: there is no profile or family of that name.
    """
    from netspurt import _core

    if options.command == "schema":
        # The schema is JSON by itself: with and without --json it is the same document.
        print(_core.schema())
        return 0
    text = _core.profiles() if options.command == "profiles" else _core.mechanisms()
    entries: list[dict[str, Any]] = _chosen(json.loads(text), options.names)
    if options.json:
        print(json.dumps(entries) if options.names else text)
        return 0
    if options.command == "profiles":
        _print_profiles(entries, in_lines=bool(options.names))
    else:
        _print_mechanisms(entries)
    return 0


def _chosen(entries: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """The entries of these names, in their order; all if there is no name."""
    if not names:
        return entries
    chosen: list[dict[str, Any]] = []
    for name in names:
        found = [entry for entry in entries if name in _names(entry)]
        if not found:
            raise RequestError(_unknown(name, entries))
        chosen += [entry for entry in found if entry not in chosen]
    return chosen


def _unknown(name: str, entries: list[dict[str, Any]]) -> str:
    """The sentence for a name that is not in the list; a choice of a mechanism leads to its family."""
    having = [
        entry["path"] for entry in entries if name in (choice["name"] for choice in entry.get("choices", ()))
    ]
    if having:
        others = f" (also of {', '.join(having[1:])})" if having[1:] else ""
        return f"'{name}' is a choice of {having[0]}{others}: 'netspurt mechanisms {having[0]}' describes it"
    known = sorted({each for entry in entries for each in _names(entry)})
    what = "profile" if "name" in entries[0] else "family of mechanisms"
    return f"there is no {what} '{name}'{nearest(name, known)} (without a name, all are listed)"


def _names(entry: dict[str, Any]) -> set[str]:
    """The names of an entry: the name of a profile; the path of a family, or the last or first step of the path."""
    if "name" in entry:
        return {entry["name"]}
    path: str = entry["path"]
    return {path, path.replace(".NAME.", ".").replace(".N.", "."), entry["family"], path.partition(".")[0]}


def _print_profiles(profiles: list[dict[str, Any]], *, in_lines: bool) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    for profile in profiles:
        console.print(
            f"[bold]{escape(profile['name'])}[/]  {escape(profile.get('summary', ''))}", highlight=False
        )
        if profile.get("document"):
            console.print(f"    [dim]{escape(profile['document'])}[/]", highlight=False)
        rows = [f"{key} = {_written(value)}" for key, value in profile["tcp"].items()]
        settings = "\n    ".join(rows) if in_lines else ", ".join(rows)
        if settings:
            console.print(f"    {escape(settings)}", highlight=False, soft_wrap=in_lines)


def _print_mechanisms(families: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    for family in families:
        unit = f", in {family['unit']}" if family.get("unit") else ""
        default = f", default {_written(family['default'])}" if family.get("default") is not None else ""
        console.print(f"[bold]{escape(family['path'])}[/]{escape(unit + default)}", highlight=False)
        console.print(f"    {escape(_sourced(family))}", highlight=False)
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 4))
        for choice in family.get("choices", []):
            name = choice["name"] + (" (default)" if choice.get("default") else "")
            table.add_row(f"[bold]{escape(name)}[/]", escape(_sourced(choice) + _parameters(choice)))
        console.print(table)


def _written(value: Any) -> str:
    """A value as a scenario file has it; a dash for none."""
    return "–" if value is None else toml(value)


def _sourced(entry: dict[str, Any]) -> str:
    document = f" [{entry['document']}]" if entry.get("document") else ""
    return str(entry.get("summary") or "") + document


def _parameters(choice: dict[str, Any]) -> str:
    parameters = []
    for each in choice.get("parameters", []):
        unit = f" in {each['unit']}" if each.get("unit") else ""
        parameters.append(f"{each['name']}{unit} = {_written(each.get('default'))}")
    return f" Parameters: {', '.join(parameters)}." if parameters else ""
