"""Optimisers of splats. They are classes of torch, which is imported when one is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._selective_adam import SelectiveAdam

__all__ = ["SelectiveAdam"]


def __getattr__(name: str) -> Any:
    if name == "SelectiveAdam":
        from .._selective_adam import SelectiveAdam

        return SelectiveAdam
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
