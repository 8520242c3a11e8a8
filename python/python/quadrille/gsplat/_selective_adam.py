"""Adam that steps visible splats alone (Taming 3DGS)."""

from __future__ import annotations

from typing import Any

import torch

from ._namespace import without_gradients


class SelectiveAdam(torch.optim.Adam):  # type: ignore[misc]
    """Adam that leaves the values and the moments of splats outside the view as they are, as gsplat's.

    As there, moments are not corrected for their start at zero.

    Parameters
    ----------
    params : tensors, or groups of one tensor each.
    eps : least denominator of a step.
    betas : decay of the first and of the second moment in a step.
    """

    def __init__(self, params: Any, eps: float, betas: tuple[float, float]) -> None:
        super().__init__(params=params, eps=eps, betas=betas)

    @without_gradients
    def step(self, visibility: Any) -> None:
        """Steps the splats of which ``visibility`` [N] is true."""
        for group in self.param_groups:
            if len(group["params"]) != 1:
                raise ValueError(f"params: expected groups of one tensor, found one of {len(group['params'])}")
            (parameter,) = group["params"]
            if parameter.grad is None:
                continue
            state = self.state[parameter]
            if not state:
                state["step"] = torch.tensor(0.0)
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
            rows = visibility.reshape(-1).bool()
            gradient, decays = parameter.grad[rows], group["betas"]
            first = torch.lerp(gradient, state["exp_avg"][rows], decays[0])
            second = torch.lerp(gradient * gradient, state["exp_avg_sq"][rows], decays[1])
            state["exp_avg"][rows], state["exp_avg_sq"][rows] = first, second
            parameter[rows] -= group["lr"] * first / (second.sqrt() + group["eps"])
