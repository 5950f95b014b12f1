"""The controls of a scenario on the page.

Names of keys, their choices, units, defaults and documents come from ``mechanisms`` and ``profiles``, so a new
algorithm appears on the page without a change here. This module only chooses what a new user sees first.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from netspurt import _core

Table = dict[str, Any]

FIRST = (
    *("profile", "congestion", "recovery", "initial_window", "receive_window"),
    *("transmit", "acking", "rto", "loss_means", "ecn"),
)
"""Keys of ``[tcp]`` that are visible at first, in this order; the others are one click away."""

LINK = ("rate", "delay", "loss", "queue")
HUB = ("rate", "delay", "loss", "queue")
APP = ("bytes", "request", "response", "size", "exchanges")
"""Visible keys of an application, if they hold one value."""

START: dict[str, Any] = {"rate": 1e-6, "limit": "50 packets", "mean": "100 packets"}
START |= {"min": "5 packets", "max": "15 packets", "good_to_bad": 0.001, "bad_to_good": 0.2}
"""Initial values of parameters without a default, when the user chooses their algorithm."""


@functools.cache
def catalogue() -> dict[str, Table]:
    """Every key with its choices, by its path, with ``NAME`` and ``N`` in place of names and numbers."""
    families: list[Table] = json.loads(_core.mechanisms())
    for family in families:
        for choice in family["choices"]:
            for parameter in choice["parameters"]:
                parameter["start"] = START.get(parameter["name"]) if parameter["default"] is None else None
    return {family["path"]: family for family in families}


@functools.cache
def profiles() -> dict[str, Table]:
    """Every TCP profile by its name."""
    return {profile["name"]: profile for profile in json.loads(_core.profiles())}


def groups(scenario: Table) -> list[Table]:
    """Controls for a merged scenario, in groups: ``title``, ``controls``, and whether the group is ``open``.

    A control has its ``path``, a ``label``, a ``form`` ("quantity", "choice" or "truth"), ``first`` (shown at once),
    ``summary``, ``document``, and ``choices`` with their parameters.
    """
    found: list[Table] = []
    links = scenario.get("link", {})
    for place, name in enumerate(sorted(links, key=lambda name: _slowness(links[name]))):
        controls = list(_of(f"link.{name}", "link.NAME", LINK))
        here, there = links[name]["between"]
        for control in controls:
            control["directions"] = [f"{here} → {there}", f"{there} → {here}"]
        found.append(_group(f"Link {name}", " – ".join(links[name]["between"]), controls, place == 0))
    for name, hub in scenario.get("hub", {}).items():
        controls = list(_of(f"hub.{name}", "hub.NAME", HUB))
        found.append(_group(f"Hub {name}", ", ".join(hub["stations"]), controls, True))
    for scope, title in _scopes(scenario):
        found.append(_group(title, "", list(_tcp(scope)), scope == "tcp" or "tcp" not in scenario))
    for place, flow in enumerate(scenario.get("flow", [])):
        controls = list(_flow(place, flow))
        if controls:
            name = flow.get("name", flow["app"]["kind"])
            found.append(_group(f"Flow {name}", f"{flow['from']} → {flow['to']}", controls, place == 0))
    return found


def values(scenario: Table) -> Table:
    """The value of each control, by its path, in TOML form; includes keys that only the profile sets."""
    found: Table = {}
    for kind, keys in (("link", LINK), ("hub", HUB)):
        for name, table in scenario.get(kind, {}).items():
            found |= {f"{kind}.{name}.{key}": table.get(key) for key in keys}
    for scope, _ in _scopes(scenario):
        said = dict(scenario.get("tcp", {}))
        if scope != "tcp":
            said |= _inside(scenario, scope)
        profile = said.get("profile", "rfc")
        whole = profiles().get(profile, {}).get("tcp", {}) | said | {"profile": profile}
        found |= {f"{scope}.{key}": value for key, value in whole.items()}
    for place, flow in enumerate(scenario.get("flow", [])):
        found |= {control["path"]: flow["app"].get(_last(control["path"])) for control in _flow(place, flow)}
    return found


def read(merged: str) -> Table:
    """A merged scenario as a table."""
    return tomllib.loads(merged)


def _group(title: str, words: str, controls: list[Table], is_open: bool) -> Table:
    return {"title": title, "words": words, "controls": controls, "open": is_open}


def _of(scope: str, pattern: str, keys: tuple[str, ...]) -> Iterator[Table]:
    for key in keys:
        family = catalogue().get(f"{pattern}.{key}")
        if family is not None:
            yield _control(f"{scope}.{key}", family, True)


def _tcp(scope: str) -> Iterator[Table]:
    summary = "The system whose TCP this is: it sets all keys below, each of which can be changed alone."
    choices = [
        {"name": name, "summary": each["summary"], "document": each["document"], "parameters": []}
        for name, each in profiles().items()
    ]
    yield {"path": f"{scope}.profile", "label": "profile", "form": "choice", "first": True} | {
        "summary": summary,
        "document": None,
        "choices": choices,
    }
    keys = [path.removeprefix("tcp.") for path in catalogue() if path.startswith("tcp.")]
    for key in sorted(keys, key=lambda key: (FIRST.index(key) if key in FIRST else len(FIRST), key)):
        family = catalogue()[f"tcp.{key}"]
        if family["choices"] or family["default"] is not None:
            yield _control(f"{scope}.{key}", family, key in FIRST)


def _flow(place: int, flow: Mapping[str, Any]) -> Iterator[Table]:
    app = catalogue()["flow.N.app"]
    (kind,) = (choice for choice in app["choices"] if choice["name"] == flow["app"]["kind"])
    for parameter in kind["parameters"]:
        if parameter["name"] in APP and isinstance(flow["app"].get(parameter["name"]), str | int):
            path = f"flow.{place}.app.{parameter['name']}"
            yield _control(path, parameter | {"choices": [], "document": None}, True)


def _control(path: str, family: Table, first: bool) -> Table:
    form = "choice" if family["choices"] else "truth" if isinstance(family["default"], bool) else "quantity"
    shared = {key: family[key] for key in ("summary", "document", "choices")}
    if family["unit"] is not None:
        # A quantity that may also vary, as the delay of a link: the page sets the quantity.
        form, shared["choices"] = "quantity", []
    return {"path": path, "label": _last(path), "form": form, "first": first, **shared}


def _scopes(scenario: Table) -> Iterator[tuple[str, str]]:
    """The places of TCP settings: for all, and for single hosts and flows with their own keys."""
    hosts = [f"host.{name}.tcp" for name, host in scenario.get("host", {}).items() if "tcp" in host]
    flows = [f"flow.{place}.tcp" for place, flow in enumerate(scenario.get("flow", [])) if "tcp" in flow]
    if "tcp" in scenario or not hosts:
        yield "tcp", "TCP"
    for scope in (*hosts, *flows):
        kind, name, _ = scope.split(".")
        yield scope, f"TCP of {kind} {name}"


def _inside(scenario: Table, path: str) -> Table:
    here: Any = scenario
    for key in path.split("."):
        here = here[int(key)] if isinstance(here, list) else here[key]
    table: Table = here
    return table


def _last(path: str) -> str:
    return path.rpartition(".")[2]


_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def _slowness(link: Mapping[str, Any]) -> float:
    """The rate of a link, for sorting the bottleneck first; a link without a rate is last.

    Of two directions the slower one counts.
    """
    rates = link.get("rate", "")
    return min(_bits_per_second(rate) for rate in (rates if isinstance(rates, list) else [rates]))


def _bits_per_second(rate: str) -> float:
    number, _, unit = rate.partition(" ")
    return float(number) * _PREFIXES.get(unit[:1], 1.0) if number else float("inf")
