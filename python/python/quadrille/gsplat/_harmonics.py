"""Spherical harmonics of splats, differentiable with torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import integer
from ._namespace import floats, namespace, unit

#: Largest degree of gsplat's kernels.
_LARGEST_DEGREE = 4


def spherical_harmonics(degrees_to_use: int, dirs: Any, coeffs: Any, masks: Any = None) -> Any:
    """Sums of real spherical harmonics, as ``gsplat.spherical_harmonics``: without the 0.5 that colours add.

    Parameters
    ----------
    degrees_to_use : degree of the sum, 0 to 4.
    dirs : [..., 3], of any length.
    coeffs : [..., K, 3], K at least (degrees_to_use + 1)².
    masks : [...], false where the result is zero; None for true everywhere.

    Returns
    -------
    [..., 3], of torch and in its graph if the arguments are.

    >>> import numpy as np
    >>> from quadrille.gsplat import spherical_harmonics
    >>> spherical_harmonics(0, np.array([[0, 0, 1.0]]), np.ones((1, 1, 3))).round(4)
    array([[0.2821, 0.2821, 0.2821]])
    """
    degree = integer(degrees_to_use, "degrees_to_use")
    if not 0 <= degree <= _LARGEST_DEGREE:
        raise ValueError(f"degrees_to_use: expected 0 to {_LARGEST_DEGREE}, found {degree}")
    xp = namespace(dirs, coeffs)
    batch = np.shape(dirs)[:-1]
    directions = floats(xp, dirs, "dirs", (*batch, 3))
    coefficients = floats(xp, coeffs, "coeffs", (*batch, "K", 3), directions)
    count = (degree + 1) ** 2
    if coefficients.shape[-2] < count:
        raise ValueError(
            f"coeffs: expected at least {count} coefficients for degree {degree}, found {coefficients.shape[-2]}"
        )
    basis = xp.stack(_basis(xp, degree, unit(xp, directions)), -1)
    found = (basis[..., None] * coefficients[..., :count, :]).sum(-2)
    if masks is None:
        return found
    return xp.where((xp.asarray(masks) != 0)[..., None], found, xp.zeros_like(found))


def _basis(xp: Any, degree: int, directions: Any) -> list[Any]:
    """Real harmonics of unit vectors, with the phase of Condon and Shortley, in the order of l² + l + m.

    A harmonic is a factor, cos(m azimuth) or sin(m azimuth) times sin(polar angle)^m, which are the real and imaginary
    parts of (x + iy)^m, and the m-th derivative of a Legendre polynomial of z, by the recurrence over l.
    """
    x, y, z = (directions[..., axis] for axis in range(3))
    one = xp.ones_like(z)
    found = [one] * (degree + 1) ** 2
    real, imaginary = one, xp.zeros_like(z)
    for m in range(degree + 1):
        before, legendre = xp.zeros_like(z), one * (-1) ** m * math.prod(range(1, 2 * m, 2))
        for l in range(m, degree + 1):
            norm = math.sqrt((2 * l + 1) / (4 * math.pi) * math.factorial(l - m) / math.factorial(l + m))
            if m == 0:
                found[l * l + l] = norm * legendre
            else:
                found[l * l + l + m] = math.sqrt(2) * norm * legendre * real
                found[l * l + l - m] = math.sqrt(2) * norm * legendre * imaginary
            before, legendre = legendre, ((2 * l + 1) * z * legendre - (l + m) * before) / (l + 1 - m)
        real, imaginary = x * real - y * imaginary, x * imaginary + y * real
    return found
