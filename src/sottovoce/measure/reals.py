"""Arrays of real numbers, or a message that says which parameter is none."""

from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError


def real_array(parameter: str, value: Any) -> Array:
    """Floating-point array of whatever holds real numbers.

    >>> real_array("scores", ["low", "high"])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: scores must be real numbers. Got ['low', 'high'] instead.
    """
    # A cast would drop the imaginary part with no more than a warning, and a derivative with it.
    if not np.iscomplexobj(value):
        try:
            return np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            pass
    raise SottovoceError(parameter, "must be real numbers", value)
