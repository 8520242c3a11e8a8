"""Growth by the gradients of splats on the picture plane (3DGS, section 5)."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from .._namespace import torch, without_gradients
from .base import Strategy, check_needed
from .ops import duplicate, remove, reset_opa, split

#: Entries of `meta` that the strategy reads, beside the one of the gradients.
_READ = ("width", "height", "n_cameras", "radii", "gaussian_ids")


@dataclasses.dataclass
class DefaultStrategy(Strategy):
    """Copies small splats and splits large ones where the loss pulls at them, and removes transparent and huge ones.

    Scales in the world are in units of the ``scene_scale`` of `initialize_state`; sizes in pictures are radii over the
    longer side of the picture; steps are those of the training loop.
    """

    #: Splats of a smaller opacity are removed.
    prune_opa: float = 0.005
    #: Splats with a larger mean gradient, of a picture of width and height 2, are copied or split.
    grow_grad2d: float = 0.0002
    #: Splats up to this scale are copied, larger ones split.
    grow_scale3d: float = 0.01
    #: Splats with a larger size in a picture are split, before `refine_scale2d_stop_iter`.
    grow_scale2d: float = 0.05
    #: Splats with a larger scale are removed, after the first reset of opacities.
    prune_scale3d: float = 0.1
    #: Splats with a larger size in a picture are removed, before `refine_scale2d_stop_iter`.
    prune_scale2d: float = 0.15
    #: Step from which on sizes in pictures have no effect.
    refine_scale2d_stop_iter: int = 0
    #: Last step without changes.
    refine_start_iter: int = 500
    #: Step from which on nothing changes.
    refine_stop_iter: int = 15_000
    #: Steps from one reset of opacities to the next.
    reset_every: int = 3000
    #: Steps from one change to the next.
    refine_every: int = 100
    #: Steps after a reset without changes.
    pause_refine_after_reset: int = 0
    #: Whether to take sums of absolute gradients of pixels (AbsGS); `grow_grad2d` is then to be about 0.0008.
    absgrad: bool = False
    #: Whether the parts of a split splat are as opaque together as it was.
    revised_opacity: bool = False
    #: Whether to print what changes.
    verbose: bool = False
    #: Entry of `meta` with the gradients.
    key_for_gradient: Literal["means2d", "gradient_2dgs"] = "means2d"

    def initialize_state(self, scene_scale: float = 1.0) -> dict[str, Any]:
        """The state that the other calls share: sums over the steps since the last change."""
        state: dict[str, Any] = {"grad2d": None, "count": None, "scene_scale": scene_scale}
        if self.refine_scale2d_stop_iter > 0:
            state["radii"] = None
        return state

    def check_sanity(self, params: Any, optimizers: Any) -> None:
        """Raises ValueError if parameters or optimisers are missing, or an optimiser has several groups."""
        super().check_sanity(params, optimizers)
        check_needed(params)

    def step_pre_backward(self, params: Any, optimizers: Any, state: Any, step: int, info: Any) -> None:
        """Keeps the gradients of the means on the picture plane; to be called before ``loss.backward()``."""
        info[self.key_for_gradient].retain_grad()

    def step_post_backward(
        self, params: Any, optimizers: Any, state: Any, step: int, info: Any, packed: bool = False
    ) -> None:
        """Counts gradients and, at its steps, changes the splats; to be called after ``loss.backward()``.

        ``info`` is the `meta` of the step, and ``packed`` its layout.
        """
        if step >= self.refine_stop_iter:
            return
        self._update_state(params, state, info, packed)
        is_due = step > self.refine_start_iter and step % self.refine_every == 0
        if is_due and step % self.reset_every >= self.pause_refine_after_reset:
            copied, parted = self._grow_gs(params, optimizers, state, step)
            removed = self._prune_gs(params, optimizers, state, step)
            if self.verbose:
                count = len(params["means"])
                print(f"step {step}: {copied} splats copied, {parted} split, {removed} removed; {count} splats")
            for sums in state.values():
                if isinstance(sums, torch.Tensor):
                    sums.zero_()
        if step > 0 and step % self.reset_every == 0:
            reset_opa(params, optimizers, state, 2 * self.prune_opa)

    @without_gradients
    def _update_state(self, params: Any, state: Any, info: Any, packed: bool = False) -> None:
        """Adds gradients, counts and sizes of the splats of a step."""
        missing = [name for name in (*_READ, self.key_for_gradient) if name not in info]
        if missing:
            raise ValueError(f"info: expected the meta of rasterization, found no {', '.join(missing)}")
        means2d, radii = info[self.key_for_gradient], info["radii"]
        halves = torch.tensor([info["width"] / 2, info["height"] / 2], device=means2d.device)
        gradients = (means2d.absgrad if self.absgrad else means2d.grad) * (halves * info["n_cameras"])
        for name in ("grad2d", "count", "radii"):
            if name in state and state[name] is None:
                state[name] = torch.zeros(len(params["means"]), device=gradients.device)
        if packed:
            rows = info["gaussian_ids"]
        else:
            is_drawn = (radii > 0).all(-1)
            rows, gradients, radii = torch.where(is_drawn)[-1], gradients[is_drawn], radii[is_drawn]
        state["grad2d"].index_add_(0, rows, gradients.norm(dim=-1))
        state["count"].index_add_(0, rows, torch.ones_like(rows, dtype=torch.float32))
        if self.refine_scale2d_stop_iter > 0:
            sizes = radii.amax(-1) / float(max(info["width"], info["height"]))
            state["radii"].scatter_reduce_(0, rows, sizes, "amax")

    @without_gradients
    def _grow_gs(self, params: Any, optimizers: Any, state: Any, step: int) -> tuple[int, int]:
        """Copies and splits splats; returns how many."""
        is_pulled = state["grad2d"] / state["count"].clamp(min=1) > self.grow_grad2d
        is_small = torch.exp(params["scales"]).amax(-1) <= self.grow_scale3d * state["scene_scale"]
        is_copied, is_split = is_pulled & is_small, is_pulled & ~is_small
        if step < self.refine_scale2d_stop_iter:
            is_split |= state["radii"] > self.grow_scale2d
        copied, parted = int(is_copied.sum()), int(is_split.sum())
        if copied > 0:
            duplicate(params, optimizers, state, is_copied)
        if parted > 0:
            # The copies, which are last, stay whole.
            is_split = torch.cat([is_split, is_split.new_zeros(copied)])
            split(params, optimizers, state, is_split, self.revised_opacity)
        return copied, parted

    @without_gradients
    def _prune_gs(self, params: Any, optimizers: Any, state: Any, step: int) -> int:
        """Removes splats; returns how many."""
        is_removed = torch.sigmoid(params["opacities"].flatten()) < self.prune_opa
        if step > self.reset_every:
            is_removed |= torch.exp(params["scales"]).amax(-1) > self.prune_scale3d * state["scene_scale"]
            if step < self.refine_scale2d_stop_iter:
                is_removed |= state["radii"] > self.prune_scale2d
        count = int(is_removed.sum())
        if count > 0:
            remove(params, optimizers, state, is_removed)
        return count
