"""Calls that a training loop makes of every strategy."""

from __future__ import annotations

import dataclasses
from typing import Any

#: Parameters without which a strategy cannot work.
_NEEDED = ("means", "scales", "quats", "opacities")


@dataclasses.dataclass
class Strategy:
    """Calls around ``loss.backward()``, which do nothing here.

    ``params`` are the parameters of splats by name: ``means``, ``quats``, ``scales`` (logarithms), ``opacities``
    (logits) and any others with a row per splat. ``optimizers`` has one optimiser for each of them.
    """

    def check_sanity(self, params: Any, optimizers: Any) -> None:
        """Raises ValueError unless the parameters that require gradients have an optimiser of one group each."""
        trained = {name for name, parameter in params.items() if parameter.requires_grad}
        if trained != set(optimizers):
            raise ValueError(f"optimizers: expected one for each of {sorted(trained)}, found {sorted(optimizers)}")
        for name, optimizer in optimizers.items():
            if len(optimizer.param_groups) != 1:
                raise ValueError(f"optimizers: expected one group for {name}, found {len(optimizer.param_groups)}")

    def step_pre_backward(self, *args: Any, **kwargs: Any) -> None:
        """To be called before ``loss.backward()``."""

    def step_post_backward(self, *args: Any, **kwargs: Any) -> None:
        """To be called after ``loss.backward()``."""


def check_needed(params: Any) -> None:
    """Raises ValueError if a parameter of every splat is missing."""
    missing = [name for name in _NEEDED if name not in params]
    if missing:
        raise ValueError(f"params: expected {', '.join(_NEEDED)}, found no {', '.join(missing)}")
