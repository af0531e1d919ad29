# The transport's contract over RDMA, and how much memory that pins, in one virtual machine: check.sh has the rest.
# cores: 1
# timeout: 600
PARTS=contract,pin
. "$SRC/test/roce/check.sh"
