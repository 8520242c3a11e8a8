"""Rasterization calls of gsplat, on a CPU."""

from __future__ import annotations

from ._discs import rasterization_2dgs
from ._drawing import rasterization, rasterization_vjp

__all__ = ["rasterization", "rasterization_2dgs", "rasterization_vjp"]
