"""Rows of scratch memory, to be read one at a time, or eight at a time as one vector of the processor.

`Rows[i, k]` is column k of row i, a number; `eight(Rows)[i, k]` is column k of rows i to i + 7, for i = 0, 8, 16, ...
For work that is the same for each row and waits for no other row, without a branch. Measured: five bodies 9 % faster,
long chains and trees 16 %. Where every number is eight already, of eight simulations, rows are taken one at a time.

In memory lies a block of eight rows after the other, in each its columns, of each the eight numbers side by side: one
line of the cache. So all columns of a row are at fixed distances from each other, which stand in the instructions of
the processor; columns as long as the model has bodies would each want an address of its own (measured: 13 % slower).
A block in front has row -1, and rows to spare fill the last one: something is computed there that nobody reads.
"""

import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from rbt_ros.core.lanes import (
    DOUBLE,
    LANES,
    LANES_TYPE,
    VECTOR,
    WORD,
    Eights,
    LanesType,
    as_lanes,
    is_array_of_lanes,
    zeros_in_lanes,
)


# --------------------------------------------------------------------------------------------------- as plain Python
class Rows:
    """The rows in `memory`, (blocks, columns, LANES). As numpy arrays they are a copy: `table`."""

    def __init__(self, memory):
        self.memory = memory

    def __getitem__(self, at):
        i, k = at
        return self.memory[i // LANES + 1, k, i % LANES]

    def __setitem__(self, at, value):
        i, k = at
        self.memory[i // LANES + 1, k, i % LANES] = value

    @property
    def table(self):
        """Rows from 0 on, those to spare with them: (rows, columns)."""
        return self.memory[1:].swapaxes(1, 2).reshape(-1, self.memory.shape[1])


class Eight:
    """What `eight` gives in plain Python: numpy computes element by element."""

    def __init__(self, memory):
        self.memory = memory

    def __getitem__(self, at):
        i, k = at
        return self.memory[i // LANES + 1, k].copy()

    def __setitem__(self, at, value):
        i, k = at
        self.memory[i // LANES + 1, k] = value


def eight(rows):
    """`rows`, taken `at_once` at a time, each column of them as lanes."""
    return rows if isinstance(rows, Eights) else Eight(rows.memory)


def at_once(rows):
    """How many rows an index of `eight(rows)` takes."""
    return 1 if isinstance(rows, Eights) else LANES


def empty_memory(count, columns):
    """Zeros for rows -1 to at least count - 1."""
    return zeros_in_lanes((1 + -(-count // LANES), columns))


# --------------------------------------------------------------------------------------------------------- compiled
class RowsType(types.Type):
    """`Rows` of so many columns: where row 0 begins."""

    def __init__(self, columns):
        self.columns = columns
        super().__init__(f"{type(self).__name__}({columns})")


class EightType(RowsType):
    """`Eight` of so many columns."""


@register_model(RowsType)
@register_model(EightType)
class RowsModel(models.PrimitiveModel):
    def __init__(self, manager, type_):
        super().__init__(manager, type_, DOUBLE.as_pointer())


def as_rows(context, builder, array_type, array, columns):
    """The value of `RowsType(columns)` for an array that is its memory."""
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.gep(data, [ir.Constant(WORD, columns * LANES)])


@infer_global(eight)
class EightTemplate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0] if is_array_of_lanes(args[0]) else EightType(args[0].columns), args[0])


@lower_builtin(eight, RowsType)
@lower_builtin(eight, types.Array)
def lower_eight(context, builder, sig, args):
    return args[0]


@infer_global(at_once)
class AtOnceTemplate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(types.intp, args[0])


@lower_builtin(at_once, RowsType)
@lower_builtin(at_once, types.Array)
def lower_at_once(context, builder, sig, args):
    return ir.Constant(WORD, 1 if is_array_of_lanes(sig.args[0]) else LANES)


INDEX = types.UniTuple(types.intp, 2)


@infer_global(operator.getitem)
class GetTemplate(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], RowsType):
            return signature(LANES_TYPE if isinstance(args[0], EightType) else types.float64, args[0], INDEX)


@infer_global(operator.setitem)
class SetTemplate(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], EightType) and args[2] == LANES_TYPE:
            return signature(types.none, args[0], INDEX, LANES_TYPE)
        if isinstance(args[0], RowsType):
            return signature(types.none, args[0], INDEX, types.float64)


def address(builder, rows_type, rows, index):
    """Where the number, or the first of the eight, lies: the block of the row, the column, the lane."""
    row, column = cgutils.unpack_tuple(builder, index, 2)
    block = builder.ashr(row, ir.Constant(WORD, LANES.bit_length() - 1))
    start = builder.mul(block, ir.Constant(WORD, rows_type.columns * LANES))
    lane = builder.and_(row, ir.Constant(WORD, LANES - 1))
    # the row first, then the column: what is constant stays apart
    return builder.gep(builder.gep(rows, [builder.add(start, lane)]), [builder.mul(column, ir.Constant(WORD, LANES))])


@lower_builtin(operator.getitem, RowsType, INDEX)
def lower_get(context, builder, sig, args):
    return builder.load(address(builder, sig.args[0], *args))


@lower_builtin(operator.setitem, RowsType, INDEX, types.float64)
def lower_set(context, builder, sig, args):
    builder.store(args[2], address(builder, sig.args[0], *args[:2]))
    return context.get_dummy_value()


def eight_address(builder, rows_type, rows, index):
    """Where the vector lies. Lines of the cache begin there, which is not relied upon: a copy may lie elsewhere."""
    return builder.bitcast(address(builder, rows_type, rows, index), VECTOR.as_pointer())


@lower_builtin(operator.getitem, EightType, INDEX)
def lower_get_eight(context, builder, sig, args):
    return builder.load(eight_address(builder, sig.args[0], *args), align=8)


@lower_builtin(operator.setitem, EightType, INDEX, LanesType)
@lower_builtin(operator.setitem, EightType, INDEX, types.float64)
def lower_set_eight(context, builder, sig, args):
    value = as_lanes(builder, sig.args[2], args[2])
    builder.store(value, eight_address(builder, sig.args[0], *args[:2]), align=8)
    return context.get_dummy_value()
