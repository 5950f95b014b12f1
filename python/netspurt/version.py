"""Which netspurt this is. Lives here: version and commit in words. Must not live here: anything slow to import."""

from __future__ import annotations

from netspurt import __version__


def full() -> str:
    """The version with the commit that the native module was built from, such as ``0.1.0+3d641e1d2cca``.

    Without the native module, or outside a checkout, the version alone.
    """
    try:
        from netspurt import _core
    except ImportError:
        return __version__
    commit = _core.commit()
    return __version__ if commit is None else f"{__version__}+{commit}"
