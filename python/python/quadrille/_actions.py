"""Actions of conversions."""

from __future__ import annotations

from typing import Any

import numpy as np


def action_text(action: tuple[str, Any] | str) -> tuple[str, str]:
    """The name and the text of the value of an action."""
    if isinstance(action, str):
        return action.replace("_", "-"), ""
    if not isinstance(action, tuple) or len(action) != 2 or not isinstance(action[0], str):
        raise TypeError(f"actions: expected a name, or a pair of a name and a value, found {action!r}")
    name, value = action
    if value is None or value is True:
        text = ""
    elif isinstance(value, str):
        text = value
    elif np.ndim(value):
        text = ",".join(repr(float(number)) for number in np.ravel(value))
    else:
        text = str(value)
    return name.replace("_", "-"), text
