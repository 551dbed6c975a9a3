"""Eight numbers as one: the lanes of one vector of the processor.

Kernels are written for numbers. Given lanes, the same source computes eight results at once, each with the bits it
would have alone: +, -, *, / and the square root of IEEE, element by element. The eight are rows of one simulation's
scratch memory (`rows.py`), or the same number of eight simulations that go side by side (`side_by_side.py`): then whole
arrays are of lanes, see `lanes`.

A branch on a number would send the lanes different ways. So kernels ask for `common(x)` where the model alone decides,
which is then the same in all lanes, and have `larger`, `finite_or_zero` and `all_zero` instead of branches elsewhere.
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model
from numba.np.arrayobj import populate_array

LANES = 8  # a power of two


# --------------------------------------------------------------------------------------------------- as plain Python
class Eights:
    """What `lanes` gives in plain Python: numpy computes element by element."""

    def __init__(self, memory):
        self.memory = memory

    @property
    def shape(self):
        """As an array of lanes."""
        return self.memory.shape[:-1]

    def __getitem__(self, at):
        found = self.memory[at]
        return found.copy() if found.ndim == 1 else Eights(found)  # what is read does not change when it is written

    def __setitem__(self, at, value):
        self.memory[at] = value


def lanes(array):
    """`array`, C-contiguous with LANES columns in its last place, as an array of lanes with a place less."""
    return Eights(array)


def zeros_in_lanes(shape):
    """Zeros, (*shape, LANES): each eight of them are a line of the cache."""
    size = math.prod(shape) * LANES
    memory = np.zeros(size + LANES)
    start = -memory.ctypes.data // memory.itemsize % LANES
    return memory[start : start + size].reshape(*shape, LANES)


def common(x):
    """The number that is the same in all lanes."""
    return x if np.ndim(x) == 0 else x[0]


def root(x):
    """√x, correctly rounded."""
    return np.sqrt(x)


def larger(a, b):
    """a where a > b, else b."""
    return np.where(a > b, a, b)[()]


def finite_or_zero(x):
    """x, but 0 where it is a NaN or an infinity."""
    return np.where(np.isfinite(x), x, 0.0)[()]


def all_zero(x):
    """Whether it is 0, in all lanes."""
    return bool(np.all(x == 0.0))


# --------------------------------------------------------------------------------------------------------- compiled
DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
VECTOR = ir.VectorType(DOUBLE, LANES)


class LanesType(types.Type):
    """Eight float64."""

    def can_convert_from(self, typingctx, other):
        """A number is the same in all lanes."""
        return Conversion.safe if other == types.float64 else None


LANES_TYPE = LanesType("Lanes")


@register_model(LanesType)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, VECTOR)


def as_lanes(builder, type_, value):
    """A number as eight equal ones."""
    if type_ == LANES_TYPE:
        return value
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@lower_cast(types.Float, LanesType)
def cast_number(context, builder, fromty, toty, value):
    return as_lanes(builder, fromty, value)


PAIRS = ((LanesType, LanesType), (LanesType, types.float64), (types.float64, LanesType))


def kinds_of(args):
    """The types to compile for where lanes are among these arguments."""
    return [LANES_TYPE if arg == LANES_TYPE else types.float64 for arg in args]


def operation(functions, lower):
    """Let functions of two arguments, with lanes among them, compile to `lower(builder, a, b)`."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and LANES_TYPE in args:
                return signature(LANES_TYPE, *kinds_of(args))

    def lower_pair(context, builder, sig, args):
        a, b = (as_lanes(builder, type_, value) for type_, value in zip(sig.args, args, strict=True))
        return lower(builder, a, b)

    for function in functions:
        infer_global(function)(type(function.__name__, (Template,), {}))
        for kinds in PAIRS:
            lower_builtin(function, *kinds)(lower_pair)


