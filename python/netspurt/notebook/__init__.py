"""Notebook displays of scenarios and results.

Lives here: HTML for ``_repr_html_``. Must not live here: the displayed values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netspurt.notebook import diagnosis, displays, predictions

FORMS: dict[str, Callable[[Any], str]] = {
    "scenario": displays.of_scenario,
    "network": displays.network,
    "result": displays.of_result,
    "comparison": displays.of_comparison,
    "sweep": displays.of_sweep,
    "capture": displays.of_capture,
    "under-load": displays.of_under_load,
    "diagnosis": diagnosis.of_diagnosis,
    "fit": predictions.of_fit,
    "what-if": predictions.of_what_if,
}
"""The display functions, by the name that a value uses."""


def shown(form: str, value: object) -> str:
    """HTML or SVG of a value."""
    return FORMS[form](value)
