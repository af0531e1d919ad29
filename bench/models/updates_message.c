/* The MPI program as it is, with mailboxes in symmetric memory under it instead of an MPI.
 *
 *     oshcc -O2 updates_message.c -o m && oshrun -n 2 m
 */
#define OVER_SYMMETRIC_MEMORY
#include "updates_message_mpi.c"
