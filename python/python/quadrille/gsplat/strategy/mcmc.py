"""Growth by sampling (3D Gaussian Splatting as Markov Chain Monte Carlo)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from .._namespace import torch, without_gradients
from .base import Strategy, check_needed
from .ops import inject_noise_to_position, relocate, sample_add

#: Most copies of a splat that one relocation counts (the published code of the paper).
_MOST_COPIES = 51
#: Growth of the number of splats at a change (section 4.4 of the paper).
_GROWTH = 1.05


@dataclasses.dataclass
class MCMCStrategy(Strategy):
    """Moves transparent splats onto opaque ones, adds splats there, and shakes all of them at every step."""

    #: Most splats.
    cap_max: int = 1_000_000
    #: Length of the random moves, in units of the learning rate of the means.
    noise_lr: float = 5e5
    #: Last step without changes.
    refine_start_iter: int = 500
    #: Step from which on splats are only shaken.
    refine_stop_iter: int = 25_000
    #: Steps from one change to the next.
    refine_every: int = 100
    #: Splats up to this opacity are moved.
    min_opacity: float = 0.005
    #: Whether to print what changes.
    verbose: bool = False

    def initialize_state(self) -> dict[str, Any]:
        """The state that the other calls share: binomial coefficients."""
        numbers = range(_MOST_COPIES)
        return {"binoms": torch.tensor([[float(math.comb(n, k)) for k in numbers] for n in numbers])}

    def check_sanity(self, params: Any, optimizers: Any) -> None:
        """Raises ValueError if parameters or optimisers are missing, or an optimiser has several groups."""
        super().check_sanity(params, optimizers)
        check_needed(params)

    def step_post_backward(
        self, params: Any, optimizers: Any, state: Any, step: int, info: Any, lr: float
    ) -> None:
        """Changes splats at its steps, and shakes them; to be called after ``loss.backward()``.

        ``lr`` is the learning rate of the means.
        """
        state["binoms"] = binoms = state["binoms"].to(params["means"].device)
        if self.refine_start_iter < step < self.refine_stop_iter and step % self.refine_every == 0:
            moved = self._relocate_gs(params, optimizers, binoms)
            added = self._add_new_gs(params, optimizers, binoms)
            if self.verbose:
                print(f"step {step}: {moved} splats moved, {added} added; {len(params['means'])} splats")
        inject_noise_to_position(params, optimizers, {}, lr * self.noise_lr)

    @without_gradients
    def _relocate_gs(self, params: Any, optimizers: Any, binoms: Any) -> int:
        """Moves transparent splats; returns how many."""
        is_dead = torch.sigmoid(params["opacities"].flatten()) <= self.min_opacity
        count = int(is_dead.sum())
        if count > 0:
            relocate(params, optimizers, {}, is_dead, binoms, self.min_opacity)
        return count

    @without_gradients
    def _add_new_gs(self, params: Any, optimizers: Any, binoms: Any) -> int:
        """Adds splats; returns how many."""
        before = len(params["means"])
        count = max(0, min(self.cap_max, int(_GROWTH * before)) - before)
        if count > 0:
            sample_add(params, optimizers, {}, count, binoms, self.min_opacity)
        return count
