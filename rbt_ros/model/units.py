"""Numbers with units as people write them ("1 ms", "30 deg", "200 rpm") -> SI."""

import math
import re
from fractions import Fraction
from typing import Any

# factor to SI, exact where it is rational
UNITS: dict[str, dict[str, float | Fraction]] = {
    "time": {
        "s": 1,
        "ms": Fraction(1, 10**3),
        "us": Fraction(1, 10**6),
        "ns": Fraction(1, 10**9),
        "min": 60,
        "h": 3600,
    },
    "angle": {"rad": 1, "deg": math.pi / 180},
    "angular velocity": {"rad/s": 1, "deg/s": math.pi / 180, "rpm": math.pi / 30},
    "length": {"m": 1, "mm": Fraction(1, 1000), "cm": Fraction(1, 100), "km": 1000, "in": Fraction(254, 10**4)},
    "velocity": {"m/s": 1, "mm/s": Fraction(1, 1000), "km/s": 1000},
    "acceleration": {"m/s2": 1, "m/s^2": 1},
    "mass": {
        "kg": 1,
        "g": Fraction(1, 1000),
        "t": 1000,
        "lb": Fraction(45359237, 10**8),
        "slinch": Fraction(45359237, 10**8) * Fraction(980665, 10**5) / Fraction(254, 10**4),  # lbf s²/in
    },
    "density": {"kg/m3": 1, "kg/m^3": 1, "g/cm3": 1000, "g/cm^3": 1000, "t/m3": 1000, "t/m^3": 1000},
    "inertia": {"kg m2": 1, "kg m^2": 1, "g mm2": Fraction(1, 10**9), "kg mm2": Fraction(1, 10**6)},
    "force": {"N": 1, "mN": Fraction(1, 1000), "kN": 1000},
    "energy": {"J": 1, "mJ": Fraction(1, 1000), "N m": 1, "kJ": 1000},
    "torque": {"N m": 1, "Nm": 1, "mN m": Fraction(1, 1000), "mNm": Fraction(1, 1000)},
    "frequency": {"Hz": 1, "kHz": 1000},
    "plain number": {},
}
LONGEST_NS = 2**63


def units_of(dimension: str) -> dict[str, float | Fraction]:
    """The units of a dimension; of one that is not in the table it is the name of its only one, as "N s/m"."""
    for units in (UNITS.get(dimension), *UNITS.values()):
        if units is not None and (dimension in UNITS or units.get(dimension) == 1):
            return units
    return {dimension: 1}


LONGEST = 200  # characters of a number with its unit
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE]([-+]?\d+))?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\S.*?)?\s*")


def quantity(value: Any, dimension: str) -> float:
    """`value` in SI: a number as it is, a string "number unit" of that dimension. ValueError says what is wrong."""
    try:
        si = float(_exact(value, dimension))
    except OverflowError as err:
        raise ValueError(f"{value!s:.20} is too large a number") from err
    if not math.isfinite(si):
        raise ValueError(f"{value} is not finite")
    return si


def unit_factor(unit: str, dimension: str) -> float:
    """SI units per `unit` of that dimension. ValueError says what is wrong."""
    if not isinstance(unit, str) or unit not in UNITS[dimension]:
        raise ValueError(f"{unit!r} is no unit of {dimension}; use one of {', '.join(UNITS[dimension])}")
    return float(UNITS[dimension][unit])


def pattern(dimension: str) -> str:
    """A regular expression for strings with a number of that dimension, in Python's and JavaScript's spelling."""
    units = "|".join(units_of(dimension)).replace("^", r"\^")
    return rf"^\s*{_NUMBER}\s*({units})?\s*$"


def nanoseconds(value: Any) -> int:
    """A time as integer nanoseconds; refused when it is no whole number of them."""
    exact = Fraction(_exact(value, "time")) * 10**9
    whole = round(exact)
    if abs(whole) >= LONGEST_NS:
        raise ValueError(f"{value!s:.20} is beyond 292 years, the longest time that counts in 64 bits of nanoseconds")
    if exact != whole:
        raise ValueError(f"{value} is no whole number of nanoseconds, and time is counted in them")
    return whole


def _exact(value: Any, dimension: str) -> float | Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r:.80} is not a number{_hint(dimension)}")
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value) if len(value) <= LONGEST else None
        if not match:
            raise ValueError(f"'{value:.80}' is not a number with a unit{_hint(dimension)}")
        number, exponent, unit = match.groups()
        if len((exponent or "").lstrip("+-0")) > 3:  # a fraction of it would have as many digits
            raise ValueError(f"'{value:.80}' is beyond what can be reckoned with")
        if unit is None:
            return Fraction(number) if dimension == "time" else float(number)
        if unit not in units_of(dimension):
            raise ValueError(f"'{value:.80}' has the unit '{unit:.40}', which is no {dimension}{_hint(dimension)}")
        factor = units_of(dimension)[unit]
        return Fraction(number) * factor if isinstance(factor, int | Fraction) else float(number) * factor
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not finite")
    return Fraction(repr(value)) if dimension == "time" else value  # repr: 0.001 s is exactly 1 ms


def _hint(dimension: str) -> str:
    units = ", ".join(units_of(dimension))
    return f"; write a number in SI or one with a unit of {dimension}: {units}" if units else ""
