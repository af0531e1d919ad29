/* The C11 type-generic forms. The number of arguments tells the form with a context from the one without; the
 * type that dest (or source, ivar) points to selects the function. Arrays, pointers and const-qualified ones
 * all do. */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

/* One association: TYPE: <a>NAME<z>. The names are built by ## alone, so that no macro of the program gets at
 * them. */
#define SHMEM_ROW(TYPE, NAME, a, z) , TYPE : a##NAME##z

/* The function for *dest, called with all arguments. TYPES is a table of distinct types, x the prefix. */
#define SHMEM_BY_1ST(TYPES, x, z, dest, ...) _Generic (*(dest)TYPES(SHMEM_ROW, x, z))(dest, __VA_ARGS__)
#define SHMEM_BY_2ND(TYPES, x, z, first, dest, ...) \
    _Generic (*(dest)TYPES(SHMEM_ROW, x, z))(first, dest, __VA_ARGS__)
#define SHMEM_BY_CTX(TYPES, x, z, first, dest, ...) \
    _Generic (*(dest)TYPES(SHMEM_ROW, x##ctx_, z))(first, dest, __VA_ARGS__)

/* SHMEM_FORM_n(arguments): without a context n of them, with one n + 1. */
#define SHMEM_10TH(a, b, c, d, e, f, g, h, i, j, ...) j
#define SHMEM_FORM_2(...)                                                                                   \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BY_CTX, \
               SHMEM_BY_1ST, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_FORM_3(...)                                                                        \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BY_CTX, \
               SHMEM_BY_1ST, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_FORM_4(...)                                                                           \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BY_CTX, SHMEM_BY_1ST, \
               SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_FORM_5(...)                                                                           \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BY_CTX, SHMEM_BY_1ST, SHMEM_BAD, \
               SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_FORM_6(...)                                                                           \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BY_CTX, SHMEM_BY_1ST, SHMEM_BAD, SHMEM_BAD, \
               SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_FORM_7(...)                                                                           \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BY_CTX, SHMEM_BY_1ST, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, \
               SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD)
#define SHMEM_BAD(...) shmem_called_with_a_wrong_number_of_arguments

/* --- Remote memory access --- */
#define SHMEM_RMA SHMEM_DISTINCT_RMA_TYPES
#define shmem_put(...) SHMEM_FORM_4(__VA_ARGS__)(SHMEM_RMA, shmem_, _put, __VA_ARGS__)
#define shmem_p(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_RMA, shmem_, _p, __VA_ARGS__)
#define shmem_iput(...) SHMEM_FORM_6(__VA_ARGS__)(SHMEM_RMA, shmem_, _iput, __VA_ARGS__)
#define shmem_ibput(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmem_, _ibput, __VA_ARGS__)
#define shmem_get(...) SHMEM_FORM_4(__VA_ARGS__)(SHMEM_RMA, shmem_, _get, __VA_ARGS__)
#define shmem_g(...) SHMEM_FORM_2(__VA_ARGS__)(SHMEM_RMA, shmem_, _g, __VA_ARGS__)
#define shmem_iget(...) SHMEM_FORM_6(__VA_ARGS__)(SHMEM_RMA, shmem_, _iget, __VA_ARGS__)
#define shmem_ibget(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmem_, _ibget, __VA_ARGS__)
#define shmem_put_nbi(...) SHMEM_FORM_4(__VA_ARGS__)(SHMEM_RMA, shmem_, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHMEM_FORM_4(__VA_ARGS__)(SHMEM_RMA, shmem_, _get_nbi, __VA_ARGS__)

/* --- Atomic memory operations --- */
#define SHMEM_AMO SHMEM_DISTINCT_AMO_TYPES
#define SHMEM_EXT SHMEM_DISTINCT_AMO_EXTENDED_TYPES
#define SHMEM_BIT SHMEM_DISTINCT_AMO_BITWISE_TYPES
#define shmem_atomic_fetch(...) SHMEM_FORM_2(__VA_ARGS__)(SHMEM_EXT, shmem_, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_EXT, shmem_, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_EXT, shmem_, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) \
    SHMEM_FORM_3(__VA_ARGS__)(SHMEM_EXT, shmem_, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHMEM_FORM_4(__VA_ARGS__)(SHMEM_EXT, shmem_, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) \
    SHMEM_FORM_4(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) \
    SHMEM_FORM_2(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SHMEM_FORM_2(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) \
    SHMEM_FORM_3(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_add, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
    SHMEM_FORM_5(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) \
    SHMEM_FORM_3(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) \
    SHMEM_FORM_4(__VA_ARGS__)(SHMEM_AMO, shmem_, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) \
    SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) \
    SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SHMEM_FORM_3(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
    SHMEM_FORM_4(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
    SHMEM_FORM_4(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
    SHMEM_FORM_4(__VA_ARGS__)(SHMEM_BIT, shmem_, _atomic_fetch_xor_nbi, __VA_ARGS__)

/* Of before 1.4. */
#define SHMEM_OLD_AMO SHMEM_DISTINCT_OLD_AMO_TYPES
#define SHMEM_OLD_EXT SHMEM_DISTINCT_OLD_AMO_EXTENDED_TYPES
#define shmem_fetch(...) SHMEM_BY_1ST(SHMEM_OLD_EXT, shmem_, _fetch, __VA_ARGS__)
#define shmem_set(...) SHMEM_BY_1ST(SHMEM_OLD_EXT, shmem_, _set, __VA_ARGS__)
#define shmem_swap(...) SHMEM_BY_1ST(SHMEM_OLD_EXT, shmem_, _swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_BY_1ST(SHMEM_OLD_AMO, shmem_, _cswap, __VA_ARGS__)
#define shmem_finc(...) SHMEM_BY_1ST(SHMEM_OLD_AMO, shmem_, _finc, __VA_ARGS__)
#define shmem_inc(...) SHMEM_BY_1ST(SHMEM_OLD_AMO, shmem_, _inc, __VA_ARGS__)
#define shmem_fadd(...) SHMEM_BY_1ST(SHMEM_OLD_AMO, shmem_, _fadd, __VA_ARGS__)
#define shmem_add(...) SHMEM_BY_1ST(SHMEM_OLD_AMO, shmem_, _add, __VA_ARGS__)

/* --- Signaling operations: the name without context is also that of a function --- */
#define shmem_put_signal(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmem_, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_FORM_7(__VA_ARGS__)(SHMEM_RMA, shmem_, _put_signal_nbi, __VA_ARGS__)
#define SHMEM_3_OR_4(three, four, ...) \
    SHMEM_10TH(__VA_ARGS__, four, four, four, four, four, four, three, three, three, three)
#define shmem_signal_add(...) SHMEM_3_OR_4(shmem_signal_add, shmem_ctx_signal_add, __VA_ARGS__)(__VA_ARGS__)
#define shmem_signal_set(...) SHMEM_3_OR_4(shmem_signal_set, shmem_ctx_signal_set, __VA_ARGS__)(__VA_ARGS__)

/* --- Collectives --- */
#define SHMEM_RED_BIT SHMEM_DISTINCT_REDUCE_BITWISE_TYPES
#define SHMEM_RED_SUM SHMEM_DISTINCT_REDUCE_ARITHMETIC_TYPES
#define shmem_alltoall(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _alltoalls, __VA_ARGS__)
#define shmem_broadcast(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _broadcast, __VA_ARGS__)
#define shmem_collect(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _fcollect, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_BY_2ND(SHMEM_RED_BIT, shmem_, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHMEM_BY_2ND(SHMEM_RED_BIT, shmem_, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_BY_2ND(SHMEM_RED_BIT, shmem_, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHMEM_BY_2ND(SHMEM_RMA, shmem_, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHMEM_BY_2ND(SHMEM_RED_SUM, shmem_, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEM_BY_2ND(SHMEM_RED_SUM, shmem_, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) SHMEM_BY_2ND(SHMEM_RED_SUM, shmem_, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) SHMEM_BY_2ND(SHMEM_RED_SUM, shmem_, _sum_exscan, __VA_ARGS__)

/* shmem_sync(team), shmem_sync(pe) and shmem_sync(PE_start, logPE_stride, PE_size, pSync): first by the
 * number of arguments, then by type. */
#define SHMEM_SYNC_PE(TYPE, NAME, a, z) , TYPE : shmemx_sync_pe
#define SHMEM_SYNC_1(what)            \
    _Generic((what), shmem_team_t     \
             : shmem_team_sync, _Bool \
             : shmemx_sync_pe SHMEM_DISTINCT_INTEGER_TYPES(SHMEM_SYNC_PE, , ))(what)
#define SHMEM_SYNC_4(...) shmem_sync(__VA_ARGS__)
#define shmem_sync(...)                                                                                     \
    SHMEM_10TH(__VA_ARGS__, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_BAD, SHMEM_SYNC_4, SHMEM_BAD, \
               SHMEM_BAD, SHMEM_SYNC_1, SHMEM_BAD)                                                          \
    (__VA_ARGS__)

/* --- Point-to-point synchronisation --- */
#define SHMEM_WAIT SHMEM_DISTINCT_WAIT_TYPES
#define shmem_wait_until(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
    SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test, __VA_ARGS__)
#define shmem_test_all(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_BY_1ST(SHMEM_WAIT, shmem_, _test_some_vector, __VA_ARGS__)

#endif
