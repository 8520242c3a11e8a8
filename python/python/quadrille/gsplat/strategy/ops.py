"""Operations on trained splats, which keep parameters, optimisers and the state of a strategy in step.

``params`` maps names to parameters with a row per splat, ``optimizers`` the same names to optimisers of one group
each, and ``state`` names to tensors with a row per splat; its other values are left alone. All three are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._namespace import torch, unit, without_gradients
from .._projection import quat_scale_to_covar_preci
from ..relocation import compute_relocation
from ..utils import normalized_quat_to_rotmat

__all__ = [
    "duplicate",
    "inject_noise_to_position",
    "relocate",
    "remove",
    "reset_opa",
    "sample_add",
    "split",
]

#: Most weights that torch.multinomial takes.
_MOST_WEIGHTS = 2**24
#: Factor by which the parts of a split splat are smaller (3DGS, section 5.2).
_SPLIT_SHRINK = 1.6
#: Steepness and centre of the logistic function of transparency by which noise is weighted (3DGS as Markov chain Monte
#: Carlo, section 4.1, and its published code).
_NOISE_STEEPNESS, _NOISE_CENTRE = 100, 0.995


@without_gradients
def duplicate(params: Any, optimizers: Any, state: Any, mask: Any) -> None:
    """Appends copies of the splats of ``mask``. Moments of the copies start at zero."""
    rows = torch.where(mask)[0]
    _replace(params, optimizers, lambda _, old: torch.cat([old, old[rows]]), lambda old: _padded(old, len(rows)))
    _replace_state(state, lambda old: torch.cat([old, old[rows]]))


@without_gradients
def split(params: Any, optimizers: Any, state: Any, mask: Any, revised_opacity: bool = False) -> None:
    """Replaces each splat of ``mask`` by two smaller ones, drawn at random from its extent, behind the others.

    ``revised_opacity`` lowers opacities so that both together are as opaque as the splat (Revising Densification in
    Gaussian Splatting, section 3.3).
    """
    rows, others = torch.where(mask)[0], torch.where(~mask)[0]
    scales = torch.exp(params["scales"][rows])
    rotations = normalized_quat_to_rotmat(unit(torch, params["quats"][rows]))
    offsets = scales * torch.randn(2, len(rows), 3, device=mask.device)
    offsets = (rotations @ offsets[..., None])[..., 0]

    def twice(old: Any) -> Any:
        return torch.cat([old, old])

    def parts(name: str, old: Any) -> Any:
        if name == "means":
            return (old[rows] + offsets).reshape(-1, 3)
        if name == "scales":
            return twice(torch.log(scales / _SPLIT_SHRINK))
        if name == "opacities" and revised_opacity:
            return twice(torch.logit(1 - torch.sqrt(1 - torch.sigmoid(old[rows]))))
        return twice(old[rows])

    _replace(
        params,
        optimizers,
        lambda name, old: torch.cat([old[others], parts(name, old)]),
        lambda old: _padded(old[others], 2 * len(rows)),
    )
    _replace_state(state, lambda old: torch.cat([old[others], twice(old[rows])]))


@without_gradients
def remove(params: Any, optimizers: Any, state: Any, mask: Any) -> None:
    """Removes the splats of ``mask``."""
    kept = torch.where(~mask)[0]
    _replace(params, optimizers, lambda _, old: old[kept], lambda old: old[kept])
    _replace_state(state, lambda old: old[kept])


@without_gradients
def reset_opa(params: Any, optimizers: Any, state: Any, value: float) -> None:
    """Limits opacities to ``value``, after the sigmoid, and sets their moments to zero."""
    most = torch.logit(torch.tensor(value)).item()
    _replace(params, optimizers, lambda _, old: old.clamp(max=most), torch.zeros_like, ["opacities"])


@without_gradients
def relocate(params: Any, optimizers: Any, state: Any, mask: Any, binoms: Any, min_opacity: float = 0.005) -> None:
    """Moves the splats of ``mask`` onto others, drawn by their opacities, which share their light with them.

    ``binoms`` are the coefficients of `compute_relocation`.
    """
    dead, alive = torch.where(mask)[0], torch.where(~mask)[0]
    opacities = torch.sigmoid(params["opacities"])
    rows = alive[_drawn(opacities[alive].flatten(), len(dead))]
    shared = _shared(params, rows, binoms, min_opacity)

    def moved(name: str, old: Any) -> Any:
        if name in shared:
            old[rows] = shared[name]
        old[dead] = old[rows]
        return old

    def cleared(old: Any) -> Any:
        old[rows] = 0
        return old

    _replace(params, optimizers, moved, cleared)
    _replace_state(state, cleared)


@without_gradients
def sample_add(params: Any, optimizers: Any, state: Any, n: int, binoms: Any, min_opacity: float = 0.005) -> None:
    """Appends ``n`` splats at the places of others, drawn by their opacities, which share their light with them.

    ``binoms`` are the coefficients of `compute_relocation`.
    """
    rows = _drawn(torch.sigmoid(params["opacities"]).flatten(), n)
    shared = _shared(params, rows, binoms, min_opacity)

    def grown(name: str, old: Any) -> Any:
        if name in shared:
            old[rows] = shared[name]
        return torch.cat([old, old[rows]])

    _replace(params, optimizers, grown, lambda old: _padded(old, n))
    _replace_state(state, lambda old: _padded(old, n))


@without_gradients
def inject_noise_to_position(params: Any, optimizers: Any, state: Any, scaler: float) -> None:
    """Moves splats at random within their extents, transparent ones farther; ``scaler`` is the length of the moves."""
    transparencies = 1 - torch.sigmoid(params["opacities"].flatten())
    weights = 1 / (1 + torch.exp(-_NOISE_STEEPNESS * (transparencies - _NOISE_CENTRE)))
    covariances, _ = quat_scale_to_covar_preci(params["quats"], torch.exp(params["scales"]), compute_preci=False)
    noise = torch.randn_like(params["means"]) * weights[:, None] * scaler
    params["means"].add_((covariances @ noise[..., None])[..., 0])


def _replace(
    params: Any,
    optimizers: Any,
    of_parameter: Callable[[str, Any], Any],
    of_moments: Callable[[Any], Any],
    names: Iterable[str] | None = None,
) -> None:
    """Replaces parameters, and the tensors that their optimisers keep of them, by functions of the old ones."""
    for name in list(params) if names is None else names:
        old = params[name]
        params[name] = new = torch.nn.Parameter(of_parameter(name, old), requires_grad=old.requires_grad)
        if name not in optimizers:
            if old.requires_grad:
                raise ValueError(f"optimizers: expected one for {name}, which requires gradients, found none")
            continue
        optimizer = optimizers[name]
        kept = optimizer.state.pop(old, {})
        optimizer.state[new] = {key: value if key == "step" else of_moments(value) for key, value in kept.items()}
        for group in optimizer.param_groups:
            group["params"] = [new]


def _replace_state(state: Any, of_tensor: Callable[[Any], Any]) -> None:
    """Replaces the tensors of a strategy's state by functions of the old ones."""
    state.update({name: of_tensor(old) for name, old in state.items() if isinstance(old, torch.Tensor)})


def _padded(old: Any, count: int) -> Any:
    """A tensor with ``count`` rows of zeros behind it."""
    return torch.cat([old, old.new_zeros((count, *old.shape[1:]))])


def _drawn(weights: Any, count: int) -> Any:
    """Random rows by weight, with replacement."""
    if len(weights) <= _MOST_WEIGHTS:
        return torch.multinomial(weights, count, replacement=True)
    shares = (weights / weights.sum()).cpu().numpy().astype(np.float64)
    rows = np.random.choice(len(shares), size=count, p=shares / shares.sum(), replace=True)
    return torch.from_numpy(rows).to(weights.device)


def _shared(params: Any, rows: Any, binoms: Any, min_opacity: float) -> dict[str, Any]:
    """Logits and logarithms of scales of splats that get another copy for each time that they are in ``rows``."""
    opacities, scales = compute_relocation(
        torch.sigmoid(params["opacities"])[rows],
        torch.exp(params["scales"])[rows],
        torch.bincount(rows)[rows] + 1,
        binoms,
    )
    opacities = opacities.clamp(min_opacity, 1 - torch.finfo(torch.float32).eps)
    return {"opacities": torch.logit(opacities), "scales": torch.log(scales)}
