"""A scenario with a remedy.

Lives here: applying a remedy's settings or its change of the network. Must not live here: any remedy.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from netspurt.remedies.remedy import Remedy
from netspurt.scenario import Scenario, parse


def changed(scenario: Scenario, remedy: Remedy) -> Scenario:
    """The scenario with the remedy.

    Raises:
        ScenarioError: the remedy does not fit this scenario.
    """
    if remedy.literal:
        return Scenario(scenario.native.set([(path, str(value)) for path, value in remedy.settings.items()]))
    if remedy.rewrite is None:
        return scenario.set(remedy.settings)
    tree = tomllib.loads(scenario.merged())
    remedy.rewrite(tree)
    return of_tree(tree, scenario)


def of_tree(tree: Mapping[str, Any], like: Scenario) -> Scenario:
    """The scenario of a tree, with the name and the algorithms of another.

    Raises:
        ScenarioError: the tree is no scenario.
    """
    made = parse(text(tree), like.name)
    return made.with_algorithms(like.algorithms) if like.algorithms else made


def text(tree: Mapping[str, Any]) -> str:
    """A tree as TOML, one line for each of its keys."""
    return "".join(f"{json.dumps(key)} = {_value(value)}\n" for key, value in tree.items())


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
