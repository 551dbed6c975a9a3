"""Names, numbers and vectors as people give them, checked."""

import math
import re
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError, RbtError, ScenarioError

WORLD = "world"  # what stands still: a parent of hinges, an end of closures
LONGEST_S = 9e9  # [s] 285 years: what counts in 64 bits of nanoseconds
END_NS = int(LONGEST_S) * 1_000_000_000
STAMP_END_NS = 2**31 * 1_000_000_000  # the seconds of a ROS stamp have 32 bits
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


def checked_name(what: str, name: Any) -> str:
    """`name`, if ROS can carry it."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ModelError(
            f"{what} name {str(name)[:80]!r}: use a letter, then letters, digits or _ (64 at most), as it becomes "
            "a ROS name."
        )
    return name


def number(value: Any, where: str) -> float:
    """`value` as a finite float."""
    if isinstance(value, complex):
        raise ModelError(f"{where}: {value!r} is complex; give a real number.")
    if isinstance(value, bool | np.bool_):
        raise ModelError(f"{where}: {value!r} is not a number but yes or no.")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError) as err:
        raise ModelError(f"{where}: {value!r:.80} is not a number.") from err
    if not math.isfinite(result):
        raise ModelError(f"{where}: {result} is not finite.")
    return result


def numbers(value: Any, where: str, error: type[RbtError] = ModelError) -> np.ndarray:
    """`value` as floats in an array of its own shape; an `error` where it is words, complex or ragged."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iufO":  # words, complex numbers, dates, yes or no
            raise TypeError(array.dtype)
        return array.astype(float)
    except (TypeError, ValueError, OverflowError) as err:
        raise error(f"{where}: {value!r:.80} is neither a number nor a regular array of numbers.") from err


def remembered(values: Any, shape: tuple[int, ...], what: str, more: bool = False) -> np.ndarray:
    """Numbers of a memory as an array that compiled code may trust; ScenarioError where they are not such.

    more: the first length may be greater.
    """
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as err:
        raise ScenarioError(f"{what} of the memory are no numbers: {err!s:.80}.") from err
    fits = array.shape == shape or (more and array.shape[1:] == shape[1:] and array.shape[:1] >= shape[:1])
    if array.ndim != len(shape) or not fits or not np.isfinite(array).all():
        wanted = " x ".join(map(str, shape)) + (", or more" if more else "")
        raise ScenarioError(f"{what} of the memory are {array.shape} numbers, not {wanted} finite ones.")
    return array


def whole_numbers(values: Any) -> list[int]:
    """Ticks and times of a memory; ScenarioError where they are no whole numbers of 64 bits."""
    if type(values) is not list or any(type(n) is not int or not -(2**63) <= n < 2**63 for n in values):
        raise ScenarioError(f"ticks of the memory are {values!r:.80}, not whole numbers of 64 bits.")
    return values


def one_number(value: Any, where: str, error: type[RbtError] = ModelError) -> float:
    """`value` as one float, which need not be finite."""
    array = numbers(value, where, error)
    if array.shape != ():
        raise error(f"{where}: {value!r:.80} is not one number.")
    return float(array)


def whole_number(value: Any, where: str) -> int:
    """`value` as an integer that is not negative; ScenarioError where it is anything else."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise ScenarioError(f"{where} {value!r:.80} must be a whole number.")
    whole = int(value)
    if whole < 0:
        raise ScenarioError(f"{where} {whole} must not be negative: time goes forward; reset() goes back to 0 s.")
    return whole


def natural(value: Any, where: str) -> int:
    """`value` as an integer of 0 or more; ScenarioError where it is anything else."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise ScenarioError(f"{where} {value!r:.80} must be a whole number, 0 or more.")
    return int(value)


def time_ns(value: Any, where: str) -> int:
    """A scenario time of 0 s or later, given in s, in ns."""
    seconds = one_number(value, where, ScenarioError)
    if not 0.0 <= seconds <= LONGEST_S:
        raise ScenarioError(f"{where} {value} s must lie between 0 and {LONGEST_S:g} s.")
    return round(seconds * 1e9)


def vector(value: Any, where: str) -> tuple[float, float, float]:
    """Three finite numbers."""
    array = numbers(value, where)
    if array.shape != (3,):
        raise ModelError(f"{where}: {value!r:.80} is not three numbers.")
    x, y, z = (number(c, where) for c in array.tolist())
    return (x, y, z)


def unit(value: Any, where: str) -> tuple[float, float, float]:
    """The direction of `value`."""
    x, y, z = vector(value, where)
    length = math.hypot(x, y, z)
    if length < 1e-12:
        raise ModelError(f"{where}: {list(value)} has length zero and gives no direction.")
    if abs(length - 1) <= 4e-16:  # what is unit to round-off keeps its bits
        return (x, y, z)
    return (x / length, y / length, z / length)
