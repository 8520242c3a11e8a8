"""A page of the viewer without a browser: requests by HTTP, and a WebSocket."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import struct
import tempfile
import urllib.parse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quadrille

#: The longest wait for a message on a loaded machine, in seconds.
PATIENCE_S = 60.0
#: Bytes before the payload of a picture, its flag of a last part, and the kind of a saved file.
HEADER_BYTES, LAST_PART, FILE = 32, 1, 6


def parts_of(url: str) -> tuple[int, str]:
    """Port and token of the address of a viewer."""
    address = urllib.parse.urlsplit(url)
    assert address.scheme == "http" and address.hostname == "localhost" and address.path == "/"
    assert address.port is not None
    return address.port, address.fragment.removeprefix("t=")


def fetch(url: str, path: str = "/", **headers: str) -> http.client.HTTPResponse:
    """The answer to a request, with its body read."""
    port, _ = parts_of(url)
    connection = http.client.HTTPConnection("localhost", port, timeout=PATIENCE_S)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.body = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer


class Page:
    """A connected page."""

    def __init__(self, url: str) -> None:
        port, token = parts_of(url)
        self.stream = socket.create_connection(("localhost", port), timeout=PATIENCE_S)
        self.buffer = self.stream.makefile("rb")
        lines = {
            "Host": f"localhost:{port}",
            "Origin": f"http://localhost:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Protocol": f"quadrille.v1, token.{token}",
        }
        request = "GET /ws HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.stream.sendall(f"{request}\r\n".encode())
        status = self.buffer.readline().decode()
        assert " 101 " in status, status
        while self.buffer.readline().strip():
            pass
        self.pictures = 0
        self.number = 0
        self.welcome = self.text("welcome")

    def close(self) -> None:
        """Ends the connection."""
        self.buffer.close()
        self.stream.close()

    def send(self, **message: Any) -> None:
        """Sends a message as a masked frame."""
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self.stream.sendall(struct.pack("!BBH", 0x81, 0x80 | 126, len(data)) + mask + masked)

    def receive(self) -> tuple[int, bytes]:
        """Code and content of the next frame: 1 for texts, 2 for pictures, 8 for the end."""
        first, length = self.buffer.read(2)
        assert first & 0x80, "frames come whole"
        if length >= 126:
            length = int.from_bytes(self.buffer.read(2 if length == 126 else 8), "big")
        return first & 0x0F, self.buffer.read(length)

    def text(self, kind: str) -> dict[str, Any]:
        """The next message of a kind."""
        while True:
            code, data = self.receive()
            assert code != 8, "the server ended the connection"
            if code == 1:
                message: dict[str, Any] = json.loads(data)
                assert message["t"] != "error", message
                if message["t"] == kind:
                    return message
            elif code == 2:
                self.confirm(data)

    def confirm(self, data: bytes) -> None:
        """Tells the server that bytes of a picture have arrived."""
        self.pictures += len(data) - HEADER_BYTES
        self.send(t="got", bytes=self.pictures)

    def still(self, cam: dict[str, Any], size: tuple[int, int]) -> NDArray[np.uint8]:
        """The exact picture of a camera, [H, W, 3], as it is saved."""
        self.number += 1
        source = {"scene": 0, "profile": None, "renderer": "cpu", "layer": None, "background": None}
        show = {"a": source, "b": None, "mode": "single", "split": 0.5, "gain": 4}
        width, height = size
        self.send(t="still", seq=self.number, cam=cam, w=width, h=height, show=show)
        self.text("stats")
        self.send(t="save", id=self.number, seq=self.number, what="a")
        content = b""
        while True:
            code, data = self.receive()
            if code != 2:
                assert code != 8 and b'"error"' not in data, data
                continue
            self.confirm(data)
            kind, _, flags = struct.unpack_from("<BBH", data)
            content += data[HEADER_BYTES:] if kind == FILE else b""
            if kind == FILE and flags & LAST_PART:
                break
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "picture.png")
            with open(path, "wb") as file:
                file.write(content)
            return quadrille.read_picture(path).rgb8()

    def ended(self) -> bool:
        """Whether the server ends the connection after the messages that are under way."""
        while True:
            code, data = self.receive()
            if code == 8:
                return True
