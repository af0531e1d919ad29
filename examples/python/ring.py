"""A token goes round: who gets it writes its name on it and hands it on, data and notice in one call.

put_signal writes the token into the next PE's memory and then, in the right order, its signal, for which that
PE waits.
"""
import numpy as np
import shmem4py as shm

ROUNDS = 3

shm.init()
me, n = shm.my_pe(), shm.n_pes()
right = (me + 1) % n

token = shm.zeros(1 + ROUNDS * n, dtype=np.int64)  # how many names, and the names
arrived = shm.new_signal()


def sign_and_send():
    count = int(token[0]) + 1
    token[0], token[count] = count, me
    shm.put_signal(token, token, right, arrived, 1, shm.SIGNAL.ADD)


if me == 0:
    sign_and_send()
for turn in range(1, ROUNDS + 1):
    shm.signal_wait_until(arrived, shm.CMP.GE, turn)
    if me != 0 or turn < ROUNDS:
        sign_and_send()

if me == 0:
    print(f"{token[0]} names:", *token[1:])
shm.finalize()
