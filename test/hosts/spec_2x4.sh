# The spec suite on two hosts with four PEs each.
# timeout: 300
. "$SRC/test/hosts/lib_spec.sh"
hosts_up 2
maps=4,4
programs="rma signal wait coll_active team_split lock_order:100"
run_specs
