"""Types of shmem4py. Made by python/make_stubs.py."""
import enum
from types import TracebackType
from typing import Any, Iterator, Literal, Mapping, NoReturn, Sequence, Tuple, Type, Union, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

Number = Union[int, float, complex, np.number[Any]]
Values = Union[Sequence[Number], NDArray[Any]]
Numbers = Union[Sequence[int], NDArray[Any]]
Memory = Union[NDArray[Any], 'DeviceArray']
# Arrays, and elements of symmetric arrays.
Operand = Union[Memory, np.generic]

class Block:
    @property
    def number(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def freed(self) -> bool: ...
    @property
    def exports(self) -> int: ...
    @property
    def kind(self) -> str: ...

class DeviceArray:
    @property
    def shape(self) -> Tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> Tuple[int, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def device(self) -> int: ...
    @property
    def address(self) -> int: ...
    def copy_to_host(self, out: NDArray[Any] | None = ...) -> Any: ...
    def copy_from_host(self, values: Any, /) -> None: ...
    def item(self) -> Any: ...
    def reshape(self, *shape: int | Sequence[int]) -> DeviceArray: ...
    def free(self) -> None: ...
    def __getitem__(self, key: Any) -> DeviceArray: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[DeviceArray]: ...
    def __dlpack__(self, *, stream: Any = ..., max_version: Tuple[int, int] | None = ...,
                   dl_device: Tuple[int, int] | None = ..., copy: bool | None = ...) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def __enter__(self) -> DeviceArray: ...
    def __exit__(self, kind: Type[BaseException] | None = ..., value: BaseException | None = ...,
                 trace: TracebackType | None = ...) -> None: ...

class Array(np.ndarray[Any, Any]):
    def free(self) -> None: ...
    def __enter__(self) -> Array: ...
    def __exit__(self, kind: Type[BaseException] | None = ..., value: BaseException | None = ...,
                 trace: TracebackType | None = ...) -> None: ...

class Rc:
    initialize: bool
    threads: bool
    thread_level: str
    finalize: bool | None
    def __init__(self, **kwargs: Any) -> None: ...
    def __call__(self, **kwargs: Any) -> None: ...

rc: Rc
__version__: str

class CMP(enum.IntEnum):
    EQ = 1
    NE = 2
    GT = 3
    LE = 6
    LT = 5
    GE = 4

class CTX(enum.IntFlag):
    PRIVATE = 1
    SERIALIZED = 2
    NOSTORE = 4

class MALLOC(enum.IntFlag):
    ATOMICS_REMOTE = 1
    SIGNAL_REMOTE = 2

class SIGNAL(enum.IntEnum):
    SET = 0
    ADD = 1

class THREAD(enum.IntEnum):
    SINGLE = 0
    FUNNELED = 1
    SERIALIZED = 2
    MULTIPLE = 3

class Ctx:
    def __init__(self, ctx: Any = ...) -> None: ...
    def __enter__(self) -> Ctx: ...
    def __exit__(self, *args: Any) -> None: ...
    def __bool__(self) -> bool: ...
    @staticmethod
    def create(options: int = ..., team: Team | None = ...) -> Ctx: ...
    def destroy(self) -> None: ...
    def fence(self) -> None: ...
    def get_team(self) -> Team: ...
    @property
    def ob_ctx(self) -> Any: ...
    def quiet(self) -> None: ...

class Lock:
    def __init__(self) -> None: ...
    def __enter__(self) -> Lock: ...
    def __exit__(self, *args: Any) -> None: ...
    def __bool__(self) -> bool: ...
    def acquire(self, blocking: bool = ...) -> bool: ...
    def destroy(self) -> None: ...
    def release(self) -> None: ...

class Team:
    def __init__(self, team: Any = ...) -> None: ...
    def __enter__(self) -> Team: ...
    def __exit__(self, *args: Any) -> None: ...
    def __bool__(self) -> bool: ...
    def create_ctx(self, options: int = ...) -> Ctx: ...
    def destroy(self) -> None: ...
    def get_config(self) -> dict[str, int]: ...
    def my_pe(self) -> int: ...
    def n_pes(self) -> int: ...
    @property
    def ob_team(self) -> Any: ...
    def split_2d(self, xrange: int, xaxis_config: Mapping[str, int] | None = ...,
                 yaxis_config: Mapping[str, int] | None = ...) -> Tuple[Team, Team]: ...
    def split_strided(self, start: int = ..., stride: int = ..., size: int | None = ...,
                      config: Mapping[str, int] | None = ..., **kwargs: int) -> Team: ...
    def sync(self) -> None: ...
    def translate_pe(self, pe: int | None = ..., team: Team | None = ...) -> int: ...

CMP_EQ: int
CMP_GE: int
CMP_GT: int
CMP_LE: int
CMP_LT: int
CMP_NE: int
CTX_DEFAULT: Ctx
CTX_INVALID: Ctx
CTX_NOSTORE: int
CTX_PRIVATE: int
CTX_SERIALIZED: int
MAJOR_VERSION: int
MALLOC_ATOMICS_REMOTE: int
MALLOC_SIGNAL_REMOTE: int
MAX_NAME_LEN: int
MINOR_VERSION: int
SIGNAL_ADD: int
SIGNAL_SET: int
TEAM_INVALID: Team
TEAM_NUM_CONTEXTS: int
TEAM_SHARED: Team
TEAM_WORLD: Team
THREAD_FUNNELED: int
THREAD_MULTIPLE: int
THREAD_SERIALIZED: int
THREAD_SINGLE: int
VENDOR_STRING: str

def addr_accessible(addr: Operand, pe: int) -> bool: ...
@overload
def alloc(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., clear: bool = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def alloc(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., clear: bool = ..., kind: str) -> DeviceArray: ...
def alltoall(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def alltoalls(target: Operand, source: Operand, tst: int = ..., sst: int = ..., size: int | None = ...,
              team: Team | None = ...) -> None: ...
def and_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
@overload
def array(obj: Any, dtype: DTypeLike = ..., *, order: str = ..., align: int | None = ...,
          hints: int | None = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def array(obj: Any, dtype: DTypeLike = ..., *, order: str = ..., align: int | None = ...,
          hints: int | None = ..., kind: str) -> DeviceArray: ...
def array_on(base: Block | memoryview, shape: int | Sequence[int], dtype: DTypeLike, order: str = ...,
             plain: bool = ...) -> Array: ...
def atomic_add(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_and(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_compare_swap(target: Operand, cond: Number, value: Number, pe: int,
                        ctx: Ctx | None = ...) -> Any: ...
def atomic_compare_swap_nbi(fetch: Memory, target: Operand, cond: Number, value: Number, pe: int,
                            ctx: Ctx | None = ...) -> None: ...
def atomic_fetch(source: Operand, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_add(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_add_nbi(fetch: Memory, target: Operand, value: Number, pe: int,
                         ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_and(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_and_nbi(fetch: Memory, target: Operand, value: Number, pe: int,
                         ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_inc(target: Operand, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_inc_nbi(fetch: Memory, target: Operand, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_nbi(fetch: Memory, source: Operand, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_op(target: Operand, value: Number | None, op: str, pe: int,
                    ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_op_nbi(fetch: Memory, target: Operand, value: Number | None, op: str, pe: int,
                        ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_or(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_or_nbi(fetch: Memory, target: Operand, value: Number, pe: int,
                        ctx: Ctx | None = ...) -> None: ...
def atomic_fetch_xor(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_fetch_xor_nbi(fetch: Memory, target: Operand, value: Number, pe: int,
                         ctx: Ctx | None = ...) -> None: ...
def atomic_inc(target: Operand, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_op(target: Operand, value: Number | None, op: str, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_or(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_set(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def atomic_swap(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> Any: ...
def atomic_swap_nbi(fetch: Memory, target: Operand, value: Number, pe: int,
                    ctx: Ctx | None = ...) -> None: ...
def atomic_xor(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def barrier_all() -> None: ...
def block_alloc(nbytes: int, align: int | None = ..., hints: int | None = ..., clear: bool = ...,
                what: str | None = ..., kind: str | None = ...) -> Block: ...
def block_free(block: Block) -> None: ...
def block_of(obj: Any) -> Block | None: ...
def broadcast(target: Operand, source: Operand, root: int, size: int | None = ...,
              team: Team | None = ...) -> None: ...
def claim_report() -> bool: ...
def clear_lock(lock: Operand | Lock) -> None: ...
def collect(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def del_lock(lock: Operand | Lock) -> None: ...
def del_signal(signal: Operand) -> None: ...
def device_info() -> dict[str, Any] | None: ...
@overload
def empty(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def empty(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., kind: str) -> DeviceArray: ...
def fcollect(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def fence(ctx: Ctx | None = ...) -> None: ...
def finalize() -> None: ...
def free(x: Any) -> None: ...
@overload
def full(shape: int | Sequence[int], fill_value: Any, dtype: DTypeLike = ..., order: str = ..., *,
         align: int | None = ..., hints: int | None = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def full(shape: int | Sequence[int], fill_value: Any, dtype: DTypeLike = ..., order: str = ..., *,
         align: int | None = ..., hints: int | None = ..., kind: str) -> DeviceArray: ...
def g(source: Operand, pe: int, ctx: Ctx | None = ...) -> Any: ...
def gather(x: Any, index: Numbers, pe: int | Numbers, out: Memory | None = ...,
           ctx: Ctx | None = ...) -> NDArray[Any]: ...
def get(target: Operand, source: Operand, pe: int, size: int | None = ..., ctx: Ctx | None = ...) -> None: ...
def get_nbi(target: Operand, source: Operand, pe: int, size: int | None = ...,
            ctx: Ctx | None = ...) -> None: ...
def global_exit(status: int = ...) -> NoReturn: ...
def iget(target: Operand, source: Operand, pe: int, tst: int = ..., sst: int = ..., size: int | None = ...,
         ctx: Ctx | None = ...) -> None: ...
def info_get_name() -> str: ...
def info_get_version() -> Tuple[int, int]: ...
def init(requested: int = ...) -> THREAD: ...
def init_thread(requested: int = ...) -> int: ...
def iput(target: Operand, source: Operand, pe: int, tst: int = ..., sst: int = ..., size: int | None = ...,
         ctx: Ctx | None = ...) -> None: ...
def is_descendant() -> bool: ...
def is_symmetric(obj: Any) -> bool: ...
def max_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def memory_info() -> dict[str, int]: ...
def min_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def my_pe() -> int: ...
def n_pes() -> int: ...
def new_lock() -> Array: ...
def new_signal() -> Array: ...
@overload
def ones(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
         hints: int | None = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def ones(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
         hints: int | None = ..., kind: str) -> DeviceArray: ...
def or_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def p(target: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def pcontrol(level: int = ...) -> None: ...
def pe_accessible(pe: int) -> bool: ...
def peer_table(x: Any) -> list[int | None]: ...
def prod_reduce(target: Operand, source: Operand, size: int | None = ...,
                team: Team | None = ...) -> None: ...
def ptr(target: Operand, pe: int) -> NDArray[Any] | None: ...
def put(target: Operand, source: Operand | Number, pe: int, size: int | None = ...,
        ctx: Ctx | None = ...) -> None: ...
def put_nbi(target: Operand, source: Operand | Number, pe: int, size: int | None = ...,
            ctx: Ctx | None = ...) -> None: ...
def put_signal(target: Operand, source: Operand | Number, pe: int, signal: Operand, value: Number, sigop: int,
               size: int | None = ..., ctx: Ctx | None = ...) -> None: ...
def put_signal_nbi(target: Operand, source: Operand | Number, pe: int, signal: Operand, value: Number,
                   sigop: int, size: int | None = ..., ctx: Ctx | None = ...) -> None: ...
def query_initialized() -> bool: ...
def query_thread() -> int: ...
def quiet(ctx: Ctx | None = ...) -> None: ...
def reduce(target: Operand, source: Operand, op: str = ..., size: int | None = ...,
           team: Team | None = ...) -> None: ...
def scatter(x: Any, index: Numbers, pe: int | Numbers, source: Operand, ctx: Ctx | None = ...) -> None: ...
def scatter_add(x: Any, index: Numbers, pe: int | Numbers, source: Operand,
                ctx: Ctx | None = ...) -> None: ...
def set_lock(lock: Operand | Lock) -> None: ...
def signal_add(signal: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def signal_fetch(signal: Operand) -> int: ...
def signal_set(signal: Operand, value: Number, pe: int, ctx: Ctx | None = ...) -> None: ...
def signal_wait_until(signal: Operand, cmp: int | str, value: Number) -> int: ...
def sum_exscan(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def sum_inscan(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def sum_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
def sync(team: Team | None = ..., pe: int | None = ...) -> None: ...
def sync_all() -> None: ...
def test(ivar: Operand, cmp: int | str, value: Number) -> bool: ...
def test_all(ivars: Memory, cmp: int | str, value: Number, status: Numbers | None = ...) -> bool: ...
def test_all_vector(ivars: Memory, cmp: int | str, values: Values, status: Numbers | None = ...) -> bool: ...
def test_any(ivars: Memory, cmp: int | str, value: Number, status: Numbers | None = ...) -> int | None: ...
def test_any_vector(ivars: Memory, cmp: int | str, values: Values,
                    status: Numbers | None = ...) -> int | None: ...
def test_lock(lock: Operand | Lock) -> bool: ...
def test_some(ivars: Memory, cmp: int | str, value: Number, status: Numbers | None = ...) -> list[int]: ...
def test_some_vector(ivars: Memory, cmp: int | str, values: Values,
                     status: Numbers | None = ...) -> list[int]: ...
def wait_until(ivar: Operand, cmp: int | str, value: Number) -> None: ...
def wait_until_all(ivars: Memory, cmp: int | str, value: Number, status: Numbers | None = ...) -> None: ...
def wait_until_all_vector(ivars: Memory, cmp: int | str, values: Values,
                          status: Numbers | None = ...) -> None: ...
def wait_until_any(ivars: Memory, cmp: int | str, value: Number,
                   status: Numbers | None = ...) -> int | None: ...
def wait_until_any_vector(ivars: Memory, cmp: int | str, values: Values,
                          status: Numbers | None = ...) -> int | None: ...
def wait_until_some(ivars: Memory, cmp: int | str, value: Number,
                    status: Numbers | None = ...) -> list[int]: ...
def wait_until_some_vector(ivars: Memory, cmp: int | str, values: Values,
                           status: Numbers | None = ...) -> list[int]: ...
def xor_reduce(target: Operand, source: Operand, size: int | None = ..., team: Team | None = ...) -> None: ...
@overload
def zeros(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., kind: Literal['host'] | None = ...) -> Array: ...
@overload
def zeros(shape: int | Sequence[int], dtype: DTypeLike = ..., order: str = ..., *, align: int | None = ...,
          hints: int | None = ..., kind: str) -> DeviceArray: ...
def char_get(source: Operand, pe: int, out: Memory | None = ..., ctx: Ctx | None = ...) -> Any: ...
def int32_test_all(ivars: Memory, cmp: int | str, value: Number, status: int | None = ...) -> bool: ...
def int32_test_all_vector(ivars: Memory, cmp: int | str, values: Values,
                          status: int | None = ...) -> bool: ...
def int32_test_any(ivars: Memory, cmp: int | str, value: Number, status: int | None = ...) -> int | None: ...
def int32_test_any_vector(ivars: Memory, cmp: int | str, values: Values,
                          status: int | None = ...) -> int | None: ...
def int32_test_some(ivars: Memory, cmp: int | str, value: Number, status: int | None = ...) -> list[int]: ...
def int32_test_some_vector(ivars: Memory, cmp: int | str, values: Values,
                           status: int | None = ...) -> list[int]: ...
def int32_wait_until_all(ivars: Memory, cmp: int | str, value: Number, status: int | None = ...) -> None: ...
def int32_wait_until_all_vector(ivars: Memory, cmp: int | str, values: Values,
                                status: int | None = ...) -> None: ...
def int32_wait_until_any(ivars: Memory, cmp: int | str, value: Number,
                         status: int | None = ...) -> int | None: ...
def int32_wait_until_any_vector(ivars: Memory, cmp: int | str, values: Values,
                                status: int | None = ...) -> int | None: ...
def int32_wait_until_some(ivars: Memory, cmp: int | str, value: Number,
                          status: int | None = ...) -> list[int]: ...
def int32_wait_until_some_vector(ivars: Memory, cmp: int | str, values: Values,
                                 status: int | None = ...) -> list[int]: ...

char_alltoall = alltoall
char_alltoalls = alltoalls
char_broadcast = broadcast
char_collect = collect
char_fcollect = fcollect
char_g = g
char_gather = gather
char_get_nbi = get_nbi
char_iget = iget
char_iput = iput
char_max_reduce = max_reduce
char_min_reduce = min_reduce
char_p = p
char_prod_reduce = prod_reduce
char_put = put
char_put_nbi = put_nbi
char_put_signal = put_signal
char_put_signal_nbi = put_signal_nbi
char_scatter = scatter
char_sum_exscan = sum_exscan
char_sum_inscan = sum_inscan
char_sum_reduce = sum_reduce
complexd_prod_reduce = prod_reduce
complexd_sum_exscan = sum_exscan
complexd_sum_inscan = sum_inscan
complexd_sum_reduce = sum_reduce
complexf_prod_reduce = prod_reduce
complexf_sum_exscan = sum_exscan
complexf_sum_inscan = sum_inscan
complexf_sum_reduce = sum_reduce
double_alltoall = alltoall
double_alltoalls = alltoalls
double_atomic_fetch = atomic_fetch
double_atomic_fetch_nbi = atomic_fetch_nbi
double_atomic_set = atomic_set
double_atomic_swap = atomic_swap
double_atomic_swap_nbi = atomic_swap_nbi
double_broadcast = broadcast
double_collect = collect
double_fcollect = fcollect
double_g = g
double_gather = gather
double_get = char_get
double_get_nbi = get_nbi
double_iget = iget
double_iput = iput
double_max_reduce = max_reduce
double_min_reduce = min_reduce
double_p = p
double_prod_reduce = prod_reduce
double_put = put
double_put_nbi = put_nbi
double_put_signal = put_signal
double_put_signal_nbi = put_signal_nbi
double_scatter = scatter
double_scatter_add = scatter_add
double_sum_exscan = sum_exscan
double_sum_inscan = sum_inscan
double_sum_reduce = sum_reduce
float_alltoall = alltoall
float_alltoalls = alltoalls
float_atomic_fetch = atomic_fetch
float_atomic_fetch_nbi = atomic_fetch_nbi
float_atomic_set = atomic_set
float_atomic_swap = atomic_swap
float_atomic_swap_nbi = atomic_swap_nbi
float_broadcast = broadcast
float_collect = collect
float_fcollect = fcollect
float_g = g
float_gather = gather
float_get = char_get
float_get_nbi = get_nbi
float_iget = iget
float_iput = iput
float_max_reduce = max_reduce
float_min_reduce = min_reduce
float_p = p
float_prod_reduce = prod_reduce
float_put = put
float_put_nbi = put_nbi
float_put_signal = put_signal
float_put_signal_nbi = put_signal_nbi
float_scatter = scatter
float_scatter_add = scatter_add
float_sum_exscan = sum_exscan
float_sum_inscan = sum_inscan
float_sum_reduce = sum_reduce
int16_alltoall = alltoall
int16_alltoalls = alltoalls
int16_and_reduce = and_reduce
int16_broadcast = broadcast
int16_collect = collect
int16_fcollect = fcollect
int16_g = g
int16_gather = gather
int16_get = char_get
int16_get_nbi = get_nbi
int16_iget = iget
int16_iput = iput
int16_max_reduce = max_reduce
int16_min_reduce = min_reduce
int16_or_reduce = or_reduce
int16_p = p
int16_prod_reduce = prod_reduce
int16_put = put
int16_put_nbi = put_nbi
int16_put_signal = put_signal
int16_put_signal_nbi = put_signal_nbi
int16_scatter = scatter
int16_sum_exscan = sum_exscan
int16_sum_inscan = sum_inscan
int16_sum_reduce = sum_reduce
int16_xor_reduce = xor_reduce
int32_alltoall = alltoall
int32_alltoalls = alltoalls
int32_and_reduce = and_reduce
int32_atomic_add = atomic_add
int32_atomic_and = atomic_and
int32_atomic_compare_swap = atomic_compare_swap
int32_atomic_compare_swap_nbi = atomic_compare_swap_nbi
int32_atomic_fetch = atomic_fetch
int32_atomic_fetch_add = atomic_fetch_add
int32_atomic_fetch_add_nbi = atomic_fetch_add_nbi
int32_atomic_fetch_and = atomic_fetch_and
int32_atomic_fetch_and_nbi = atomic_fetch_and_nbi
int32_atomic_fetch_inc = atomic_fetch_inc
int32_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
int32_atomic_fetch_nbi = atomic_fetch_nbi
int32_atomic_fetch_or = atomic_fetch_or
int32_atomic_fetch_or_nbi = atomic_fetch_or_nbi
int32_atomic_fetch_xor = atomic_fetch_xor
int32_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
int32_atomic_inc = atomic_inc
int32_atomic_or = atomic_or
int32_atomic_set = atomic_set
int32_atomic_swap = atomic_swap
int32_atomic_swap_nbi = atomic_swap_nbi
int32_atomic_xor = atomic_xor
int32_broadcast = broadcast
int32_collect = collect
int32_fcollect = fcollect
int32_g = g
int32_gather = gather
int32_get = char_get
int32_get_nbi = get_nbi
int32_iget = iget
int32_iput = iput
int32_max_reduce = max_reduce
int32_min_reduce = min_reduce
int32_or_reduce = or_reduce
int32_p = p
int32_prod_reduce = prod_reduce
int32_put = put
int32_put_nbi = put_nbi
int32_put_signal = put_signal
int32_put_signal_nbi = put_signal_nbi
int32_scatter = scatter
int32_scatter_add = scatter_add
int32_sum_exscan = sum_exscan
int32_sum_inscan = sum_inscan
int32_sum_reduce = sum_reduce
int32_test = test
int32_wait_until = wait_until
int32_xor_reduce = xor_reduce
int64_alltoall = alltoall
int64_alltoalls = alltoalls
int64_and_reduce = and_reduce
int64_atomic_add = atomic_add
int64_atomic_and = atomic_and
int64_atomic_compare_swap = atomic_compare_swap
int64_atomic_compare_swap_nbi = atomic_compare_swap_nbi
int64_atomic_fetch = atomic_fetch
int64_atomic_fetch_add = atomic_fetch_add
int64_atomic_fetch_add_nbi = atomic_fetch_add_nbi
int64_atomic_fetch_and = atomic_fetch_and
int64_atomic_fetch_and_nbi = atomic_fetch_and_nbi
int64_atomic_fetch_inc = atomic_fetch_inc
int64_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
int64_atomic_fetch_nbi = atomic_fetch_nbi
int64_atomic_fetch_or = atomic_fetch_or
int64_atomic_fetch_or_nbi = atomic_fetch_or_nbi
int64_atomic_fetch_xor = atomic_fetch_xor
int64_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
int64_atomic_inc = atomic_inc
int64_atomic_or = atomic_or
int64_atomic_set = atomic_set
int64_atomic_swap = atomic_swap
int64_atomic_swap_nbi = atomic_swap_nbi
int64_atomic_xor = atomic_xor
int64_broadcast = broadcast
int64_collect = collect
int64_fcollect = fcollect
int64_g = g
int64_gather = gather
int64_get = char_get
int64_get_nbi = get_nbi
int64_iget = iget
int64_iput = iput
int64_max_reduce = max_reduce
int64_min_reduce = min_reduce
int64_or_reduce = or_reduce
int64_p = p
int64_prod_reduce = prod_reduce
int64_put = put
int64_put_nbi = put_nbi
int64_put_signal = put_signal
int64_put_signal_nbi = put_signal_nbi
int64_scatter = scatter
int64_scatter_add = scatter_add
int64_sum_exscan = sum_exscan
int64_sum_inscan = sum_inscan
int64_sum_reduce = sum_reduce
int64_test = test
int64_test_all = int32_test_all
int64_test_all_vector = int32_test_all_vector
int64_test_any = int32_test_any
int64_test_any_vector = int32_test_any_vector
int64_test_some = int32_test_some
int64_test_some_vector = int32_test_some_vector
int64_wait_until = wait_until
int64_wait_until_all = int32_wait_until_all
int64_wait_until_all_vector = int32_wait_until_all_vector
int64_wait_until_any = int32_wait_until_any
int64_wait_until_any_vector = int32_wait_until_any_vector
int64_wait_until_some = int32_wait_until_some
int64_wait_until_some_vector = int32_wait_until_some_vector
int64_xor_reduce = xor_reduce
int8_alltoall = alltoall
int8_alltoalls = alltoalls
int8_and_reduce = and_reduce
int8_broadcast = broadcast
int8_collect = collect
int8_fcollect = fcollect
int8_g = g
int8_gather = gather
int8_get = char_get
int8_get_nbi = get_nbi
int8_iget = iget
int8_iput = iput
int8_max_reduce = max_reduce
int8_min_reduce = min_reduce
int8_or_reduce = or_reduce
int8_p = p
int8_prod_reduce = prod_reduce
int8_put = put
int8_put_nbi = put_nbi
int8_put_signal = put_signal
int8_put_signal_nbi = put_signal_nbi
int8_scatter = scatter
int8_sum_exscan = sum_exscan
int8_sum_inscan = sum_inscan
int8_sum_reduce = sum_reduce
int8_xor_reduce = xor_reduce
int_alltoall = alltoall
int_alltoalls = alltoalls
int_and_reduce = and_reduce
int_atomic_add = atomic_add
int_atomic_compare_swap = atomic_compare_swap
int_atomic_compare_swap_nbi = atomic_compare_swap_nbi
int_atomic_fetch = atomic_fetch
int_atomic_fetch_add = atomic_fetch_add
int_atomic_fetch_add_nbi = atomic_fetch_add_nbi
int_atomic_fetch_inc = atomic_fetch_inc
int_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
int_atomic_fetch_nbi = atomic_fetch_nbi
int_atomic_inc = atomic_inc
int_atomic_set = atomic_set
int_atomic_swap = atomic_swap
int_atomic_swap_nbi = atomic_swap_nbi
int_broadcast = broadcast
int_collect = collect
int_fcollect = fcollect
int_g = g
int_gather = gather
int_get = char_get
int_get_nbi = get_nbi
int_iget = iget
int_iput = iput
int_max_reduce = max_reduce
int_min_reduce = min_reduce
int_or_reduce = or_reduce
int_p = p
int_prod_reduce = prod_reduce
int_put = put
int_put_nbi = put_nbi
int_put_signal = put_signal
int_put_signal_nbi = put_signal_nbi
int_scatter = scatter
int_scatter_add = scatter_add
int_sum_exscan = sum_exscan
int_sum_inscan = sum_inscan
int_sum_reduce = sum_reduce
int_test = test
int_test_all = int32_test_all
int_test_all_vector = int32_test_all_vector
int_test_any = int32_test_any
int_test_any_vector = int32_test_any_vector
int_test_some = int32_test_some
int_test_some_vector = int32_test_some_vector
int_wait_until = wait_until
int_wait_until_all = int32_wait_until_all
int_wait_until_all_vector = int32_wait_until_all_vector
int_wait_until_any = int32_wait_until_any
int_wait_until_any_vector = int32_wait_until_any_vector
int_wait_until_some = int32_wait_until_some
int_wait_until_some_vector = int32_wait_until_some_vector
int_xor_reduce = xor_reduce
long_alltoall = alltoall
long_alltoalls = alltoalls
long_and_reduce = and_reduce
long_atomic_add = atomic_add
long_atomic_compare_swap = atomic_compare_swap
long_atomic_compare_swap_nbi = atomic_compare_swap_nbi
long_atomic_fetch = atomic_fetch
long_atomic_fetch_add = atomic_fetch_add
long_atomic_fetch_add_nbi = atomic_fetch_add_nbi
long_atomic_fetch_inc = atomic_fetch_inc
long_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
long_atomic_fetch_nbi = atomic_fetch_nbi
long_atomic_inc = atomic_inc
long_atomic_set = atomic_set
long_atomic_swap = atomic_swap
long_atomic_swap_nbi = atomic_swap_nbi
long_broadcast = broadcast
long_collect = collect
long_fcollect = fcollect
long_g = g
long_gather = gather
long_get = char_get
long_get_nbi = get_nbi
long_iget = iget
long_iput = iput
long_max_reduce = max_reduce
long_min_reduce = min_reduce
long_or_reduce = or_reduce
long_p = p
long_prod_reduce = prod_reduce
long_put = put
long_put_nbi = put_nbi
long_put_signal = put_signal
long_put_signal_nbi = put_signal_nbi
long_scatter = scatter
long_scatter_add = scatter_add
long_sum_exscan = sum_exscan
long_sum_inscan = sum_inscan
long_sum_reduce = sum_reduce
long_test = test
long_test_all = int32_test_all
long_test_all_vector = int32_test_all_vector
long_test_any = int32_test_any
long_test_any_vector = int32_test_any_vector
long_test_some = int32_test_some
long_test_some_vector = int32_test_some_vector
long_wait_until = wait_until
long_wait_until_all = int32_wait_until_all
long_wait_until_all_vector = int32_wait_until_all_vector
long_wait_until_any = int32_wait_until_any
long_wait_until_any_vector = int32_wait_until_any_vector
long_wait_until_some = int32_wait_until_some
long_wait_until_some_vector = int32_wait_until_some_vector
long_xor_reduce = xor_reduce
longdouble_alltoall = alltoall
longdouble_alltoalls = alltoalls
longdouble_broadcast = broadcast
longdouble_collect = collect
longdouble_fcollect = fcollect
longdouble_g = g
longdouble_gather = gather
longdouble_get = char_get
longdouble_get_nbi = get_nbi
longdouble_iget = iget
longdouble_iput = iput
longdouble_max_reduce = max_reduce
longdouble_min_reduce = min_reduce
longdouble_p = p
longdouble_prod_reduce = prod_reduce
longdouble_put = put
longdouble_put_nbi = put_nbi
longdouble_put_signal = put_signal
longdouble_put_signal_nbi = put_signal_nbi
longdouble_scatter = scatter
longdouble_sum_exscan = sum_exscan
longdouble_sum_inscan = sum_inscan
longdouble_sum_reduce = sum_reduce
longlong_alltoall = alltoall
longlong_alltoalls = alltoalls
longlong_and_reduce = and_reduce
longlong_atomic_add = atomic_add
longlong_atomic_compare_swap = atomic_compare_swap
longlong_atomic_compare_swap_nbi = atomic_compare_swap_nbi
longlong_atomic_fetch = atomic_fetch
longlong_atomic_fetch_add = atomic_fetch_add
longlong_atomic_fetch_add_nbi = atomic_fetch_add_nbi
longlong_atomic_fetch_inc = atomic_fetch_inc
longlong_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
longlong_atomic_fetch_nbi = atomic_fetch_nbi
longlong_atomic_inc = atomic_inc
longlong_atomic_set = atomic_set
longlong_atomic_swap = atomic_swap
longlong_atomic_swap_nbi = atomic_swap_nbi
longlong_broadcast = broadcast
longlong_collect = collect
longlong_fcollect = fcollect
longlong_g = g
longlong_gather = gather
longlong_get = char_get
longlong_get_nbi = get_nbi
longlong_iget = iget
longlong_iput = iput
longlong_max_reduce = max_reduce
longlong_min_reduce = min_reduce
longlong_or_reduce = or_reduce
longlong_p = p
longlong_prod_reduce = prod_reduce
longlong_put = put
longlong_put_nbi = put_nbi
longlong_put_signal = put_signal
longlong_put_signal_nbi = put_signal_nbi
longlong_scatter = scatter
longlong_scatter_add = scatter_add
longlong_sum_exscan = sum_exscan
longlong_sum_inscan = sum_inscan
longlong_sum_reduce = sum_reduce
longlong_test = test
longlong_test_all = int32_test_all
longlong_test_all_vector = int32_test_all_vector
longlong_test_any = int32_test_any
longlong_test_any_vector = int32_test_any_vector
longlong_test_some = int32_test_some
longlong_test_some_vector = int32_test_some_vector
longlong_wait_until = wait_until
longlong_wait_until_all = int32_wait_until_all
longlong_wait_until_all_vector = int32_wait_until_all_vector
longlong_wait_until_any = int32_wait_until_any
longlong_wait_until_any_vector = int32_wait_until_any_vector
longlong_wait_until_some = int32_wait_until_some
longlong_wait_until_some_vector = int32_wait_until_some_vector
longlong_xor_reduce = xor_reduce
ptrdiff_alltoall = alltoall
ptrdiff_alltoalls = alltoalls
ptrdiff_atomic_add = atomic_add
ptrdiff_atomic_compare_swap = atomic_compare_swap
ptrdiff_atomic_compare_swap_nbi = atomic_compare_swap_nbi
ptrdiff_atomic_fetch = atomic_fetch
ptrdiff_atomic_fetch_add = atomic_fetch_add
ptrdiff_atomic_fetch_add_nbi = atomic_fetch_add_nbi
ptrdiff_atomic_fetch_inc = atomic_fetch_inc
ptrdiff_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
ptrdiff_atomic_fetch_nbi = atomic_fetch_nbi
ptrdiff_atomic_inc = atomic_inc
ptrdiff_atomic_set = atomic_set
ptrdiff_atomic_swap = atomic_swap
ptrdiff_atomic_swap_nbi = atomic_swap_nbi
ptrdiff_broadcast = broadcast
ptrdiff_collect = collect
ptrdiff_fcollect = fcollect
ptrdiff_g = g
ptrdiff_gather = gather
ptrdiff_get = char_get
ptrdiff_get_nbi = get_nbi
ptrdiff_iget = iget
ptrdiff_iput = iput
ptrdiff_max_reduce = max_reduce
ptrdiff_min_reduce = min_reduce
ptrdiff_p = p
ptrdiff_prod_reduce = prod_reduce
ptrdiff_put = put
ptrdiff_put_nbi = put_nbi
ptrdiff_put_signal = put_signal
ptrdiff_put_signal_nbi = put_signal_nbi
ptrdiff_scatter = scatter
ptrdiff_scatter_add = scatter_add
ptrdiff_sum_exscan = sum_exscan
ptrdiff_sum_inscan = sum_inscan
ptrdiff_sum_reduce = sum_reduce
ptrdiff_test = test
ptrdiff_test_all = int32_test_all
ptrdiff_test_all_vector = int32_test_all_vector
ptrdiff_test_any = int32_test_any
ptrdiff_test_any_vector = int32_test_any_vector
ptrdiff_test_some = int32_test_some
ptrdiff_test_some_vector = int32_test_some_vector
ptrdiff_wait_until = wait_until
ptrdiff_wait_until_all = int32_wait_until_all
ptrdiff_wait_until_all_vector = int32_wait_until_all_vector
ptrdiff_wait_until_any = int32_wait_until_any
ptrdiff_wait_until_any_vector = int32_wait_until_any_vector
ptrdiff_wait_until_some = int32_wait_until_some
ptrdiff_wait_until_some_vector = int32_wait_until_some_vector
schar_alltoall = alltoall
schar_alltoalls = alltoalls
schar_broadcast = broadcast
schar_collect = collect
schar_fcollect = fcollect
schar_g = g
schar_gather = gather
schar_get = char_get
schar_get_nbi = get_nbi
schar_iget = iget
schar_iput = iput
schar_max_reduce = max_reduce
schar_min_reduce = min_reduce
schar_p = p
schar_prod_reduce = prod_reduce
schar_put = put
schar_put_nbi = put_nbi
schar_put_signal = put_signal
schar_put_signal_nbi = put_signal_nbi
schar_scatter = scatter
schar_sum_exscan = sum_exscan
schar_sum_inscan = sum_inscan
schar_sum_reduce = sum_reduce
short_alltoall = alltoall
short_alltoalls = alltoalls
short_and_reduce = and_reduce
short_broadcast = broadcast
short_collect = collect
short_fcollect = fcollect
short_g = g
short_gather = gather
short_get = char_get
short_get_nbi = get_nbi
short_iget = iget
short_iput = iput
short_max_reduce = max_reduce
short_min_reduce = min_reduce
short_or_reduce = or_reduce
short_p = p
short_prod_reduce = prod_reduce
short_put = put
short_put_nbi = put_nbi
short_put_signal = put_signal
short_put_signal_nbi = put_signal_nbi
short_scatter = scatter
short_sum_exscan = sum_exscan
short_sum_inscan = sum_inscan
short_sum_reduce = sum_reduce
short_test = test
short_test_all = int32_test_all
short_test_all_vector = int32_test_all_vector
short_test_any = int32_test_any
short_test_any_vector = int32_test_any_vector
short_test_some = int32_test_some
short_test_some_vector = int32_test_some_vector
short_wait_until = wait_until
short_wait_until_all = int32_wait_until_all
short_wait_until_all_vector = int32_wait_until_all_vector
short_wait_until_any = int32_wait_until_any
short_wait_until_any_vector = int32_wait_until_any_vector
short_wait_until_some = int32_wait_until_some
short_wait_until_some_vector = int32_wait_until_some_vector
short_xor_reduce = xor_reduce
size_alltoall = alltoall
size_alltoalls = alltoalls
size_and_reduce = and_reduce
size_atomic_add = atomic_add
size_atomic_compare_swap = atomic_compare_swap
size_atomic_compare_swap_nbi = atomic_compare_swap_nbi
size_atomic_fetch = atomic_fetch
size_atomic_fetch_add = atomic_fetch_add
size_atomic_fetch_add_nbi = atomic_fetch_add_nbi
size_atomic_fetch_inc = atomic_fetch_inc
size_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
size_atomic_fetch_nbi = atomic_fetch_nbi
size_atomic_inc = atomic_inc
size_atomic_set = atomic_set
size_atomic_swap = atomic_swap
size_atomic_swap_nbi = atomic_swap_nbi
size_broadcast = broadcast
size_collect = collect
size_fcollect = fcollect
size_g = g
size_gather = gather
size_get = char_get
size_get_nbi = get_nbi
size_iget = iget
size_iput = iput
size_max_reduce = max_reduce
size_min_reduce = min_reduce
size_or_reduce = or_reduce
size_p = p
size_prod_reduce = prod_reduce
size_put = put
size_put_nbi = put_nbi
size_put_signal = put_signal
size_put_signal_nbi = put_signal_nbi
size_scatter = scatter
size_scatter_add = scatter_add
size_sum_exscan = sum_exscan
size_sum_inscan = sum_inscan
size_sum_reduce = sum_reduce
size_test = test
size_test_all = int32_test_all
size_test_all_vector = int32_test_all_vector
size_test_any = int32_test_any
size_test_any_vector = int32_test_any_vector
size_test_some = int32_test_some
size_test_some_vector = int32_test_some_vector
size_wait_until = wait_until
size_wait_until_all = int32_wait_until_all
size_wait_until_all_vector = int32_wait_until_all_vector
size_wait_until_any = int32_wait_until_any
size_wait_until_any_vector = int32_wait_until_any_vector
size_wait_until_some = int32_wait_until_some
size_wait_until_some_vector = int32_wait_until_some_vector
size_xor_reduce = xor_reduce
uchar_alltoall = alltoall
uchar_alltoalls = alltoalls
uchar_and_reduce = and_reduce
uchar_broadcast = broadcast
uchar_collect = collect
uchar_fcollect = fcollect
uchar_g = g
uchar_gather = gather
uchar_get = char_get
uchar_get_nbi = get_nbi
uchar_iget = iget
uchar_iput = iput
uchar_max_reduce = max_reduce
uchar_min_reduce = min_reduce
uchar_or_reduce = or_reduce
uchar_p = p
uchar_prod_reduce = prod_reduce
uchar_put = put
uchar_put_nbi = put_nbi
uchar_put_signal = put_signal
uchar_put_signal_nbi = put_signal_nbi
uchar_scatter = scatter
uchar_sum_exscan = sum_exscan
uchar_sum_inscan = sum_inscan
uchar_sum_reduce = sum_reduce
uchar_xor_reduce = xor_reduce
uint16_alltoall = alltoall
uint16_alltoalls = alltoalls
uint16_and_reduce = and_reduce
uint16_broadcast = broadcast
uint16_collect = collect
uint16_fcollect = fcollect
uint16_g = g
uint16_gather = gather
uint16_get = char_get
uint16_get_nbi = get_nbi
uint16_iget = iget
uint16_iput = iput
uint16_max_reduce = max_reduce
uint16_min_reduce = min_reduce
uint16_or_reduce = or_reduce
uint16_p = p
uint16_prod_reduce = prod_reduce
uint16_put = put
uint16_put_nbi = put_nbi
uint16_put_signal = put_signal
uint16_put_signal_nbi = put_signal_nbi
uint16_scatter = scatter
uint16_sum_exscan = sum_exscan
uint16_sum_inscan = sum_inscan
uint16_sum_reduce = sum_reduce
uint16_xor_reduce = xor_reduce
uint32_alltoall = alltoall
uint32_alltoalls = alltoalls
uint32_and_reduce = and_reduce
uint32_atomic_add = atomic_add
uint32_atomic_and = atomic_and
uint32_atomic_compare_swap = atomic_compare_swap
uint32_atomic_compare_swap_nbi = atomic_compare_swap_nbi
uint32_atomic_fetch = atomic_fetch
uint32_atomic_fetch_add = atomic_fetch_add
uint32_atomic_fetch_add_nbi = atomic_fetch_add_nbi
uint32_atomic_fetch_and = atomic_fetch_and
uint32_atomic_fetch_and_nbi = atomic_fetch_and_nbi
uint32_atomic_fetch_inc = atomic_fetch_inc
uint32_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
uint32_atomic_fetch_nbi = atomic_fetch_nbi
uint32_atomic_fetch_or = atomic_fetch_or
uint32_atomic_fetch_or_nbi = atomic_fetch_or_nbi
uint32_atomic_fetch_xor = atomic_fetch_xor
uint32_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
uint32_atomic_inc = atomic_inc
uint32_atomic_or = atomic_or
uint32_atomic_set = atomic_set
uint32_atomic_swap = atomic_swap
uint32_atomic_swap_nbi = atomic_swap_nbi
uint32_atomic_xor = atomic_xor
uint32_broadcast = broadcast
uint32_collect = collect
uint32_fcollect = fcollect
uint32_g = g
uint32_gather = gather
uint32_get = char_get
uint32_get_nbi = get_nbi
uint32_iget = iget
uint32_iput = iput
uint32_max_reduce = max_reduce
uint32_min_reduce = min_reduce
uint32_or_reduce = or_reduce
uint32_p = p
uint32_prod_reduce = prod_reduce
uint32_put = put
uint32_put_nbi = put_nbi
uint32_put_signal = put_signal
uint32_put_signal_nbi = put_signal_nbi
uint32_scatter = scatter
uint32_scatter_add = scatter_add
uint32_sum_exscan = sum_exscan
uint32_sum_inscan = sum_inscan
uint32_sum_reduce = sum_reduce
uint32_test = test
uint32_test_all = int32_test_all
uint32_test_all_vector = int32_test_all_vector
uint32_test_any = int32_test_any
uint32_test_any_vector = int32_test_any_vector
uint32_test_some = int32_test_some
uint32_test_some_vector = int32_test_some_vector
uint32_wait_until = wait_until
uint32_wait_until_all = int32_wait_until_all
uint32_wait_until_all_vector = int32_wait_until_all_vector
uint32_wait_until_any = int32_wait_until_any
uint32_wait_until_any_vector = int32_wait_until_any_vector
uint32_wait_until_some = int32_wait_until_some
uint32_wait_until_some_vector = int32_wait_until_some_vector
uint32_xor_reduce = xor_reduce
uint64_alltoall = alltoall
uint64_alltoalls = alltoalls
uint64_and_reduce = and_reduce
uint64_atomic_add = atomic_add
uint64_atomic_and = atomic_and
uint64_atomic_compare_swap = atomic_compare_swap
uint64_atomic_compare_swap_nbi = atomic_compare_swap_nbi
uint64_atomic_fetch = atomic_fetch
uint64_atomic_fetch_add = atomic_fetch_add
uint64_atomic_fetch_add_nbi = atomic_fetch_add_nbi
uint64_atomic_fetch_and = atomic_fetch_and
uint64_atomic_fetch_and_nbi = atomic_fetch_and_nbi
uint64_atomic_fetch_inc = atomic_fetch_inc
uint64_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
uint64_atomic_fetch_nbi = atomic_fetch_nbi
uint64_atomic_fetch_or = atomic_fetch_or
uint64_atomic_fetch_or_nbi = atomic_fetch_or_nbi
uint64_atomic_fetch_xor = atomic_fetch_xor
uint64_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
uint64_atomic_inc = atomic_inc
uint64_atomic_or = atomic_or
uint64_atomic_set = atomic_set
uint64_atomic_swap = atomic_swap
uint64_atomic_swap_nbi = atomic_swap_nbi
uint64_atomic_xor = atomic_xor
uint64_broadcast = broadcast
uint64_collect = collect
uint64_fcollect = fcollect
uint64_g = g
uint64_gather = gather
uint64_get = char_get
uint64_get_nbi = get_nbi
uint64_iget = iget
uint64_iput = iput
uint64_max_reduce = max_reduce
uint64_min_reduce = min_reduce
uint64_or_reduce = or_reduce
uint64_p = p
uint64_prod_reduce = prod_reduce
uint64_put = put
uint64_put_nbi = put_nbi
uint64_put_signal = put_signal
uint64_put_signal_nbi = put_signal_nbi
uint64_scatter = scatter
uint64_scatter_add = scatter_add
uint64_sum_exscan = sum_exscan
uint64_sum_inscan = sum_inscan
uint64_sum_reduce = sum_reduce
uint64_test = test
uint64_test_all = int32_test_all
uint64_test_all_vector = int32_test_all_vector
uint64_test_any = int32_test_any
uint64_test_any_vector = int32_test_any_vector
uint64_test_some = int32_test_some
uint64_test_some_vector = int32_test_some_vector
uint64_wait_until = wait_until
uint64_wait_until_all = int32_wait_until_all
uint64_wait_until_all_vector = int32_wait_until_all_vector
uint64_wait_until_any = int32_wait_until_any
uint64_wait_until_any_vector = int32_wait_until_any_vector
uint64_wait_until_some = int32_wait_until_some
uint64_wait_until_some_vector = int32_wait_until_some_vector
uint64_xor_reduce = xor_reduce
uint8_alltoall = alltoall
uint8_alltoalls = alltoalls
uint8_and_reduce = and_reduce
uint8_broadcast = broadcast
uint8_collect = collect
uint8_fcollect = fcollect
uint8_g = g
uint8_gather = gather
uint8_get = char_get
uint8_get_nbi = get_nbi
uint8_iget = iget
uint8_iput = iput
uint8_max_reduce = max_reduce
uint8_min_reduce = min_reduce
uint8_or_reduce = or_reduce
uint8_p = p
uint8_prod_reduce = prod_reduce
uint8_put = put
uint8_put_nbi = put_nbi
uint8_put_signal = put_signal
uint8_put_signal_nbi = put_signal_nbi
uint8_scatter = scatter
uint8_sum_exscan = sum_exscan
uint8_sum_inscan = sum_inscan
uint8_sum_reduce = sum_reduce
uint8_xor_reduce = xor_reduce
uint_alltoall = alltoall
uint_alltoalls = alltoalls
uint_and_reduce = and_reduce
uint_atomic_add = atomic_add
uint_atomic_and = atomic_and
uint_atomic_compare_swap = atomic_compare_swap
uint_atomic_compare_swap_nbi = atomic_compare_swap_nbi
uint_atomic_fetch = atomic_fetch
uint_atomic_fetch_add = atomic_fetch_add
uint_atomic_fetch_add_nbi = atomic_fetch_add_nbi
uint_atomic_fetch_and = atomic_fetch_and
uint_atomic_fetch_and_nbi = atomic_fetch_and_nbi
uint_atomic_fetch_inc = atomic_fetch_inc
uint_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
uint_atomic_fetch_nbi = atomic_fetch_nbi
uint_atomic_fetch_or = atomic_fetch_or
uint_atomic_fetch_or_nbi = atomic_fetch_or_nbi
uint_atomic_fetch_xor = atomic_fetch_xor
uint_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
uint_atomic_inc = atomic_inc
uint_atomic_or = atomic_or
uint_atomic_set = atomic_set
uint_atomic_swap = atomic_swap
uint_atomic_swap_nbi = atomic_swap_nbi
uint_atomic_xor = atomic_xor
uint_broadcast = broadcast
uint_collect = collect
uint_fcollect = fcollect
uint_g = g
uint_gather = gather
uint_get = char_get
uint_get_nbi = get_nbi
uint_iget = iget
uint_iput = iput
uint_max_reduce = max_reduce
uint_min_reduce = min_reduce
uint_or_reduce = or_reduce
uint_p = p
uint_prod_reduce = prod_reduce
uint_put = put
uint_put_nbi = put_nbi
uint_put_signal = put_signal
uint_put_signal_nbi = put_signal_nbi
uint_scatter = scatter
uint_scatter_add = scatter_add
uint_sum_exscan = sum_exscan
uint_sum_inscan = sum_inscan
uint_sum_reduce = sum_reduce
uint_test = test
uint_test_all = int32_test_all
uint_test_all_vector = int32_test_all_vector
uint_test_any = int32_test_any
uint_test_any_vector = int32_test_any_vector
uint_test_some = int32_test_some
uint_test_some_vector = int32_test_some_vector
uint_wait_until = wait_until
uint_wait_until_all = int32_wait_until_all
uint_wait_until_all_vector = int32_wait_until_all_vector
uint_wait_until_any = int32_wait_until_any
uint_wait_until_any_vector = int32_wait_until_any_vector
uint_wait_until_some = int32_wait_until_some
uint_wait_until_some_vector = int32_wait_until_some_vector
uint_xor_reduce = xor_reduce
ulong_alltoall = alltoall
ulong_alltoalls = alltoalls
ulong_and_reduce = and_reduce
ulong_atomic_add = atomic_add
ulong_atomic_and = atomic_and
ulong_atomic_compare_swap = atomic_compare_swap
ulong_atomic_compare_swap_nbi = atomic_compare_swap_nbi
ulong_atomic_fetch = atomic_fetch
ulong_atomic_fetch_add = atomic_fetch_add
ulong_atomic_fetch_add_nbi = atomic_fetch_add_nbi
ulong_atomic_fetch_and = atomic_fetch_and
ulong_atomic_fetch_and_nbi = atomic_fetch_and_nbi
ulong_atomic_fetch_inc = atomic_fetch_inc
ulong_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
ulong_atomic_fetch_nbi = atomic_fetch_nbi
ulong_atomic_fetch_or = atomic_fetch_or
ulong_atomic_fetch_or_nbi = atomic_fetch_or_nbi
ulong_atomic_fetch_xor = atomic_fetch_xor
ulong_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
ulong_atomic_inc = atomic_inc
ulong_atomic_or = atomic_or
ulong_atomic_set = atomic_set
ulong_atomic_swap = atomic_swap
ulong_atomic_swap_nbi = atomic_swap_nbi
ulong_atomic_xor = atomic_xor
ulong_broadcast = broadcast
ulong_collect = collect
ulong_fcollect = fcollect
ulong_g = g
ulong_gather = gather
ulong_get = char_get
ulong_get_nbi = get_nbi
ulong_iget = iget
ulong_iput = iput
ulong_max_reduce = max_reduce
ulong_min_reduce = min_reduce
ulong_or_reduce = or_reduce
ulong_p = p
ulong_prod_reduce = prod_reduce
ulong_put = put
ulong_put_nbi = put_nbi
ulong_put_signal = put_signal
ulong_put_signal_nbi = put_signal_nbi
ulong_scatter = scatter
ulong_scatter_add = scatter_add
ulong_sum_exscan = sum_exscan
ulong_sum_inscan = sum_inscan
ulong_sum_reduce = sum_reduce
ulong_test = test
ulong_test_all = int32_test_all
ulong_test_all_vector = int32_test_all_vector
ulong_test_any = int32_test_any
ulong_test_any_vector = int32_test_any_vector
ulong_test_some = int32_test_some
ulong_test_some_vector = int32_test_some_vector
ulong_wait_until = wait_until
ulong_wait_until_all = int32_wait_until_all
ulong_wait_until_all_vector = int32_wait_until_all_vector
ulong_wait_until_any = int32_wait_until_any
ulong_wait_until_any_vector = int32_wait_until_any_vector
ulong_wait_until_some = int32_wait_until_some
ulong_wait_until_some_vector = int32_wait_until_some_vector
ulong_xor_reduce = xor_reduce
ulonglong_alltoall = alltoall
ulonglong_alltoalls = alltoalls
ulonglong_and_reduce = and_reduce
ulonglong_atomic_add = atomic_add
ulonglong_atomic_and = atomic_and
ulonglong_atomic_compare_swap = atomic_compare_swap
ulonglong_atomic_compare_swap_nbi = atomic_compare_swap_nbi
ulonglong_atomic_fetch = atomic_fetch
ulonglong_atomic_fetch_add = atomic_fetch_add
ulonglong_atomic_fetch_add_nbi = atomic_fetch_add_nbi
ulonglong_atomic_fetch_and = atomic_fetch_and
ulonglong_atomic_fetch_and_nbi = atomic_fetch_and_nbi
ulonglong_atomic_fetch_inc = atomic_fetch_inc
ulonglong_atomic_fetch_inc_nbi = atomic_fetch_inc_nbi
ulonglong_atomic_fetch_nbi = atomic_fetch_nbi
ulonglong_atomic_fetch_or = atomic_fetch_or
ulonglong_atomic_fetch_or_nbi = atomic_fetch_or_nbi
ulonglong_atomic_fetch_xor = atomic_fetch_xor
ulonglong_atomic_fetch_xor_nbi = atomic_fetch_xor_nbi
ulonglong_atomic_inc = atomic_inc
ulonglong_atomic_or = atomic_or
ulonglong_atomic_set = atomic_set
ulonglong_atomic_swap = atomic_swap
ulonglong_atomic_swap_nbi = atomic_swap_nbi
ulonglong_atomic_xor = atomic_xor
ulonglong_broadcast = broadcast
ulonglong_collect = collect
ulonglong_fcollect = fcollect
ulonglong_g = g
ulonglong_gather = gather
ulonglong_get = char_get
ulonglong_get_nbi = get_nbi
ulonglong_iget = iget
ulonglong_iput = iput
ulonglong_max_reduce = max_reduce
ulonglong_min_reduce = min_reduce
ulonglong_or_reduce = or_reduce
ulonglong_p = p
ulonglong_prod_reduce = prod_reduce
ulonglong_put = put
ulonglong_put_nbi = put_nbi
ulonglong_put_signal = put_signal
ulonglong_put_signal_nbi = put_signal_nbi
ulonglong_scatter = scatter
ulonglong_scatter_add = scatter_add
ulonglong_sum_exscan = sum_exscan
ulonglong_sum_inscan = sum_inscan
ulonglong_sum_reduce = sum_reduce
ulonglong_test = test
ulonglong_test_all = int32_test_all
ulonglong_test_all_vector = int32_test_all_vector
ulonglong_test_any = int32_test_any
ulonglong_test_any_vector = int32_test_any_vector
ulonglong_test_some = int32_test_some
ulonglong_test_some_vector = int32_test_some_vector
ulonglong_wait_until = wait_until
ulonglong_wait_until_all = int32_wait_until_all
ulonglong_wait_until_all_vector = int32_wait_until_all_vector
ulonglong_wait_until_any = int32_wait_until_any
ulonglong_wait_until_any_vector = int32_wait_until_any_vector
ulonglong_wait_until_some = int32_wait_until_some
ulonglong_wait_until_some_vector = int32_wait_until_some_vector
ulonglong_xor_reduce = xor_reduce
ushort_alltoall = alltoall
ushort_alltoalls = alltoalls
ushort_and_reduce = and_reduce
ushort_broadcast = broadcast
ushort_collect = collect
ushort_fcollect = fcollect
ushort_g = g
ushort_gather = gather
ushort_get = char_get
ushort_get_nbi = get_nbi
ushort_iget = iget
ushort_iput = iput
ushort_max_reduce = max_reduce
ushort_min_reduce = min_reduce
ushort_or_reduce = or_reduce
ushort_p = p
ushort_prod_reduce = prod_reduce
ushort_put = put
ushort_put_nbi = put_nbi
ushort_put_signal = put_signal
ushort_put_signal_nbi = put_signal_nbi
ushort_scatter = scatter
ushort_sum_exscan = sum_exscan
ushort_sum_inscan = sum_inscan
ushort_sum_reduce = sum_reduce
ushort_test = test
ushort_test_all = int32_test_all
ushort_test_all_vector = int32_test_all_vector
ushort_test_any = int32_test_any
ushort_test_any_vector = int32_test_any_vector
ushort_test_some = int32_test_some
ushort_test_some_vector = int32_test_some_vector
ushort_wait_until = wait_until
ushort_wait_until_all = int32_wait_until_all
ushort_wait_until_all_vector = int32_wait_until_all_vector
ushort_wait_until_any = int32_wait_until_any
ushort_wait_until_any_vector = int32_wait_until_any_vector
ushort_wait_until_some = int32_wait_until_some
ushort_wait_until_some_vector = int32_wait_until_some_vector
ushort_xor_reduce = xor_reduce
