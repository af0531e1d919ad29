#!/bin/sh
# demo.sh: what is in this folder and ../graph on NPUs in software. OSHCC, OSHRUN and NPES (8) from the environment.
set -eu
: "${OSHCC:?the compiler wrapper}" "${OSHRUN:?the launcher}"
here=$(cd "$(dirname "$0")" && pwd)
npes=${NPES:-8}
work=$(dirname "$(dirname "$OSHRUN")")/demo
mkdir -p "$work"
unset SHMEM_HEAP_KIND SHMEM_MALLOC_ON HBMESH_TWIN_LATE HBMESH_TWIN_FAULT HBMESH_TWIN_STRICT HBMESH_TWIN_LOG

"$OSHCC" -O2 "$here/memory.c" "$here/clock.c" -o "$work/memory"
"$OSHCC" -O2 "$here/lesson.c" "$here/clock.c" -o "$work/lesson"
"$OSHCC" -O2 "$here"/../graph/*.c -o "$work/graph" -lm

cat << END
These are NPUs in software: this machine stands in for the Ascend runtime and its devices (twin/, doc/twin.md).
"Modelled" times are what their links and memories would take as they are set up; nothing here was measured on hardware.
Set up (HBMESH_TWIN) as: ${HBMESH_TWIN:-8 devices of 32 GB in one server, joined by HCCS of 2 us and 28 GB/s}

== One global memory

END
SHMEM_SYMMETRIC_SIZE=31G "$OSHRUN" --twin -n "$npes" "$work/memory"

cat << END

== A graph in it: reads on demand, or gather everything (as on host memory: make demo)

END
"$OSHRUN" --twin -n "$npes" "$work/graph" "$here/../data/debian-graph.gz"

cat << END

== Arrival is not yet visibility: 256 numbers are put into the HBM of another NPU, then a flag is raised there

END
# Late by a second and more, unless somebody waits for the copy: so the flag is first, however slow this machine is.
HBMESH_TWIN_LATE=1000000:2000000 "$OSHRUN" --twin -n 2 "$work/lesson"
cat << END

A put whose end nobody has waited for may be seen late: a flag that takes another way comes first, unless quiet, fence,
a barrier, or a signal that belongs to the put is between.
END
