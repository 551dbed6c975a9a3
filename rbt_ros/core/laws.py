"""Forces that are plugged in: each law is compiled by itself, and called from the equations of motion by its address.

So the engine is compiled once for all laws, and a scenario compiles only those that it names. A law is a function

    wrench(p, a, t) -> (moment, force)            or, between two bodies,            wrench(p, a, b, t)

of its parameters p, where the body is and how it moves (`Place`, at the point where it acts) and the time [s]; moment
[N·m] about that point and force [N] on a, world axes; b gets the opposite in the same point. One that has a potential
gives a third number: the power [W] that it takes for good. `side_by_side.py` calls it with eight numbers for each one.
"""

import ctypes
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable

from rbt_ros.core.lanes import DOUBLE, LANES, LANES_TYPE, VECTOR, Eights, as_lanes

GIVEN = 7  # numbers that a law gives: moment, force, and the power that one with a potential takes for good


class Place(NamedTuple):
    """A body as a law sees it, at one of its points; world axes."""

    p: tuple  # of the point [m], 3
    v: tuple  # velocity of the point [m/s], 3
    w: tuple  # angular velocity [rad/s], 3
    R: tuple  # R_WB: from body to world axes, 3x3
    mass: float  # [kg]
    inertia: tuple  # I_BBcm [kg·m²], body axes: xx yy zz xy xz yz


PLACE = (3, 3, 3, (3, 3), 1, 6)  # how many numbers each of its fields has
PLACE_SIZE = 25


def size_of(shape) -> int:
    """How many numbers a field has: n, or n rows of m."""
    return shape[0] * shape[1] if isinstance(shape, tuple) else shape


# ----------------------------------------------------------------------------------------------- as plain Python
_PLAIN: list[Callable[..., Any]] = []  # the entries of this process by their number, which then stands for the address


def build(cls, shapes, numbers):
    """A NamedTuple `cls` of fields of these shapes, from as many numbers in a row."""
    fields, at = [], 0
    for shape in shapes:
        part = numbers[at : at + size_of(shape)]
        at += size_of(shape)
        if isinstance(shape, tuple):
            part = tuple(tuple(part[r * shape[1] : (r + 1) * shape[1]]) for r in range(shape[0]))
        fields.append(part[0] if shape == 1 else tuple(part))
    return cls(*fields)


def call(address, data, start, state, t):
    """What a law gives, 7 numbers. data: its parameters are there from `start` on; state: of one or two places."""
    return _PLAIN[int(address) - 1](data, start, state, t)


# ------------------------------------------------------------------------------------------------------ compiled
def _vector_of(type_):
    return VECTOR if type_ == LANES_TYPE else DOUBLE


@intrinsic
def _call(typingctx, address, data, start, state, t):
    element = data.dtype
    signature = types.UniTuple(element, GIVEN)(types.int64, data, types.int64, state, types.float64)

    def codegen(context, builder, sig, args):
        at, array, first, numbers, time = args
        of = _vector_of(element)
        items = cgutils.unpack_tuple(builder, numbers)
        given = cgutils.alloca_once(builder, of, size=len(items))
        found = cgutils.alloca_once(builder, of, size=GIVEN)
        places = [builder.gep(found, [ir.IntType(64)(k)]) for k in range(GIVEN)]
        for k, (item, type_) in enumerate(zip(items, sig.args[3], strict=True)):
            value = as_lanes(builder, type_, item) if element == LANES_TYPE else item
            builder.store(value, builder.gep(given, [ir.IntType(64)(k)]), align=8)
        for k in range(GIVEN):  # what a law that raises gives
            builder.store(ir.Constant(of, math.nan if of == DOUBLE else [math.nan] * LANES), places[k], align=8)
        parameters = builder.gep(context.make_array(sig.args[1])(context, builder, value=array).data, [first])
        kind = ir.FunctionType(ir.VoidType(), [of.as_pointer(), of.as_pointer(), DOUBLE, of.as_pointer()])
        builder.call(builder.inttoptr(at, kind.as_pointer()), [parameters, given, time, found])
        wrench = [builder.load(place, align=8) for place in places]
        return context.make_tuple(builder, sig.return_type, wrench)

    return signature, codegen


@numba.extending.overload(call, inline="always")
def _overload_call(address, data, start, state, t):
    return lambda address, data, start, state, t: _call(int(address), data, start, state, t)


def _reader(cls, shapes):
    """An intrinsic that reads a NamedTuple `cls` of these shapes from an address on."""

    @intrinsic
    def read(typingctx, pointer):
        element = pointer.dtype
        kinds = [
            types.UniTuple(types.UniTuple(element, shape[1]), shape[0])
            if isinstance(shape, tuple)
            else element
            if shape == 1
            else types.UniTuple(element, shape)
            for shape in shapes
        ]
        made = types.NamedTuple(kinds, cls)

        def codegen(context, builder, sig, args):
            at, items = 0, []

            def load(count, type_):
                nonlocal at
                values = []
                for _ in range(count):
                    values.append(builder.load(builder.gep(args[0], [ir.IntType(64)(at)]), align=8))
                    at += 1
                return context.make_tuple(builder, type_, values) if type_ is not None else values[0]

            for shape, kind in zip(shapes, kinds, strict=True):
                if isinstance(shape, tuple):
                    rows = [load(shape[1], kind.dtype) for _ in range(shape[0])]
                    items.append(context.make_tuple(builder, kind, rows))
                else:
                    items.append(load(shape, None if shape == 1 else kind))
            return context.make_tuple(builder, made, items)

        return made(pointer), codegen

    return read


