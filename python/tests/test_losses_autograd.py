"""The loss of trainers in the graph of torch, against the trainers' own code."""

from __future__ import annotations

from typing import Any

import pytest

import quadrille
from quadrille.losses import l1_ssim

torch: Any = pytest.importorskip("torch")


def own_ssim(a: Any, b: Any, padding: str) -> Any:
    """Structural similarity [N, C, H, W] as Inria's `loss_utils.ssim` computes it; fused-ssim then crops its map."""
    channels = a.shape[1]
    line = torch.exp(-((torch.arange(11, dtype=a.dtype) - 5) ** 2) / (2 * 1.5**2))
    line = line / line.sum()
    window = (line[:, None] * line[None]).expand(channels, 1, 11, 11).contiguous()

    def mean(values: Any) -> Any:
        return torch.nn.functional.conv2d(values, window, padding=5, groups=channels)

    mu1, mu2 = mean(a), mean(b)
    sigma1, sigma2 = mean(a * a) - mu1**2, mean(b * b) - mu2**2
    sigma12 = mean(a * b) - mu1 * mu2
    c1, c2 = 0.01**2, 0.03**2
    found = ((2 * mu1 * mu2 + c1) * (2 * sigma12 + c2)) / ((mu1**2 + mu2**2 + c1) * (sigma1 + sigma2 + c2))
    return found.mean() if padding == "same" else found[..., 5:-5, 5:-5].mean()


def pair(shape: tuple[int, ...], noise: float = 0.1) -> tuple[Any, Any]:
    random = torch.Generator().manual_seed(1)
    a = torch.rand(shape, generator=random, dtype=torch.float64)
    return a, (a + noise * torch.randn(shape, generator=random, dtype=torch.float64)).clamp(0, 1)


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("noise", [0.1, 0.001])
def test_loss_and_gradients_are_those_of_the_trainers(padding: str, noise: float) -> None:
    a, b = (value.float().double().requires_grad_() for value in pair((2, 3, 21, 38), noise))
    expected = 0.8 * (a - b).abs().mean() + 0.2 * (1 - own_ssim(a, b, padding))
    wanted = torch.autograd.grad(3 * expected, [a, b])
    first = [value.detach().clone().requires_grad_() for value in (a, b)]
    last = [value.detach().movedim(1, -1).clone().requires_grad_() for value in (a, b)]
    for tensors, channels in [(first, "first"), (last, "last")]:
        loss = l1_ssim(*tensors, padding=padding, channels=channels)
        assert loss.dtype == torch.float64 and abs(loss - expected) < 1e-12
        (3 * loss).backward()
        for tensor, gradient in zip(tensors, wanted):
            found = tensor.grad if channels == "first" else tensor.grad.movedim(-1, 1)
            assert (found - gradient).norm() < 1e-5 * gradient.norm()


def test_only_what_needs_a_gradient_gets_one() -> None:
    a, b = (value.float() for value in pair((16, 24, 3)))
    plain = quadrille.ssim(a, b)
    assert plain.dtype == torch.float32 and not plain.requires_grad and plain.shape == ()
    b.requires_grad_()
    loss = l1_ssim(a, b)
    loss.backward()
    assert a.grad is None and b.grad.shape == b.shape
    photo = a.numpy()
    other = b.detach().clone().requires_grad_()
    l1_ssim(photo, other).backward()
    assert torch.equal(other.grad, b.grad)
    with torch.no_grad():
        assert not l1_ssim(a, b).requires_grad
    half = b.detach().bfloat16().requires_grad_()
    l1_ssim(half, a).backward()
    assert half.grad.dtype == torch.bfloat16


def test_second_derivatives_are_refused() -> None:
    a, b = pair((12, 12, 1))
    a.requires_grad_()
    (gradient,) = torch.autograd.grad(l1_ssim(a, b), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives"):
        (gradient.square().sum() + a.sum()).backward()
    loss = l1_ssim(a, b)
    with torch.no_grad():
        a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_picture_is_fitted() -> None:
    target, start = pair((24, 32, 3), 0.3)
    a = start.float().requires_grad_()
    optimizer = torch.optim.Adam([a], lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = l1_ssim(a, target.float())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.15 * losses[0]
