"""Opacities and scales of splats that several copies replace (3DGS as Markov chain Monte Carlo, equation 9)."""

from __future__ import annotations

from typing import Any

from ._namespace import floats, torch, without_gradients

__all__ = ["compute_relocation"]


@without_gradients
def compute_relocation(opacities: Any, scales: Any, ratios: Any, binoms: Any) -> tuple[Any, Any]:
    """New opacities and scales of splats, n copies of which look as the one did.

    Sums have alternating signs and are taken in double precision.

    Parameters
    ----------
    opacities, scales : [N] or [N, 1], and [N, 3].
    ratios : [N], the numbers of copies n; limited to 1 to n_max.
    binoms : [n_max, n_max], binomial coefficients.
    """
    count, most = len(opacities), len(binoms)
    floats(torch, scales, "scales", (count, 3))
    copies = floats(torch, ratios, "ratios", (count,)).clamp(1, most).long()
    old = opacities.double().reshape(count, 1)
    new = -torch.expm1(torch.log1p(-old) / copies[:, None])
    powers = torch.arange(1, most + 1, dtype=torch.float64, device=old.device)
    # Row n - 1: the sum over i < n of the coefficients of i, of alternating signs.
    sums = binoms.double().cumsum(0) * (1 - 2 * ((powers - 1) % 2)) / powers.sqrt()
    denominators = (sums[copies - 1] * new**powers).sum(-1, keepdim=True)
    return new.reshape(opacities.shape).to(opacities.dtype), (old / denominators * scales).to(scales.dtype)
