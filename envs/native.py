"""The one file that touches numba's internals: compiled kernels, their addresses, calls through them.

A driver that takes kernels as arguments can't be kept in numba's disk cache, or pays some 20 us to unbox
each of them at every call from Python. So a kernel is passed as the address of its machine code: an int64
array of addresses is bound once a game, and `caller` makes the function by which compiled code calls one.

Written for numba 0.61 to 0.68, of which the suite runs the newest. With NUMBA_DISABLE_JIT=1 a table of kernels
is a plain tuple of Python functions, and calling through it is calling them.
"""

# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false, reportAssignmentType=false
# pyright: reportCallIssue=false
# What numba says of its own types is true for some of its versions and some of its functions only.

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.typing.templates import Signature
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

_F = TypeVar("_F", bound=Callable[..., Any])

JIT: bool = not numba.config.DISABLE_JIT


@functools.cache
def _rules_stamp(folder: Path) -> tuple[tuple[str, float, int], ...]:
    """What the files of a folder and those below it are now. numba's cache looks at a kernel's own file only.

    Kernels inline helpers and freeze constants of other files here: without this stamp, a cached one would go on
    answering from the old file after an edit.
    """
    found = []
    for path in sorted(folder.rglob("*.py")):
        state = path.stat()
        found.append((path.name, state.st_mtime, state.st_size))
    return tuple(found)


