# The transport's contract over RDMA, and how much memory that pins, in one virtual machine: check.sh has the rest.
# timeout: 600
PARTS=contract,pin
. "$SRC/test/roce/check.sh"