@intrinsic
def _skip(typingctx, pointer, count):
    """The address so many numbers further."""

    def codegen(context, builder, sig, args):
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.int64), codegen


@intrinsic
def _write(typingctx, pointer, numbers):
    """Numbers, from an address on."""

    def codegen(context, builder, sig, args):
        for k, (item, type_) in enumerate(zip(cgutils.unpack_tuple(builder, args[1]), sig.args[1], strict=True)):
            value = item if type_ == LANES_TYPE else context.cast(builder, item, type_, types.float64)
            value = as_lanes(builder, type_, value) if sig.args[0].dtype == LANES_TYPE else value
            builder.store(value, builder.gep(args[0], [ir.IntType(64)(k)]), align=8)
        return context.get_dummy_value()

    return types.void(pointer, numbers), codegen


@register_jitable
def _third(x):
    return x[2]


@register_jitable
def _none(x):
    return 0.0


class Entry:
    """A law ready to be called: by its address from compiled code, by its number from plain Python."""

    def __init__(self, function, parameters, shapes, bodies, stores, compiled=True):
        """parameters: the NamedTuple of them, with fields of these shapes; stores: whether it gives a third number;
        compiled: or called as Python, slowly."""
        self._function, self._parameters, self._shapes = function, parameters, shapes
        self._bodies, self._stores = bodies, stores
        self._compiled, self._made = compiled, {}
        self.error: BaseException | None = None  # what the function raised last, where it is called as Python

    def address(self, in_lanes: bool = False) -> float:
        """Where to call it, as a number that an array of floats can hold."""
        plain = numba.config.DISABLE_JIT
        key = in_lanes and not plain
        if key not in self._made:
            at, kept = self._number() if plain else self._compile(key) if self._compiled else self._way_back()
            self._made[key] = at, kept
            ENTRIES[at] = self
        return self._made[key][0]

    @property
    def assembly(self) -> str:
        """What it was compiled to, as LLVM writes it."""
        return "".join(made.inspect_llvm() for _, made in self._made.values() if hasattr(made, "inspect_llvm"))

    def _compile(self, in_lanes):
        law = register_jitable(nopython=True, error_model="numpy", forceinline=True)(self._function)
        read_parameters, read_place = _reader(self._parameters, self._shapes), _reader(Place, PLACE)
        third = _third if self._stores else _none

        def one(p, state, t, out):
            x = law(read_parameters(p), read_place(state), t)
            _write(out, (*x[0], *x[1], third(x)))

        def two(p, state, t, out):
            x = law(read_parameters(p), read_place(state), read_place(_skip(state, PLACE_SIZE)), t)
            _write(out, (*x[0], *x[1], third(x)))

        pointer = types.CPointer(LANES_TYPE if in_lanes else types.float64)
        signature = types.void(pointer, pointer, types.float64, pointer)
        made = numba.cfunc(signature, nopython=True, error_model="numpy")(one if self._bodies == 1 else two)
        return float(made.address), made

    def _given(self, numbers, state, t):
        """What the function gives for these numbers; NaN where it raises: no exception comes through compiled code."""
        places = [build(Place, PLACE, state[k * PLACE_SIZE : (k + 1) * PLACE_SIZE]) for k in range(self._bodies)]
        try:
            found = self._function(build(self._parameters, self._shapes, numbers), *places, t)
            n, f, loss = found if self._stores else (*found, 0.0)
            (n0, n1, n2), (f0, f1, f2) = n, f
            return n0, n1, n2, f0, f1, f2, loss
        except Exception as err:  # it is another's function; who steps asks for it
            self.error = err
            return (math.nan,) * GIVEN

    def _number(self):
        count = sum(size_of(shape) for shape in self._shapes)
        _PLAIN.append(lambda data, start, state, t: self._given(_numbers(data, start, count), state, t))
        return float(len(_PLAIN)), None

    def _way_back(self):
        """From compiled code into the interpreter."""
        count, size, double = (
            sum(map(size_of, self._shapes)),
            self._bodies * PLACE_SIZE,
            ctypes.POINTER(ctypes.c_double),
        )

        def back(p, state, t, out):
            try:
                found = [float(x) for x in self._given(p[:count], state[:size], t)]
            except Exception as err:  # as in `_given`
                self.error, found = err, [math.nan] * GIVEN
            for k, x in enumerate(found):
                out[k] = x

        made = ctypes.CFUNCTYPE(None, double, double, ctypes.c_double, double)(back)
        return float(ctypes.cast(made, ctypes.c_void_p).value or 0), made


ENTRIES: dict[float, Entry] = {}  # of this process, by their addresses


def _numbers(data, start, count):
    """Numbers of an array, or of an array of lanes."""
    if isinstance(data, Eights):
        return [data[int(start) + k] for k in range(count)]
    return data[int(start) : int(start) + count].tolist()
