"""Parameters of what plugs in, as somebody gives them: checked."""

from collections.abc import Mapping
from typing import Any, Protocol

from rbt_ros.errors import ModelError
from rbt_ros.model.checks import number
from rbt_ros.model.coordinates import is_finite
from rbt_ros.plug.parameter import Parameter


class Parameterised(Protocol):
    """A plug-in with parameters."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What it takes."""

    @property
    def values(self) -> type:
        """The NamedTuple of that."""


def values_of(plugged: Parameterised, given: Mapping[str, Any], where: str) -> Any:
    """Its parameters, defaults included; ModelError where one is wrong."""
    known = [parameter.name for parameter in plugged.parameters]
    for key in given:
        if key not in known:
            raise ModelError(f"{where}: unknown parameter '{key}'; it has {', '.join(known) or 'none'}.")
    return plugged.values(*[_value(parameter, given, where) for parameter in plugged.parameters])


def _value(parameter: Parameter, given: Mapping[str, Any], where: str) -> Any:
    name, unit = parameter.name, f" {parameter.unit}" if parameter.unit else ""
    value = given.get(name, parameter.default)
    if value is None:
        about = f": {parameter.about}" if parameter.about else ""
        raise ModelError(f"{where}: {name} is missing{about}{f' [{unit[1:]}]' if unit else ''}.")
    if parameter.size > 1:
        if not is_finite(value, parameter.size):
            raise ModelError(
                f"{where}: {name} {value!r:.80} must be {parameter.size} finite numbers{unit and ' in' + unit}."
            )
        return tuple(float(x) for x in value)
    found = number(value, f"{name} of {where}")
    if parameter.least is not None and found < parameter.least:
        raise ModelError(f"{where}: {name} {found:g}{unit} must be {parameter.least:g}{unit} or more.")
    return found
