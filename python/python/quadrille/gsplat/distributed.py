"""Start of a training script, which gsplat does on every GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["cli"]


def cli(fn: Callable[[int, int, int, Any], object], args: Any, verbose: bool = False) -> bool:
    """Calls ``fn(local_rank, world_rank, world_size, args)`` as the one process there is, and returns True.

    >>> from quadrille.gsplat.distributed import cli
    >>> cli(lambda local_rank, world_rank, world_size, args: print(local_rank, world_rank, world_size, args), "data")
    0 0 1 data
    True
    """
    fn(0, 0, 1, args)
    return True
