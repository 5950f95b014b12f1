"""Generates the reference from the program: schema, mechanisms, profiles, options.

Lives here: the conversion of these to Markdown. Must not live here: any knowledge of a key.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Returns all pages, by their place in the site."""
    from netspurt import _core
    from netspurt.cli.commands import COMMANDS
    from netspurt.cli.entry import parser

    schema = json.loads(_core.schema())
    return {
        "reference/scenario.md": scenario(schema),
        "reference/mechanisms.md": mechanisms(json.loads(_core.mechanisms())),
        "reference/profiles.md": profiles(json.loads(_core.profiles())),
        "reference/paths.md": paths(json.loads(_core.paths())),
        "reference/commands.md": commands(parser(COMMANDS)),
    }


def scenario(schema: Schema) -> str:
    """Describes every key of the scenario file: meaning, unit or choices, default, document."""
    lines = ["# The scenario file", "", _prose(schema.get("description", "")), ""]
    lines += [
        "Generated from the schema by which the program checks files (`netspurt schema`). Write a value with its "
        'unit as text, such as "20 ms". A number without its unit is an error, and so is an unknown key.',
        "",
    ]
    definitions: Schema = schema["$defs"]
    lines += ["## The file", "", *_keys(schema, definitions), ""]
    seen: set[str] = set()
    waiting = list(_names(schema))
    while waiting:
        name = waiting.pop(0)
        if name in seen or name not in definitions:
            continue
        seen.add(name)
        lines += _definition(name, definitions)
        waiting += _names(definitions[name])
    return "\n".join(lines) + "\n"


def _definition(name: str, definitions: Schema) -> list[str]:
    of = definitions[name]
    lines = [f"## {name}", "", _prose(of.get("description", "")), ""]
    if "pattern" in of:
        examples = ", ".join(f"`{each}`" for each in of.get("examples", ()))
        return [*lines, f"Written as {of.get('format', 'text')}, such as {examples}.", ""]
    if of.get("properties"):
        return [*lines, *_keys(of, definitions), ""]
    plain = []
    for choice in of.get("oneOf", of.get("anyOf", ())):
        kind = _kind(choice)
        if kind is None:
            plain.append(choice)
            continue
        lines += [f"### {name}: `{kind}`", "", _prose(choice.get("description", "")), ""]
        if set(choice.get("properties", {})) - {"kind"}:
            lines += [*_keys(choice, definitions), ""]
    lines += [f"* {_type(choice, definitions)}{_behind(choice)}" for choice in plain]
    if "enum" in of:
        lines += [f"One of {_type(of, definitions)}."]
    return [*lines, ""]


def _behind(choice: Schema) -> str:
    words = choice.get("description", "")
    return f": {_cell(words)}" if words else ""


def _kind(choice: Schema) -> str | None:
    keys = choice.get("properties", {})
    found = keys.get("kind", keys.get("model", {})).get("const")
    return str(found) if found is not None else None


def _keys(of: Schema, definitions: Schema) -> list[str]:
    required = of.get("required", ())
    lines = ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    for key, value in of.get("properties", {}).items():
        if key == "kind" and "const" in value:
            continue
        default = "required" if key in required else _default(value)
        lines.append(
            f"| `{key}` | {_type(value, definitions)} | {default} | {_cell(value.get('description', ''))} |"
        )
    return lines


def _default(value: Schema) -> str:
    return f"`{json.dumps(value['default'], ensure_ascii=False)}`" if "default" in value else ""


def _type(value: Schema, definitions: Schema) -> str:
    """Describes the type of a value in a few words. A named type becomes a link."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in value:
        return f"`{json.dumps(value['const'], ensure_ascii=False)}`"
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    for union in ("anyOf", "oneOf"):
        if union in value:
            return " or ".join(dict.fromkeys(_type(each, definitions) for each in value[union]))
    if value.get("type") == "array":
        return f"a list of {_type(value.get('items', {}), definitions)}"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"by name: {_type(inner, definitions)}" if isinstance(inner, Mapping) else "a table"
    kind = value.get("type", "any value")
    names = {
        "integer": "a whole number",
        "number": "a number",
        "string": "text",
        "boolean": "`true` or `false`",
    }
    bounds = [f"at least {value['minimum']:g}"] if value.get("minimum") else []
    bounds += [f"at most {value['maximum']:g}"] if "maximum" in value else []
    return ", ".join([names.get(str(kind), str(kind)), *bounds])


def _names(of: Any) -> Iterator[str]:
    """Yields the types that a part of the schema refers to, in order."""
    if isinstance(of, Mapping):
        for key, value in of.items():
            if key == "$ref":
                yield str(value).rsplit("/", 1)[-1]
            elif key != "$defs":
                yield from _names(value)
    elif isinstance(of, Sequence) and not isinstance(of, str):
        for each in of:
            yield from _names(each)


def mechanisms(families: Sequence[Mapping[str, Any]]) -> str:
    """Lists every choice of each mechanism, with parameters, defaults and documents."""
    lines = [
        "# Mechanisms",
        "",
        "Generated from `netspurt mechanisms`. Each heading is the path to override.",
        "",
    ]
    for family in families:
        lines += [f"## `{family['path']}`", "", _prose(family["summary"] or ""), ""]
        facts = []
        if family["default"] is not None:
            facts.append(f"Default: `{_toml(family['default'])}`.")
        if family["unit"]:
            facts.append(f"Unit: {family['unit']}.")
        if family["document"]:
            facts.append(f"Document: {family['document']}.")
        if facts:
            lines += [" ".join(facts), ""]
        if family["choices"]:
            lines += ["| choice | description | document |", "| --- | --- | --- |"]
            for choice in family["choices"]:
                name = f"**`{choice['name']}`**" if choice["default"] else f"`{choice['name']}`"
                means = _cell(choice["summary"] or "") + _parameters(choice["parameters"])
                lines.append(f"| {name} | {means} | {_cell(choice['document'] or '')} |")
            lines.append("")
    return "\n".join(lines) + "\n"


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> str:
    choices = []
    for each in parameters:
        default = "" if each["default"] is None else f" (`{_toml(each['default'])}`)"
        choices.append(f"<br>`{each['name']}`{default}: {_cell(each['summary'] or '')}")
    return "".join(choices)


def profiles(known: Sequence[Mapping[str, Any]]) -> str:
    """Lists every profile with all its settings."""
    lines = [
        "# Profiles",
        "",
        "Generated from `netspurt profiles`. A profile is a complete TCP by name, with a choice for each mechanism.",
        "",
    ]
    for profile in known:
        lines += [f"## `{profile['name']}`", "", _prose(profile["summary"]), ""]
        lines += [f"Document: {profile['document']}.", ""] if profile["document"] else []
        lines += ["| key | value |", "| --- | --- |"]
        lines += [f"| `{key}` | `{_toml(value)}` |" for key, value in profile["tcp"].items()]
        lines.append("")
    return "\n".join(lines) + "\n"


EXAMPLE = """\
duration = "60 s"

