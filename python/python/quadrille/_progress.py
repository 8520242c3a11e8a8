"""Progress of long calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Union

#: `True` shows a bar of tqdm; a function receives the stage, the work done, and the work in all.
Progress = Union[None, bool, Callable[[str, int, int], object]]


@contextmanager
def watched(progress: Progress) -> Iterator[Callable[[str, int, int], object] | None]:
    """The function that a call reports to, if there is one."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or pass a function") from error
        bar = tqdm(total=0)

        def advance(stage: str, done: int, total: int) -> None:
            if bar.desc.rstrip(": ") != stage:
                bar.reset(total)
                bar.set_description(stage)
            bar.total = total
            bar.update(done - bar.n)

        try:
            yield advance
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise TypeError(f"progress: expected True or a function, found {type(progress).__name__}")
