"""From a path to what can be drawn of it.

Lives here: which files hold what. Must not live here: drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from netspurt.errors import RequestError
from netspurt.inputs.recording import Captured, Recording, Simulated, Traced
from netspurt.sweeping import Sweep


def of_path(
    path: Path, seed: int | None = None, settings: Sequence[tuple[str, str]] = ()
) -> Recording | Sweep:
    """A scenario (run now), a folder of ``run --out`` or of a sweep, a trace, or a capture.

    Args:
        path: of any of these.
        seed: of a scenario (by default 1), or which run of a folder (by default its first).
        settings: overrides of a scenario.

    Raises:
        RequestError: nothing there that could be drawn.
        ScenarioError: the scenario is wrong.
    """
    from netspurt import _core
    from netspurt.analysis.capture import RECORDABLE, read_capture
    from netspurt.inputs import sides
    from netspurt.scenario import Scenario

    if path.suffix == ".toml" and path.is_file():
        scenario = Scenario(_core.Scenario.load(str(path), list(settings)))
        return Simulated(scenario, 1 if seed is None else seed)
    if settings:
        raise RequestError(f"--set changes a scenario, and {path} is none")
    if path.suffix in sides.CAPTURES and path.is_file():
        return Captured(read_capture(path, RECORDABLE))
    what = sides.side(str(path), sides.How(), 0)
    if isinstance(what, sides.Swept):
        return what.sweep
    if isinstance(what, sides.Traced):
        return Traced(path.name, what.table)
    if isinstance(what, sides.Runs) and what.scenario is not None:
        known = sorted(what.documents)
        chosen = known[0] if seed is None else seed
        if chosen not in what.documents:
            raise RequestError(f"{path} holds no run of seed {chosen}; it holds {', '.join(map(str, known))}")
        return Simulated(what.scenario, chosen, what.documents[chosen]["digest"])
    raise RequestError(f"{path} keeps no scenario to draw the run from: name the folder of 'run --out'")