class _Cache:
    """numba's disk cache of a function, opened at the first use, which also goes stale with the rules.

    To open it means to look for a folder that can be written, which takes longer than all else at import.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._opened: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._opened is None:
            self._opened = _open_cache(self._function)
        return getattr(self._opened, name)


def _open_cache(function: Callable[..., Any]) -> Any:
    try:
        cache = FunctionCache(function)
        rules, own = Path(__file__).parent, Path(function.__code__.co_filename).parent
        folders = [rules, own] if rules.parent in own.parents and own != rules else [rules]
        stamp = (cache._impl.locator.get_source_stamp(), *map(_rules_stamp, folders))
    except (RuntimeError, OSError):  # no folder for a cache
        return NullCache()
    cache._cache_file = IndexDataCacheFile(cache._cache_path, cache._impl.filename_base, stamp)
    return cache


@overload
def kernel(function: _F) -> _F: ...


@overload
def kernel(
    *, allocates: bool = False, parallel: bool = False, inline: bool = False, brief: bool = False
) -> Callable[[_F], _F]: ...


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    allocates: bool = False,
    parallel: bool = False,
    inline: bool = False,
    brief: bool = False,
) -> Any:
    """Compiles a function with numba, without bounds checks, cached on disk. It lets go of the interpreter's lock.

    Where neither the package's folder nor the user's cache folder is writable, it compiles anew in each
    process instead of failing at import, as numba's own `cache=True` does.

    allocates: whether it makes arrays. If not, it is compiled without reference counts: numba would raise
        and lower the count of every array argument, by atomic instructions, around each branch (without,
        a random step of Isis & Osiris takes 77 ns in place of 148).
    inline: as part of its caller, for bodies of loops with many arguments.
    brief: keeps the lock, for what Python calls and is over within a microsecond: to let go of it takes 0.2 us.
    """
    if function is None:
        return lambda f: _compiled(f, allocates or parallel, parallel, inline, brief)
    return _compiled(function, False, False, False, False)


def _compiled(function: Callable[..., Any], counted: bool, parallel: bool, inline: bool, brief: bool) -> Any:
    how = "always" if inline else "never"
    compiled = numba.njit(nogil=not brief, error_model="numpy", parallel=parallel, inline=how, _nrt=counted)(function)
    if JIT:
        compiled._cache = _Cache(function)
    return compiled


def bind(kernels: tuple[Callable[..., Any], ...], signatures: tuple[Signature, ...]) -> Any:
    """Compiles each kernel for its signature: an int64 array of addresses (without JIT, the kernels)."""
    if not JIT:
        return kernels
    return np.array([_address(k, s) for k, s in zip(kernels, signatures, strict=True)], np.int64)


def _address(function: Any, signature: Signature) -> int:
    function.compile(signature.args)  # as type inference asks for it: a key of its own in the cache otherwise
    result = function.overloads[signature.args]
    if result.signature.return_type != signature.return_type:
        raise TypeError(
            f"kernel {function.py_func.__qualname__} returns {result.signature.return_type}, "
            f"not {signature.return_type}"
        )
    address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return int(address)


def caller(signature: Signature) -> Callable[..., Any]:
    """Makes `call(address, *arguments)`, usable in compiled code, for kernels of one signature."""
    if not JIT:
        return _call_python

    return_type, arguments = signature.return_type, signature.args

    def codegen(context: Any, builder: Any, _: Any, values: Any) -> Any:
        pointer = context.call_conv.get_function_type(return_type, arguments).as_pointer()
        address = builder.inttoptr(values[0], pointer)
        unpacked = [builder.extract_value(values[1], k) for k in range(len(arguments))]
        status, result = context.call_conv.call_function(builder, address, return_type, arguments, unpacked)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, *args: Any) -> Any:
        return return_type(types.int64, types.Tuple(arguments)), codegen

    return call  # type: ignore[no-any-return]


def _call_python(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def bundle(*arrays: Any) -> Any:
    """C-contiguous arrays as one int64 array of their addresses and shapes (without JIT, the arrays).

    Compiled code makes arrays of it again by what `unbundler` makes. numba takes 0.1 us to unbox an array that it is
    called with: `vec.step` of one game takes 1.15 us with a bundle, 2.1 us without. Whoever keeps a bundle keeps the
    arrays too.
    """
    if not JIT:
        return arrays
    words = []
    for array in arrays:
        if not array.flags.c_contiguous or array.ndim > 2:
            raise ValueError("an array of a bundle is C-contiguous, of one or two dimensions")
        words += [array.ctypes.data, *array.shape, *[0] * (2 - array.ndim)]
    return np.array(words, np.int64)


def unbundler(*array_types: types.Array) -> Callable[[Any], Any]:
    """Makes `unbundle(bundle)`, usable in compiled code: the arrays of a bundle, of these types, as a tuple."""
    if not JIT:
        return _unbundle_python

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bundle_type = signature.args[0]
        words = context.make_array(bundle_type)(context, builder, values[0]).data
        word = context.get_value_type(types.int64)
        arrays = []
        for k, kind in enumerate(array_types):
            address, *shape = (
                builder.load(builder.gep(words, [ir.Constant(word, 3 * k + j)])) for j in range(1 + kind.ndim)
            )
            itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
            strides = [builder.mul(itemsize, shape[1]), itemsize] if kind.ndim == 2 else [itemsize]
            array = context.make_array(kind)(context, builder)
            data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
            arrays.append(array._getvalue())
        return context.make_tuple(builder, signature.return_type, arrays)

    @intrinsic  # type: ignore[untyped-decorator]
    def unbundle(typing_context: Any, bundle: Any) -> Any:
        return types.Tuple(array_types)(bundle), codegen

    return unbundle  # type: ignore[no-any-return]


def _unbundle_python(arrays: Any) -> Any:
    return arrays


# --- What compiled code can do and Python can't say ---


@intrinsic  # type: ignore[untyped-decorator]
def _popcount(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return types.int64(types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


def _byte_pointer(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The place in memory of array[i, at], the first three arguments of an intrinsic."""
    array_type = signature.args[0]
    array = context.make_array(array_type)(context, builder, values[0])
    return cgutils.get_item_pointer(context, builder, array_type, array, values[1:3], wraparound=False)


