"""The version of netspurt. Lives here: version and commit as text. Must not live here: any slow import."""

from __future__ import annotations

from netspurt import __version__


def full() -> str:
    """The version with the commit of the native module, such as ``0.1.0+3d641e1d2cca``.

    Without the native module, or outside a checkout, only the version.
    """
    try:
        from netspurt import _core
    except ImportError:
        return __version__
    commit = _core.commit()
    return __version__ if commit is None else f"{__version__}+{commit}"