operation((operator.add, operator.iadd), lambda builder, a, b: builder.fadd(a, b))
operation((operator.sub, operator.isub), lambda builder, a, b: builder.fsub(a, b))
operation((operator.mul, operator.imul), lambda builder, a, b: builder.fmul(a, b))
operation((operator.truediv, operator.itruediv), lambda builder, a, b: builder.fdiv(a, b))


def verb(function, arity, result, lower):
    """Let `function` of numbers, or with lanes among them, compile to `lower(builder, type, ...)`, of their LLVM type.

    result: what it gives for lanes; for numbers float64, or a truth where that is one.
    """

    @infer_global(function)
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == arity and all(isinstance(arg, types.Number) or arg == LANES_TYPE for arg in args):
                in_lanes = LANES_TYPE in args
                given = types.float64 if result == LANES_TYPE and not in_lanes else result
                return signature(given, *(kinds_of(args) if in_lanes else [types.float64] * arity))

    def lower_verb(context, builder, sig, args):
        if LANES_TYPE not in sig.args:
            return lower(builder, DOUBLE, *args)
        values = [as_lanes(builder, type_, value) for type_, value in zip(sig.args, args, strict=True)]
        return lower(builder, VECTOR, *values)

    for kinds in [(types.Float,) * arity, (LanesType,) * arity, *(PAIRS[1:] if arity == 2 else ())]:
        lower_builtin(function, *kinds)(lower_verb)


def lower_root(builder, type_, x):
    """The processor's square root, for which LLVM has a name per type."""
    name = "llvm.sqrt.f64" if type_ == DOUBLE else f"llvm.sqrt.v{LANES}f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(type_, [type_]), name), [x])


def lower_larger(builder, type_, a, b):
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def lower_finite_or_zero(builder, type_, x):
    """x - x is 0 for a finite x, a NaN for others."""
    zero = ir.Constant(type_, None)
    return builder.select(builder.fcmp_ordered("==", builder.fsub(x, x), zero), x, zero)


def lower_all_zero(builder, type_, x):
    equal = builder.fcmp_ordered("==", x, ir.Constant(type_, None))
    if type_ == DOUBLE:
        return equal
    bits = builder.bitcast(equal, ir.IntType(LANES))
    return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, (1 << LANES) - 1))


def lower_common(builder, type_, x):
    return x if type_ == DOUBLE else builder.extract_element(x, ir.IntType(32)(0))


verb(root, 1, LANES_TYPE, lower_root)
verb(larger, 2, LANES_TYPE, lower_larger)
verb(finite_or_zero, 1, LANES_TYPE, lower_finite_or_zero)
verb(all_zero, 1, types.boolean, lower_all_zero)
verb(common, 1, types.float64, lower_common)


@infer_global(operator.neg)
class NegTemplate(AbstractTemplate):
    def generic(self, args, kws):
        if args[0] == LANES_TYPE:
            return signature(LANES_TYPE, LANES_TYPE)


@lower_builtin(operator.neg, LanesType)
def lower_neg(context, builder, sig, args):
    return builder.fneg(args[0])


# ------------------------------------------------------------------------------------------------ arrays of lanes
def is_array_of_lanes(type_):
    """Whether that is the type of what `lanes` gives."""
    return isinstance(type_, types.Array) and type_.dtype == LANES_TYPE


@infer_global(lanes)
class LanesTemplate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.Array(LANES_TYPE, args[0].ndim - 1, "C", aligned=False), args[0])


@lower_builtin(lanes, types.Array)
def lower_lanes(context, builder, sig, args):
    given = context.make_array(sig.args[0])(context, builder, value=args[0])
    array = context.make_array(sig.return_type)(context, builder)
    without_last = [
        cgutils.pack_array(builder, cgutils.unpack_tuple(builder, places)[:-1], WORD)
        for places in (given.shape, given.strides)
    ]
    populate_array(
        array,
        data=builder.bitcast(given.data, VECTOR.as_pointer()),
        shape=without_last[0],
        strides=without_last[1],
        itemsize=ir.Constant(WORD, 8 * LANES),
        meminfo=None,
    )
    return array._getvalue()
