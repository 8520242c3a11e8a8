"""Threads, and facts of the build."""

from __future__ import annotations

from . import _quadrille


def set_threads(n: int) -> None:
    """Sets the number of threads of all calls that name none.

    Results are the same on any number of threads. Without this call, the number is ``QUADRILLE_THREADS`` of the
    environment or, without that, the number of cores.

    Parameters
    ----------
    n : 1 or more; 0 stands for the number of cores.

    >>> import quadrille
    >>> quadrille.set_threads(2)
    >>> quadrille.set_threads(0)
    """
    _quadrille.set_threads(checked_threads(n))


def build_info() -> dict[str, str]:
    """Version, commit and a digest of the sources of this build.

    >>> import quadrille
    >>> sorted(quadrille.build_info())
    ['commit', 'sources', 'version']
    """
    return dict(_quadrille.build_info())


def checked_threads(n: int) -> int:
    """The number of threads, which must not be negative."""
    from ._arrays import integer

    count = integer(n, "threads")
    if not 0 <= count <= 65535:
        raise ValueError(f"threads: expected 0 to 65535, found {count}")
    return count
