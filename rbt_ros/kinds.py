"""Arguments of the public face that are of another kind than declared: refused in words, wherever the call failed.

Annotations say what each argument must be. They are compared with what was given only after a call has ended in an
error of Python or numpy, so that a good call costs nothing and its own checks come first.
"""

import functools
import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.errors import RbtError

Call = TypeVar("Call", bound=Callable[..., Any])
MOST = 1000  # elements of a sequence that are looked at
PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool, np.bool_), "True or False"),
    int: ((int, np.integer), "a whole number of 64 bits"),
    str: ((str,), "a text"),
    bytes: ((bytes,), "bytes"),
    type(None): ((type(None),), "None"),
}


def in_words(error: type[RbtError], first: bool = False) -> Callable[[Call], Call]:
    """A call that fails by an argument of another kind than declared raises an `error` that names it.

    first: look before the call, where it would not fail itself but what it makes.
    """

    def of(call: Call) -> Call:
        @functools.wraps(call)
        def checked(*given: Any, **named: Any) -> Any:
            if first and (fault := odd_argument(call, given, named)):
                raise error(fault)
            try:
                return call(*given, **named)
            except RbtError:
                raise
            except Exception as err:  # of whatever kind: numba has its own
                if fault := odd_argument(call, given, named):
                    raise error(fault) from err
                raise

        return typing.cast(Call, checked)

    return of


def odd_argument(call: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> str:
    """The first argument that is not what `call` declares, in words; empty where all are."""
    hints = typing.get_type_hints(call)
    try:
        bound = inspect.signature(call).bind(*given, **named)
    except TypeError:  # Python's own error tells which argument lacks, or is too many
        return ""
    what = call.__qualname__.replace("<locals>.", "").removesuffix(".__init__")
    for name, value in bound.arguments.items():
        if name not in hints:
            continue
        hint = hints[name]
        kind = inspect.signature(call).parameters[name].kind
        if kind == inspect.Parameter.VAR_POSITIONAL:
            hint = tuple.__class_getitem__((hint, ...))
        elif kind == inspect.Parameter.VAR_KEYWORD:
            hint = dict.__class_getitem__((str, hint))
        if fault := _fault(f"{what}: {name}", value, hint):
            return fault
    return ""


def _fault(where: str, value: Any, hint: Any) -> str:
    """What is wrong with a value; empty where nothing is."""
    if _fits(value, hint):
        return ""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        for field, declared in typing.get_type_hints(type(value)).items():
            if fault := _fault(f"{type(value).__name__}: {field}", getattr(value, field), declared):
                return fault
    return f"{where} {shown(value)} must be {_words(hint)}."


def shown(value: Any) -> str:
    """A value in an error."""
    try:
        text = f"{value!r:.80}"
    except ValueError:  # an integer of more digits than Python writes
        text = "of many digits"
    return " ".join(text.split())


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of that kind, and its parts of theirs."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return True
    if hint is not ArrayLike and origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if hint is None or hint in PLAIN:
        return _is_plain(value, type(None) if hint is None else hint)
    if hint is float:
        return _is_number(value)
    if hint is np.ndarray or origin is np.ndarray or hint is ArrayLike:
        return _is_array(value, 0 if hint is ArrayLike else 1)
    if origin is typing.Literal:
        return isinstance(value, str) and value in parts
    if origin is Callable or hint is Callable:
        return callable(value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(_fits(k, parts[0]) and _fits(v, parts[1]) for k, v in value.items())
    if origin is not None and issubclass(origin, Iterable):
        return _are(value, origin, parts)
    if getattr(hint, "_is_protocol", False):
        declared = {*vars(hint), *hint.__annotations__}
        return all(hasattr(value, name) for name in declared if name[0] != "_" or name == "__call__")
    if not isinstance(value, origin or hint):
        return False
    if not hasattr(value, "_fields"):
        return True
    return all(_fits(getattr(value, name), part) for name, part in typing.get_type_hints(type(value)).items())


def _is_plain(value: Any, hint: type) -> bool:
    if not isinstance(value, PLAIN[hint][0]) or (hint is int and isinstance(value, bool)):
        return False
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _is_number(value: Any) -> bool:
    """Whether it is one finite number, or without end."""
    if isinstance(value, str | bytes | bool | np.bool_):
        return False
    try:
        return np.ndim(value) == 0 and not math.isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_array(value: Any, least: int) -> bool:
    """Whether it is a regular array of numbers, of so many dimensions at least."""
    try:
        array = np.asarray(value)
        if array.ndim < least or array.dtype.kind not in "iufO" or any(x is None for x in array.flat):
            return False
        array.astype(float)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _are(value: Any, origin: type, parts: tuple[Any, ...]) -> bool:
    """Whether it is a row, whose elements are of their kinds: one for all, or as many as there are."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return False
    if not isinstance(value, np.ndarray | list | tuple | set | frozenset | range):
        return isinstance(value, origin)  # of an iterator nothing is taken away
    if isinstance(value, np.ndarray) and (value.ndim == 0 or origin is tuple):
        return False
    if origin is tuple and not (len(parts) == 2 and parts[1] is Ellipsis):
        return len(value) == len(parts) and all(map(_fits, value, parts))
    return not parts or all(_fits(element, parts[0]) for element in [*value][:MOST])


def _words(hint: Any) -> str:
    """The kind, in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint is np.ndarray or origin is np.ndarray or hint is ArrayLike:
        return "an array of numbers"
    if origin in (typing.Union, types.UnionType):
        found = list(dict.fromkeys(_words(part) for part in parts))
        return " or ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)
    if hint is None or hint in PLAIN:
        return PLAIN[type(None) if hint is None else hint][1]
    if hint is float:
        return "a number"
    if origin is typing.Literal:
        return "one of " + ", ".join(parts)
    if origin is Callable or hint is Callable:
        return "a function"
    if origin is not None and issubclass(origin, Mapping):
        return f"a dict, each key {_words(parts[0])}, each value {_words(parts[1])}"
    if origin is tuple and Ellipsis not in parts:
        return "(" + "; ".join(map(_words, parts)) + ")"
    if origin is not None and issubclass(origin, Iterable):
        return f"a list, each element {_words(parts[0])}"
    if isinstance(hint, type) and issubclass(hint, os.PathLike):
        return "a path"
    return f"a {getattr(hint, '__name__', hint)}"
