"""`@kernel` and `@routine` compile; their cache folder makes the second start fast, and is never stale."""

import contextlib
import fcntl
import functools
import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import event, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.targetconfig import ConfigStack
from numba.core.typing.templates import infer_global, make_overload_template


def source_hash(folder: Path) -> str:
    """16 hex digits that change with any byte of any `*.py` in `folder`, or with the version of numba."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder(folder: Path) -> Path:
    """Where compiled kernels of `folder` are kept: below NUMBA_CACHE_DIR, XDG_CACHE_HOME, ~/.cache, or a temporary one.

    numba alone checks the file of the decorated function, not the files of its callees in other modules: after an edit
    of `vec.py` it would run the old `vec.py` inlined in `dynamics.py`. A folder per hash of all sources cannot.
    """
    name = f"kernels-{source_hash(folder)}"
    for base in _cache_bases():
        target = base / "rbt_ros" / name
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError:  # no home, read-only home: the next base is tried
            continue
        if os.access(target, os.W_OK):
            return target
    return Path(tempfile.mkdtemp(prefix=f"rbt_ros-{name}-"))


def _cache_bases() -> list[Path]:
    bases = [Path(os.environ[key]) for key in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME") if os.environ.get(key)]
    home = os.path.expanduser("~")
    return [*bases, Path(home) / ".cache"] if os.path.isabs(home) else bases


@functools.cache
def _core_cache_folder() -> str:
    return str(cache_folder(Path(__file__).parent))


# IEEE arithmetic as written: no fastmath (same bits compiled, plain and on any CPU); error_model="numpy": x/0 is inf,
# seen by the finiteness check of each tick, not an exception inside a step. _nrt=False: no reference counts, so kernels
# read and write arrays but cannot make any; counting the references of the arrays that kernels hand to each other
# would cost more than the arithmetic (measured: 396 ns per body instead of 86).
OPTIONS = dict(nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)


class _Starts(event.Listener):
    """Hears of each compilation that begins."""

    def __init__(self, tell: Callable[[], None]):
        self._tell = tell

    def on_start(self, event: event.Event) -> None:
        self._tell()

    def on_end(self, event: event.Event) -> None:
        """What ends is not told."""


def announced(tell: Callable[[], None]) -> contextlib.AbstractContextManager:
    """While it is open, tell() is called before anything is compiled, in the thread that does; not for loading."""
    return event.install_listener("numba:compile", _Starts(tell))


class _Inlined(JITCodeLibrary):
    """The code of a kernel: its callers take it in, so that none of it is made ready to run alone.

    numba would optimise each kernel and make machine code of it: a fifth of the time of a first start.
    """

    def get_pointer_to_function(self, name: str) -> int:
        """There is no machine code to point at."""
        return 0

    @property
    def codegen(self) -> Any:
        """What numba gives a function's environment to, which only one with machine code has."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """There is none."""

    def _optimize_final_module(self) -> None:
        """The routine that takes it in is optimised, as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _InlineCompiler(Compiler):
    """Compiles for `_Inlined`."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """numba's, into a library of ours."""
        self.state.library = _Inlined(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)


class _Whole(JITCodeLibrary):
    """The code of a routine: optimised twice, since what its kernels have brought along is in place after the first."""

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        super()._optimize_final_module()


class _RoutineCompiler(Compiler):
    """Compiles for `_Whole`."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """numba's, into a library of ours, which is cached on disk."""
        self.state.library = _Whole(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class _AnyCaller:
    """Finds the one compiled form of a kernel for given types, whoever calls.

    numba makes one for each set of options that callers have: for routines and for kernels, say, though these options
    change nothing in what they call.
    """

    def _get_impl(self, args: Any, named: Any) -> Any:
        with ConfigStack().enter(_NO_CALLER):
            return super()._get_impl(args, named)  # type: ignore[misc]


_NO_CALLER = Flags()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is compiled into the routines that call it, inline. Called from Python it is plain Python.

    For everything small that reads like an equation: a call costs nothing.
    """
    options = dict(nopython=True, **OPTIONS, forceinline=True, no_cpython_wrapper=True, pipeline_class=_InlineCompiler)
    made = make_overload_template(function, lambda *args, **named: function, options, strict=False, inline="never")
    infer_global(function, types.Function(type(made.__name__, (_AnyCaller, made), {})))
    return function


def routine(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function, cached on disk: what Python calls, and what is too large to be inlined where it is used.

    With NUMBA_DISABLE_JIT=1 it is `function` itself.
    """
    if numba.config.DISABLE_JIT:
        return function
    # numba fixes the cache folder when it decorates: set it for our own only, whatever else the process compiles
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _core_cache_folder()
    try:
        made = numba.njit(cache=True, pipeline_class=_RoutineCompiler, **OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before
    files = made._cache._cache_file
    files.save = functools.partial(_save_alone, files.save)
    return made


def _save_alone(save: Callable[..., None], *entry: Any) -> None:
    """Write a kernel and its line in the index while no other process does.

    Two that compile the same routine for other types at the same time would both take the next free name, and the
    index could then lead to the code of the other.
    """
    with (Path(_core_cache_folder()) / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        save(*entry)


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether a routine is compiled already, here or in the cache; as plain Python it needs not be."""
    if numba.config.DISABLE_JIT or function.overloads:
        return True
    return any(Path(_core_cache_folder()).rglob(f"*.{function.py_func.__qualname__}-*.nbi"))


_ENTRIES: dict[tuple, Callable[..., Any]] = {}


def direct(call: Callable[..., Any]) -> Callable[..., Any]:
    """What does as `call`, a routine with some of its arguments given, does for integers as the others.

    numba looks at the types of all arguments in each call, which for an integrator takes half a microsecond: here they
    are looked at once. What is no such routine is returned as it is.
    """
    if not (isinstance(call, functools.partial) and isinstance(call.func, numba.core.dispatcher.Dispatcher)):
        return call
    try:
        key = call.func, *(_KINDS[each.__class__](each) for each in call.args)
    except KeyError:  # a tuple of arrays, say
        return call
    if key not in _ENTRIES:
        types = [numba.typeof(each) for each in call.args]
        given = len(inspect.signature(call.func.py_func).parameters)
        signature = (*types, *[numba.types.int64] * (given - len(types)))
        call.func.compile(signature)  # or loaded, or there already
        _ENTRIES[key] = call.func.get_overload(signature)
    return functools.partial(_ENTRIES[key], *call.args)


_KINDS: dict[type, Callable[[Any], Any]] = {  # what numba makes of an argument depends on this alone
    np.ndarray: lambda array: (array.dtype.num, array.ndim, array.flags.num),
    int: type,
    float: type,
}
