"""The viewer of scenes in this process."""

from __future__ import annotations

import gc
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from view_page import PATIENCE_S, Page, fetch, parts_of

import quadrille
from quadrille import _quadrille

Vase = tuple[quadrille.Scene, list[quadrille.Camera]]
SIZE = (96, 54)


@pytest.fixture
def cameras(vase: Vase) -> list[quadrille.Camera]:
    """Small views of the vase."""
    return [camera.resized(*SIZE) for camera in vase[1][:3]]


@pytest.fixture
def viewer(vase: Vase, cameras: list[quadrille.Camera]) -> Iterator[quadrille.Viewer]:
    """A viewer of the vase."""
    with quadrille.view(vase[0], cameras=cameras, port=0, background=[0.5, 0.25, 1]) as viewer:
        yield viewer


def drawn(scene: quadrille.Scene, camera: quadrille.Camera) -> object:
    """The picture that `viewer` shows."""
    return quadrille.render(scene, camera).rgb8([0.5, 0.25, 1]).tolist()


def is_refused(url: str) -> bool:
    """Whether nothing listens at the address, now or soon."""
    port, _ = parts_of(url)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("localhost", port)).close()
        except ConnectionRefusedError:
            return True
        time.sleep(0.02)
    return False


def test_pages_show_exact_pictures_of_the_newest_scene(
    viewer: quadrille.Viewer, vase: Vase, cameras: list[quadrille.Camera]
) -> None:
    scene = vase[0]
    answer = fetch(viewer.url)
    assert answer.status == 200 and "<canvas" in answer.body  # type: ignore[attr-defined]
    page = Page(viewer.url)
    assert [view["name"] for view in page.welcome["views"]] == [camera.name for camera in cameras]
    assert page.welcome["scenes"][0]["splats"] == len(scene) and page.welcome["status"] == ""
    assert page.still({"view": 1}, SIZE).tolist() == drawn(scene, cameras[1])
    half = scene[::2]
    viewer.update(half, step=1200, psnr=np.float32(27.345678), phase="refine")
    told = page.text("scene")
    assert told["generation"] == 1 and told["scenes"][0]["splats"] == len(half) and told["note"] is None
    assert page.text("status")["text"] == "step 1200, psnr 27.346, phase refine"
    assert page.still({"view": 1}, SIZE).tolist() == drawn(half, cameras[1]) != drawn(scene, cameras[1])
    viewer.status(loss=float("nan"))
    viewer.update(scene)
    assert Page(viewer.url).welcome["status"] == "loss nan"


def test_no_command_reads_a_scene_in_memory(viewer: quadrille.Viewer) -> None:
    page = Page(viewer.url)
    assert page.welcome["home"]["lens"] == 0, "the first view is listed"
    source = {"scene": 0, "profile": None, "renderer": "cpu", "layer": None, "background": None}
    page.send(t="flags", id=1, shot={"cam": {"view": 0}, "w": 96, "h": 54, "source": source}, map=None)
    answer = page.text("flags")
    assert answer["render"] is None and answer["sim"] is None and answer["file"]["name"] == "scene.view.json"


def test_the_camera_of_the_page_is_read_and_set(viewer: quadrille.Viewer, cameras: list[quadrille.Camera]) -> None:
    assert viewer.camera is None
    page = Page(viewer.url)
    page.still({"view": 2}, SIZE)
    assert viewer.camera == cameras[2]
    viewer.camera = cameras[1]
    assert page.text("camera")["cam"] == {"view": 1}
    moved = cameras[0].translated([0.1, 0.2, 0.3])
    viewer.camera = moved
    cam = page.text("camera")["cam"]
    assert cam["lens"] == 0 and np.allclose(cam["eye"], moved.eye)
    page.still(cam, SIZE)
    found = viewer.camera
    assert found is not None and np.allclose(found.viewmat, moved.viewmat) and np.allclose(found.K, moved.K)
    wide = quadrille.Camera.look_at([0, 0, -4], [0, 0, 0], [0, -1, 0], width=64, height=64, fov_degrees=100)
    viewer.camera = wide
    assert page.text("camera")["cam"]["fov_degrees"] == pytest.approx(100)
    assert Page(viewer.url).welcome["cam"]["lens"] is None
    with pytest.raises(ValueError, match="camera: expected the lens of a listed view"):
        viewer.camera = quadrille.Camera(64, 32, wide.K, np.eye(4), lens="equirectangular")
    with pytest.raises(TypeError, match="camera: expected a quadrille.Camera, found str"):
        viewer.camera = "view"


