"""Folders of PNG pictures, which gsplat writes and Quadrille does not."""

from __future__ import annotations

from typing import Any

__all__ = ["PngCompression"]


class PngCompression:
    """Folders of PNG pictures, which Quadrille does not write."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("PngCompression: PNG folders are not written; write SOG with quadrille.convert")
