"""A hash table over all PEs, without locks: a counter for each key, found and raised by atomics.

Every PE takes some of the numbers below 30000 and follows each down to 1, where an even number is halved and
an odd one goes to 3n + 1. The table has a counter for each length of such a sequence. Its slots lie on all
PEs, and whoever needs a new key claims a free slot of whatever PE by compare-and-swap.
"""
import numpy as np
import shmem4py as shm

SLOTS = 512   # on each PE; more than there are keys, so that even one PE has room
FREE = 0      # no key


class Table:
    """Keys are integers from 1 on. Collective."""

    def __init__(self):
        self.slots = SLOTS * shm.n_pes()
        self.keys = shm.zeros(SLOTS, dtype=np.int64)
        self.counts = shm.zeros(SLOTS, dtype=np.int64)
        self.known = {}  # where this PE has met a key: keys never move

    def find(self, key):
        """(slot, PE) of the key, which is put in if it is new."""
        if key not in self.known:
            at = key * 2654435761 % self.slots
            while not self.claim(key, *divmod(at, SLOTS)):
                at = (at + 1) % self.slots  # taken by another key: the next one
            pe, slot = divmod(at, SLOTS)
            self.known[key] = slot, pe
        return self.known[key]

    def claim(self, key, pe, slot):
        """Is the slot the key's, or free until now? Of those that come at once, one gets it."""
        return shm.int64_atomic_compare_swap(self.keys[slot], FREE, key, pe) in (FREE, key)

    def add(self, key):
        slot, pe = self.find(key)
        shm.int64_atomic_inc(self.counts[slot], pe)

    def items(self):
        """All keys and counts, of all PEs. When nobody adds any more."""
        for pe in range(shm.n_pes()):
            keys, counts = (shm.int64_get(part, pe=pe) for part in (self.keys, self.counts))
            yield from zip(keys[keys != FREE].tolist(), counts[keys != FREE].tolist())


def length(number):
    count = 1
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        count += 1
    return count


shm.init()
table = Table()
for number in range(1 + shm.my_pe(), 30000, shm.n_pes()):
    table.add(length(number))
shm.barrier_all()

if shm.my_pe() == 0:
    found = dict(table.items())
    print(f"{sum(found.values())} numbers, {len(found)} different lengths")
    for key in sorted(found, key=lambda key: (-found[key], key))[:3]:
        print(f"length {key}: {found[key]} numbers")
shm.finalize()