[link.line]
between = ["home", "net"]
path = {path}

[[flow]]
from = "net"
to = "home"
app = {{ kind = "bulk", bytes = "20 MB" }}
"""


def paths(models: Sequence[Mapping[str, Any]]) -> str:
    """Describes every path model: what it models, what not, its sources, its keys, and an example."""
    lines = [
        "# Path models",
        "",
        'Generated from `netspurt paths`. `path = "leo"` on a link stands for plain keys of the link and for changes '
        "of it; `netspurt run --path leo` uses a model without a file. The first node of `between` is the user's side. "
        "Keys beside `path` replace those of the model. The merged scenario of a run shows the plain keys.",
        "",
        "The figures of each section are published values that the tests measure on the model.",
        "",
    ]
    for model in models:
        lines += [f"## `{model['name']}`", "", f"{model['title']}. {model['summary']}", ""]
        lines += ["Modelled:", "", *(f"* {each}" for each in model["modelled"]), ""]
        lines += ["Not modelled:", "", *(f"* {each}" for each in model["not_modelled"]), ""]
        if model["parameters"]:
            lines += ["| parameter | default | meaning |", "| --- | --- | --- |"]
            lines += [
                f"| `{each['name']}` | `{each['default']}` | {_cell(each['meaning'])} |"
                for each in model["parameters"]
            ]
            lines.append("")
        if model["figures"]:
            lines += ["| figure | published | model within | source |", "| --- | --- | --- | --- |"]
            lines += [_figure(figure) for figure in model["figures"]]
            lines.append("")
        lines += ["Sources:", ""]
        lines += [
            f"{number}. {each['cite']}: {each['gives']}" for number, each in enumerate(model["sources"], 1)
        ]
        lines += [
            "",
            "Example:",
            "",
            "```toml",
            EXAMPLE.format(path=_toml(_chosen(model))).rstrip(),
            "```",
            "",
        ]
        lines += ["It stands for:", "", "```toml", model["toml"].rstrip(), "```", ""]
    return "\n".join(lines) + "\n"


def _chosen(model: Mapping[str, Any]) -> str | dict[str, str]:
    """A model as a file names it: with its parameters, if it has any."""
    given = {each["name"]: each["default"] for each in model["parameters"]}
    return {"model": model["name"], **given} if given else str(model["name"])


def _figure(figure: Mapping[str, Any]) -> str:
    names = {"rtt": "round trip of small packets", "down": "rate to the user", "up": "rate from the user"}
    share = figure["quantile"]
    which = "mean" if share is None else "median" if share == 0.5 else f"quantile {share:g}"
    unit = "ms" if figure["quantity"] == "rtt" else "Mbit/s"
    return (
        f"| {names[figure['quantity']]}, {which} | {figure['published']:g} {unit} | {100 * figure['within']:g} % | "
        f"{figure['source'] + 1} |"
    )


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def commands(top: argparse.ArgumentParser) -> str:
    """Lists every command with its help."""
    lines = ["# Commands", "", "Generated from the help that each command prints.", ""]
    for words, command in _commands(top, ()):
        command.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=100)
        lines += [
            f"## `netspurt {' '.join(words)}`",
            "",
            "```text",
            command.format_help().rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines) + "\n"


def _commands(
    top: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield (*words, name), command
                yield from _commands(command, (*words, name))


def _prose(text: str) -> str:
    return text.strip()


def _cell(text: str) -> str:
    """Formats text for a table cell."""
    return " ".join(text.split()).replace("|", "\\|")