def test_a_closed_viewer_has_no_pages(vase: Vase, cameras: list[quadrille.Camera]) -> None:
    viewer = quadrille.view(vase[0], cameras=cameras, port=0)
    page, url = Page(viewer.url), viewer.url
    assert repr(viewer) == f"Viewer({url.partition('#')[0]})"
    with viewer:
        pass
    assert page.ended() and is_refused(url)
    viewer.close()
    assert repr(viewer) == "Viewer(closed)" and viewer._repr_html_() is None
    calls: list[Callable[[], object]] = [
        lambda: viewer.update(vase[0]),
        lambda: viewer.status(step=1),
        lambda: viewer.camera,
    ]
    for call in calls:
        with pytest.raises(ValueError, match="viewer: expected a viewer that runs"):
            call()
    dropped = quadrille.view(vase[0], cameras=cameras, port=0)
    url = dropped.url
    del dropped
    gc.collect()
    assert is_refused(url)


def test_viewers_are_apart(viewer: quadrille.Viewer, vase: Vase, cameras: list[quadrille.Camera]) -> None:
    port, token = parts_of(viewer.url)
    # The port is taken: the next one is used.
    with quadrille.view(vase[0][:10], cameras=cameras, port=port) as other:
        others = parts_of(other.url)
        assert others[0] != port and others[1] != token and re.fullmatch("[0-9a-f]{32}", token)
        for url, its, status in ((viewer.url, token, 200), (viewer.url, others[1], 403), (other.url, token, 403)):
            assert fetch(url, "/status", Authorization=f"Bearer {its}").status == status
        assert fetch(viewer.url, Host="evil.example").status == 403
        assert Page(other.url).welcome["scenes"][0]["splats"] == 10
        # A notebook frames the viewer that it shows, and no other.
        page = viewer._repr_html_()
        assert page is not None and f'<iframe src="{viewer.url}"' in page
        for url, ancestors in ((viewer.url, "http://localhost:* http://127.0.0.1:*"), (other.url, "'none'")):
            policy = fetch(url).headers["content-security-policy"]
            assert policy.endswith(f"; frame-ancestors {ancestors}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux states it")
def test_scenes_are_shared_and_old_ones_are_freed() -> None:
    # In a process of its own, whose allocator holds nothing of other tests.
    code = """
import gc, os, quadrille

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

scene, cameras = quadrille.synth("object", splats=200_000)
size = scene._raw.memory_bytes
before = resident_bytes()
with quadrille.view(scene, cameras=cameras, port=0) as viewer:
    viewer.update(scene)
    shared = resident_bytes() - before
    viewer.update(scene[:10])
    del scene
    gc.collect()
    freed = before - resident_bytes()
print(size, shared, freed)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    size, shared, freed = map(int, done.stdout.split())
    assert size > 40e6
    assert shared < size / 2
    assert freed > size / 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_a_program_with_a_viewer() -> None:
    code = (
        "import quadrille, signal, time; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "scene, cameras = quadrille.synth('object', splats=500)\n"
        "viewer = quadrille.view(scene, cameras=cameras, port=0)\n"
        "print(viewer.url, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None and program.stderr is not None
        page = Page(program.stdout.readline().strip())
        program.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in program.stderr.read()
        assert program.wait(PATIENCE_S) != 0
        page.close()


@pytest.mark.parametrize(
    ("named", "error", "message"),
    [
        ({"cameras": []}, ValueError, "cameras: expected at least one"),
        ({"cameras": [3]}, TypeError, "camera: expected a quadrille.Camera"),
        ({"port": 65536}, ValueError, "port: expected 0 to 65535"),
        ({"port": "8490"}, TypeError, "port: expected an integer"),
        ({"viewers": 0}, ValueError, "viewers: expected 1 to 16"),
        ({"max_pixels": 1}, ValueError, "max_pixels: expected 65536 to 67108864"),
        ({"profile": "moon"}, ValueError, "profile"),
        ({"near": -1.0}, ValueError, "near: expected a depth above 0"),
        ({"order": "moon"}, ValueError, "order"),
        ({"background": [1, 2]}, ValueError, "background"),
        ({"threads": -1}, ValueError, "threads: expected 0 to 65535"),
    ],
)
def test_wrong_arguments(
    vase: Vase, cameras: list[quadrille.Camera], named: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        quadrille.view(vase[0], **{"cameras": cameras, "port": 0, **named})  # type: ignore[arg-type]


def test_a_port_that_is_taken_with_all_after_it(vase: Vase, cameras: list[quadrille.Camera]) -> None:
    with socket.create_server(("127.0.0.1", 65535)):
        with pytest.raises(ValueError, match="127.0.0.1: expected a free port from 65535 to 65535"):
            quadrille.view(vase[0], cameras=cameras, port=65535)


def test_wrong_scenes_and_values(viewer: quadrille.Viewer) -> None:
    for call in (quadrille.view, viewer.update):
        with pytest.raises(TypeError, match="scene: expected a quadrille.Scene, found str; quadrille.load reads files"):
            call("scene.ply")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="loss: expected a number or a text, found list"):
        viewer.status(loss=[1])
    with pytest.raises(TypeError, match="quadrille.view"):
        quadrille.Viewer()


def test_a_build_without_the_viewer_says_so(vase: Vase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(_quadrille, "Viewer")
    with pytest.raises(NotImplementedError, match="built with its feature `view`"):
        quadrille.view(vase[0])
