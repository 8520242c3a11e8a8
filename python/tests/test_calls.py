"""Long calls: threads, forks, interrupts, progress."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import quadrille

Vase = tuple[quadrille.Scene, list[quadrille.Camera]]
Large = tuple[quadrille.Scene, quadrille.Camera]

#: The longest that an interrupt takes on an idle machine is 150 ms; a loaded one is allowed more.
LONGEST_INTERRUPT_S = 2.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_renders(vase: Vase, view: quadrille.Camera) -> None:
    expected = quadrille.render(vase[0], view).rgba
    quadrille.simulate(vase[0], view, variants="baseline")
    child = os.fork()
    if child == 0:
        try:
            same = np.array_equal(quadrille.render(vase[0], view).rgba, expected)
            quadrille.simulate(vase[0], view, variants="baseline")
            os._exit(0 if same else 1)
        except BaseException:
            os._exit(2)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


def test_many_threads_at_once(vase: Vase, view: quadrille.Camera) -> None:
    expected = quadrille.render(vase[0], view).rgba.tobytes()
    found: list[bool] = []

    def work() -> None:
        for _ in range(5):
            found.append(quadrille.render(vase[0], view).rgba.tobytes() == expected)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40 and all(found)


def test_the_environment_sets_the_threads() -> None:
    code = "import quadrille; s, c = quadrille.synth('object', splats=500); quadrille.render(s, c[0].resized(32, 18))"
    for value, fails in (("3", False), ("none", True), ("0", True)):
        environment = {**os.environ, "QUADRILLE_THREADS": value}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stderr
        assert not fails or "QUADRILLE_THREADS: expected a whole number above 0" in done.stderr


def calls(large: Large, folder: pathlib.Path) -> dict[str, Callable[[], object]]:
    """Calls that take longer than the interrupt waits."""
    scene, camera = large
    source = folder / "large.ply"
    if not source.exists():
        scene.save(source)
    views = [camera] * 1000
    return {
        "load": lambda: [quadrille.load(source) for _ in range(100)],
        "render_many": lambda: list(quadrille.render_many(scene, views)),
        "simulate": lambda: quadrille.simulate(scene, camera),
        "convert": lambda: quadrille.convert(source, folder / "large.sog"),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("calls")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Interrupts raise KeyboardInterrupt, also where this process was started with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", ["load", "render_many", "simulate", "convert"])
def test_an_interrupt_ends_long_calls(name: str, large: Large, folder: pathlib.Path, vase: Vase, view: quadrille.Camera) -> None:
    call = calls(large, folder)[name]
    sent = [0.0]

    def interrupt() -> None:
        sent[0] = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    took = time.monotonic() - sent[0]
    print(f"{name}: {1e3 * took:.0f} ms")
    assert took < LONGEST_INTERRUPT_S
    assert not (folder / "large.sog").exists()
    assert quadrille.render(vase[0], view).rgba.any()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_a_call_of_many_short_frames(vase: Vase, view: quadrille.Camera) -> None:
    """Frames that end before the next look at signals: without one per camera, all cameras are drawn first."""
    from quadrille.gsplat import rasterization

    scene, small = vase[0], view.resized(64, 36)
    viewmats, Ks = np.repeat(small.viewmat[None], 8_000, axis=0), np.repeat(small.K[None], 8_000, axis=0)
    sent = [0.0]

    def interrupt() -> None:
        sent[0] = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.3, interrupt).start()
    arrays = (scene.means, scene.quats, scene.scales, scene.opacities, scene.sh)
    with pytest.raises(KeyboardInterrupt):
        rasterization(*arrays, viewmats, Ks, 64, 36, sh_degree=scene.sh_degree, meta=False)
    assert time.monotonic() - sent[0] < LONGEST_INTERRUPT_S


def test_progress_that_raises_ends_the_call(large: Large, folder: pathlib.Path) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise RuntimeError(f"stopped in {stage}")

    calls(large, folder)
    with pytest.raises(RuntimeError, match="stopped in"):
        quadrille.convert(folder / "large.ply", folder / "large.sog", progress=stop)
    assert not (folder / "large.sog").exists()
    with pytest.raises(TypeError, match="progress: expected True or a function"):
        quadrille.load(folder / "large.ply", progress=3)  # type: ignore[arg-type]


def test_progress_is_told(large: Large, folder: pathlib.Path, vase: Vase, view: quadrille.Camera) -> None:
    calls(large, folder)
    seen: list[tuple[str, int, int]] = []
    quadrille.load(folder / "large.ply", progress=lambda *state: seen.append(state))
    assert seen[-1] == ("load", 1_000_000, 1_000_000)
    assert all(0 <= done <= total for _, done, total in seen)
    seen.clear()
    list(quadrille.render_many(vase[0], [view] * 3, progress=lambda *state: seen.append(state)))
    assert seen == [("render", 1, 3), ("render", 2, 3), ("render", 3, 3)]


def test_a_bar_of_tqdm(vase: Vase, view: quadrille.Camera, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    list(quadrille.render_many(vase[0], [view] * 3, progress=True))
    assert "3/3" in capsys.readouterr().err
