"""The enumerations of both APIs, in the order of the published package."""
import enum

from . import _core


class THREAD(enum.IntEnum):
    """Thread levels: who may call.

    SINGLE: the only thread; FUNNELED: the main thread; SERIALIZED: one at a time; MULTIPLE: all at once.
    """

    SINGLE = _core.THREAD_SINGLE
    FUNNELED = _core.THREAD_FUNNELED
    SERIALIZED = _core.THREAD_SERIALIZED
    MULTIPLE = _core.THREAD_MULTIPLE


class CMP(enum.IntEnum):
    """Comparisons for waits and tests. The names ('eq') and operators ('==') do as well."""

    EQ = _core.CMP_EQ
    NE = _core.CMP_NE
    GT = _core.CMP_GT
    LE = _core.CMP_LE
    LT = _core.CMP_LT
    GE = _core.CMP_GE


class SIGNAL(enum.IntEnum):
    """What `put_signal` does with the signal: write the value to it, or add it."""

    SET = _core.SIGNAL_SET
    ADD = _core.SIGNAL_ADD


class CTX(enum.IntFlag):
    """Options of contexts.

    PRIVATE: for the thread that makes it; SERIALIZED: for one thread at a time; NOSTORE: `quiet` and `fence`
    need not see to stores.
    """

    PRIVATE = _core.CTX_PRIVATE
    SERIALIZED = _core.CTX_SERIALIZED
    NOSTORE = _core.CTX_NOSTORE


class MALLOC(enum.IntFlag):
    """Hints of allocations: what the memory is for."""

    ATOMICS_REMOTE = _core.MALLOC_ATOMICS_REMOTE
    SIGNAL_REMOTE = _core.MALLOC_SIGNAL_REMOTE