@intrinsic  # type: ignore[untyped-decorator]
def _store8(typing_context: Any, out: Any, i: Any, at: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = _byte_pointer(context, builder, signature, values)
        builder.store(values[3], builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _spread64(typing_context: Any, out: Any, i: Any, at: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = _byte_pointer(context, builder, signature, values)
        # Each of the eight bytes eight times over; of every copy one bit; that bit as 0 or 1.
        lanes = ir.VectorType(ir.IntType(8), 64)
        eight = builder.bitcast(values[3], ir.VectorType(ir.IntType(8), 8))
        places = ir.Constant(ir.VectorType(ir.IntType(32), 64), [k // 8 for k in range(64)])
        bits = builder.and_(
            builder.shuffle_vector(eight, eight, places),
            ir.Constant(lanes, [1 << (k % 8) for k in range(64)]),
        )
        ones = builder.zext(builder.icmp_unsigned("!=", bits, ir.Constant(lanes, [0] * 64)), lanes)
        builder.store(ones, builder.bitcast(pointer, lanes.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _load8(typing_context: Any, data: Any, i: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = _byte_pointer(context, builder, signature, values)
        return builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)

    return types.int64(data, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _gather64(typing_context: Any, data: Any, i: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = _byte_pointer(context, builder, signature, values)
        lanes = ir.VectorType(ir.IntType(8), 64)
        loaded = builder.load(builder.bitcast(pointer, lanes.as_pointer()), align=1)
        return builder.bitcast(builder.icmp_unsigned("!=", loaded, ir.Constant(lanes, [0] * 64)), ir.IntType(64))

    return types.int64(data, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _atomic_add(typing_context: Any, counts: Any, k: Any, more: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, values[0])
        pointer = cgutils.get_item_pointer(context, builder, array_type, array, values[1:2], wraparound=False)
        return builder.add(builder.atomic_rmw("add", pointer, values[2], "seq_cst"), values[2])

    return types.int64(counts, types.int64, types.int64), codegen


def _popcount_python(word: int) -> int:
    return (int(word) & (2**64 - 1)).bit_count()


def _trailing_zeros_python(word: int) -> int:
    bits = int(word) & (2**64 - 1)
    return (bits & -bits).bit_length() - 1 if bits else 64


def _store8_python(out: Any, i: int, at: int, word: int) -> None:
    out[i, at : at + 8] = np.array([word], "<i8").view(np.int8)


def _spread64_python(out: Any, i: int, at: int, word: int) -> None:
    out[i, at : at + 64] = (np.int64(word) >> np.arange(64)) & 1


def _load8_python(data: Any, i: int, at: int) -> int:
    return data[i, at : at + 8].copy().view("<i8")[0]  # type: ignore[no-any-return]


def _gather64_python(data: Any, i: int, at: int) -> int:
    bits = np.packbits(data[i, at : at + 64] != 0, bitorder="little")
    return bits.view("<i8")[0]  # type: ignore[no-any-return]


def _atomic_add_python(counts: Any, k: int, more: int) -> int:
    counts[k] += more
    return counts[k]  # type: ignore[no-any-return]


popcount: Callable[[int], int] = _popcount if JIT else _popcount_python
"""The number of one bits of an int64."""

trailing_zeros: Callable[[int], int] = _trailing_zeros if JIT else _trailing_zeros_python
"""The place of the lowest one bit of an int64; 64 for zero."""

store8: Callable[[Any, int, int, int], None] = _store8 if JIT else _store8_python
"""store8(out, i, at, word): writes the bytes of an int64, lowest first, as out[i, at] to out[i, at + 7]."""

spread64: Callable[[Any, int, int, int], None] = _spread64 if JIT else _spread64_python
"""spread64(out, i, at, word): writes bits 0 to 63 of an int64 as bytes out[i, at] to out[i, at + 63]."""

gather64: Callable[[Any, int, int], int] = _gather64 if JIT else _gather64_python
"""gather64(data, i, at): bit k of the int64 tells whether data[i, at + k] is not zero, k from 0 to 63."""

load8: Callable[[Any, int, int], int] = _load8 if JIT else _load8_python
"""load8(data, i, at): the bytes data[i, at] to data[i, at + 7] as an int64, lowest first."""

atomic_add: Callable[[Any, int, int], int] = _atomic_add if JIT else _atomic_add_python
"""atomic_add(counts, k, more): adds to counts[k], which other threads add to at once; returns the sum."""
