"""The path models that a scenario can name: ``path = "leo"`` on a link.

Lives here: their list for Python and for commands. Must not live here: the models, which are data of the native module.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypedDict

from netspurt.errors import RequestError, nearest


class PathModel(TypedDict):
    """A path model.

    Attributes:
        name: as a scenario calls it.
        title: a few words.
        summary: one or two sentences.
        modelled: what is modelled.
        not_modelled: what is not.
        parameters: what a user may choose: ``name``, ``default`` with its unit, ``meaning``.
        sources: where the numbers are from: ``cite``, and what it ``gives``; ``choice`` where no source gives them.
        figures: published values beside which the model is measured: ``quantity`` (``rtt`` in ms; ``down`` and ``up``
            in Mbit/s), ``quantile`` (None for a mean), ``published``, ``within`` which share of it the model is, and
            the index of its ``source``.
        link: the keys that it stands for, on a link between ``user`` and ``net``.
        change: what changes on that link, which is called ``line``.
        toml: both as text of a scenario file.
    """

    name: str
    title: str
    summary: str
    modelled: list[str]
    not_modelled: list[str]
    parameters: list[dict[str, str]]
    sources: list[dict[str, str]]
    figures: list[dict[str, Any]]
    link: dict[str, Any]
    change: list[dict[str, Any]]
    toml: str


def paths() -> list[PathModel]:
    """All path models, in the order in which ``netspurt paths`` lists them."""
    from netspurt import _core

    models: list[PathModel] = json.loads(_core.paths())
    return models


def chosen(names: Sequence[str]) -> list[PathModel]:
    """The models of these names, in their order; all if there is no name.

    Raises:
        RequestError: there is no model of that name.
    """
    models = {model["name"]: model for model in paths()}
    for name in names:
        if name not in models:
            raise RequestError(
                f"there is no path model '{name}'{nearest(name, list(models))} (known are: {', '.join(models)})"
            )
    return [models[name] for name in names or models]
