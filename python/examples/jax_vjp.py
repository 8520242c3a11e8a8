"""`rasterization_vjp` as a function that jax differentiates, on the CPU.

    pip install jax
    python jax_vjp.py

The pictures are drawn outside jax by `pure_callback`, so that `jax.jit` and `jax.grad` take the function. What a picture saves is no value
of jax, so that the gradients draw it again. Opacities and colours of splats are found by descent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import quadrille
from quadrille.gsplat import rasterization_vjp

#: Arguments of which there are gradients, in the order of the function.
NAMES = ("means", "quats", "scales", "opacities", "colors", "viewmats")
#: Length of a step of descent per gradient, which is small: each splat is in few of the pixels of the mean.
RATE = 3000.0
#: First spherical harmonic, which is constant.
HARMONIC = 0.28209479177387814


def rasterizer(Ks: Any, width: int, height: int, **options: Any) -> Callable[..., Any]:
    """The function of `NAMES` that returns colours [C, H, W, D] and alphas [C, H, W, 1]; options as of `rasterization`."""

    def call(*arrays: Any) -> Any:
        given = {name: np.asarray(array) for name, array in zip(NAMES, arrays)}
        return rasterization_vjp(**given, Ks=Ks, width=width, height=height, **options)

    def draw_outside(*arrays: Any) -> Any:
        colors, alphas, _, _ = call(*arrays)
        return np.asarray(colors), np.asarray(alphas)

    def differentiate_outside(arrays: Any, v_colors: Any, v_alphas: Any) -> Any:
        _, _, _, vjp = call(*arrays)
        found = vjp(np.asarray(v_colors), np.asarray(v_alphas))
        return tuple(np.asarray(found[name], array.dtype) for name, array in zip(NAMES, arrays))

    def draw(*arrays: Any) -> Any:
        channels = 3 if options.get("sh_degree") is not None else arrays[4].shape[-1]
        shapes = [jax.ShapeDtypeStruct((len(Ks), height, width, size), jnp.float32) for size in (channels, 1)]
        return tuple(jax.pure_callback(draw_outside, tuple(shapes), *arrays))

    def forward(*arrays: Any) -> Any:
        return draw(*arrays), arrays

    def backward(arrays: Any, by_results: Any) -> Any:
        shapes = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in arrays)
        return jax.pure_callback(differentiate_outside, shapes, arrays, *by_results)

    function = jax.custom_vjp(draw)
    function.defvjp(forward, backward)
    return function


def main() -> None:
    """Finds the opacities and colours of splats by descent, and prints the loss before and after."""
    scene, cameras = quadrille.synth("object", splats=1000, seed=1)
    camera = cameras[0].resized(96, 54)
    draw = rasterizer(camera.K[None], camera.width, camera.height)
    geometry = [jnp.asarray(array) for array in (scene.means, scene.quats, scene.scales)]
    viewmats = jnp.asarray(camera.viewmat[None], jnp.float32)
    colors = jnp.asarray(scene.sh[:, 0]) * HARMONIC + 0.5
    wanted, _ = draw(*geometry, jnp.asarray(scene.opacities), colors, viewmats)

    @jax.jit
    def step(values: Any) -> Any:
        def loss(values: Any) -> Any:
            opacities, colors = values
            drawn, _ = draw(*geometry, jax.nn.sigmoid(opacities), jax.nn.sigmoid(colors), viewmats)
            return ((drawn - wanted) ** 2).mean()

        found, slopes = jax.value_and_grad(loss)(values)
        return found, jax.tree.map(lambda value, slope: value - RATE * slope, values, slopes)

    values = (jnp.zeros(len(scene)), jnp.zeros((len(scene), 3)))
    losses = []
    for _ in range(100):
        found, values = step(values)
        losses.append(float(found))
    print(f"loss: {losses[0]:.6f} before, {losses[-1]:.6f} after {len(losses)} steps")


if __name__ == "__main__":
    main()
