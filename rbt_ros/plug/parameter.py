"""What a plug-in takes, and the numbers that it gets."""

import keyword
from collections import namedtuple
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rbt_ros.errors import ModelError


class Parameter(NamedTuple):
    """A number of a plug-in, or a vector of them."""

    name: str
    unit: str = ""  # in SI, as in "0.3 N s/m"; "": a plain number
    default: float | tuple[float, ...] | None = None  # None: it must be given
    least: float | None = None  # below which it makes no sense
    size: int = 1
    about: str = ""


def check_parameters(what: str, parameters: Sequence[Parameter], taken: Collection[str]) -> None:
    """ModelError where they cannot be keywords beside those that are taken. what: whose they are, for errors."""
    names = [getattr(parameter, "name", None) for parameter in parameters]
    for name, parameter in zip(names, parameters, strict=True):
        if not isinstance(parameter, Parameter):
            raise ModelError(f"{what}: {parameter!r:.80} is no rbt.Parameter; rbt.Parameter('k', unit='N/m') is one.")
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_":
            raise ModelError(
                f"{what}: parameter {name!r:.80} must be a word that begins with a letter, none of Python's own."
            )
        if name in taken or names.count(name) > 1:
            why = "has a name that all of them use" if name in taken else "is there twice"
            raise ModelError(f"{what}: parameter '{name}' {why}; rename it.")


def values_class(parameters: Sequence[Parameter]) -> type:
    """The NamedTuple of their values."""
    return namedtuple("Parameters", [parameter.name for parameter in parameters])
