# The spec suite on two hosts with two PEs each.
# timeout: 300
. "$SRC/test/hosts/lib_spec.sh"
hosts_up 2
maps=2,2
programs="rma strided amo signal wait ordering static_data heap_alloc coll_active coll_types ctx_teams team_split
    lock_order:200 sync_pe fork_private"
run_specs
