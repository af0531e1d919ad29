"""What each table is about. Tables that programs print and that are not listed here come last, under their own name."""


class Table:
    """x: bytes, PEs or word. limit: what the limit is, for the reader; limit_table: where its lines are, if elsewhere.
    ways: the series are ways to the same end, not all libraries have the same ones: their best are compared, too."""

    def __init__(self, title, text, x="bytes", limit="", limit_table=None, judged=True, ways=False):
        self.title, self.text, self.x, self.limit = title, text, x, limit
        self.limit_table, self.judged, self.ways = limit_table, judged, ways


COPIED = "a memcpy of as much by every PE at the same time"
BARE_OR_OWN = ("plain C at the addresses that shmem_ptr gives; for buckets, plain C by every PE in its own memory, with "
               "nothing to exchange")
RESULTS = "The size is that of one PE's result; a broadcast's root moves on each time. "

TABLES = {
    "p": Table(
        "p", "One element of 4 or 8 bytes written to a neighbour. MPI: MPI_Put and MPI_Win_flush_local.",
        limit="a bare store at the address that shmem_ptr gives"
    ),
    "g": Table(
        "g", "One element read from a neighbour. MPI: MPI_Get and MPI_Win_flush.",
        limit="a bare load at the address that shmem_ptr gives"
    ),
    "p and quiet": Table(
        "p and quiet", "The same, complete each time. MPI: MPI_Put and MPI_Win_flush.",
        limit="a store and a full fence"
    ),
    "put": Table(
        "put",
        "A block written to a neighbour, 64 places in turn, and a quiet behind many of them. nbi: windows of 16, each "
        "with a quiet; the time is that of one. MPI: MPI_Put and MPI_Win_flush_local, MPI_Win_flush behind many; nbi: 16 "
        "and MPI_Win_flush.",
        limit="memcpy to the same place"
    ),
    "get": Table(
        "get", "A block read from a neighbour, in the same way. MPI: MPI_Get and MPI_Win_flush.",
        limit="memcpy from the same place"
    ),
    "iput": Table(
        "iput", "Every second long to every second long. MPI: MPI_Put with vector types.",
        limit="the loop in C"
    ),
    "iget": Table("iget", "The same, read. MPI: MPI_Get with vector types.", limit="the loop in C"),
    "message rate": Table(
        "Message rate",
        "Windows of 64 blocks, each ended by a quiet, by one of each pair of PEs or by both; what all of "
        "them do together. MPI: MPI_Put and MPI_Win_flush."
    ),
    "bidirectional": Table(
        "Bidirectional bandwidth", "Both of each pair of PEs put to the other; what all do together.",
        limit="all of them with memcpy"
    ),
    "atomics": Table(
        "Atomics",
        "Each on a neighbour's word that nobody else uses. MPI: MPI_Fetch_and_op, MPI_Compare_and_swap and "
        "MPI_Win_flush; without a result: MPI_Accumulate and MPI_Win_flush_local.",
        x="word", limit="the bare instruction"
    ),
    "contended fetch_add": Table(
        "Contended fetch_add", "All PEs add to one word of PE 0's.", x="PEs",
        limit="all of them with the bare instruction"
    ),
    "put with signal, there and back": Table(
        "Put with signal, there and back",
        "PE 0 puts with a signal, PE 1 waits for it and does the same. OpenSHMEM before 1.5: put, fence, "
        "atomic set. MPI: MPI_Send and MPI_Recv.",
        limit="a cache line there and back between two that spin"
    ),
    "token ring": Table(
        "Token ring",
        "p to the next PE, who waits for it by wait_until; once round. MPI: MPI_Send, MPI_Recv.", x="PEs",
        limit="a futex handed round"
    ),
    "lock": Table(
        "Lock, alone", "set_lock and clear_lock by one PE. MPI: an exclusive epoch on rank 0's window.",
        x="word", limit="a pthread mutex in shared memory"
    ),
    "lock handed over": Table(
        "Lock, handed over",
        "All PEs at once, with a get and a put under it: time of all over all times it was taken.", x="PEs",
        limit="a pthread mutex in shared memory, with nothing under it"
    ),
    "barrier": Table("barrier_all", "", x="PEs", limit="a pthread barrier in shared memory"),
    "sync": Table("sync_all", "MPI: MPI_Barrier.", x="PEs", limit="a pthread barrier in shared memory"),
    "collectives of one double": Table("Collectives of one double", "Against the number of PEs.", x="PEs"),
    "broadcast": Table("broadcast", RESULTS + "MPI: MPI_Bcast.", limit=COPIED, limit_table="collectives"),
    "reduce": Table("sum_reduce", RESULTS + "MPI: MPI_Allreduce.", limit=COPIED, limit_table="collectives"),
    "fcollect": Table("fcollect", RESULTS + "MPI: MPI_Allgather.", limit=COPIED, limit_table="collectives"),
    "collect": Table(
        "collect", RESULTS + "MPI: MPI_Allgather of the sizes, MPI_Allgatherv.", limit=COPIED,
        limit_table="collectives"
    ),
    "alltoall": Table("alltoall", RESULTS + "MPI: MPI_Alltoall.", limit=COPIED, limit_table="collectives"),
    "scan": Table(
        "sum_inscan and barrier_all", RESULTS + "MPI: MPI_Scan and MPI_Barrier.", limit=COPIED,
        limit_table="collectives"
    ),
    "malloc and free": Table(
        "malloc and free",
        "A symmetric block taken and freed by all PEs, 16 alive at once; the standard puts two barriers into "
        "the pair. MPI: MPI_Win_allocate and MPI_Win_free.",
        limit="malloc and free of private memory"
    ),
    "init": Table("init", "The time of shmem_init or MPI_Init in the slowest PE.", x="PEs"),
    "empty job": Table(
        "Empty job", "A job that does nothing, from the start of its launcher to its exit.", x="PEs"
    ),
    "memory of a PE": Table(
        "Memory of a PE",
        "Pss of the process (what it shares counts by its share), mean over all PEs; without the launcher. "
        "The heap is the library's default.",
        x="PEs"
    ),
    "gups": Table(
        "Random access updates (GUPS)",
        "Updates of words all over the PEs' memories; what all do together. Buckets: updates go to the owner of the "
        "words, up to 1024 of a PE at a time, who applies them.",
        x="PEs", ways=True, limit=BARE_OR_OWN
    ),
    "isx": Table(
        "Integer sort in the manner of ISx", "Keys sorted; what all do together.", x="PEs", ways=True
    ),
    "isx time": Table("Integer sort, by its parts", "", x="PEs", judged=False),
    "histogram": Table(
        "Histogram in the manner of bale",
        "Counts raised all over the PEs' memories. Buckets: indices go to the owner of the counters, who counts them.",
        x="PEs", ways=True, limit=BARE_OR_OWN
    ),
    "gather": Table(
        "Index gather in the manner of bale", "Elements fetched from all over the PEs' memories.", x="PEs",
        ways=True
    ),
    "stencil": Table("2-D stencil", "One step: halo and cells.", x="PEs", ways=True),
    "graph": Table(
        "Neighbour aggregation on a graph",
        "Rows of features fetched on demand, or all of them gathered first.", x="PEs", ways=True
    ),
    "graph, moved": Table("Neighbour aggregation: bytes moved", "", x="PEs"),
    "limits": Table("Limits of this machine", "", x="PEs", judged=False),
}


def table_of(name):
    return TABLES.get(name) or Table(name[:1].upper() + name[1:], "", x="PEs")


def order(names):
    """Known tables in their order, then the others as they came."""
    known = [name for name in TABLES if name in names]
    return known + [name for name in names if name not in TABLES]
