"""What a plug-in takes, and the numbers that it gets."""

from collections import namedtuple
from collections.abc import Sequence
from typing import NamedTuple


class Parameter(NamedTuple):
    """A number of a plug-in, or a vector of them."""

    name: str
    unit: str = ""  # in SI, as in "0.3 N s/m"; "": a plain number
    default: float | tuple[float, ...] | None = None  # None: it must be given
    least: float | None = None  # below which it makes no sense
    size: int = 1
    about: str = ""


def values_class(parameters: Sequence[Parameter]) -> type:
    """The NamedTuple of their values."""
    return namedtuple("Parameters", [parameter.name for parameter in parameters])
