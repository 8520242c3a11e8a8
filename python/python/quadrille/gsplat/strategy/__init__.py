"""Strategies that add and remove splats while a scene is trained."""

from __future__ import annotations

from .base import Strategy
from .default import DefaultStrategy
from .mcmc import MCMCStrategy

__all__ = ["DefaultStrategy", "MCMCStrategy", "Strategy"]
