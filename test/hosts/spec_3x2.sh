# The spec suite on three hosts with two PEs each, and where the PEs are spread otherwise.
# timeout: 300
. "$SRC/test/hosts/lib_spec.sh"
hosts_up 3
maps=2,2,2
programs="rma signal coll_active coll_reduce team_split"
(run_specs) || failures=1
programs="coll_active team_split"
maps="1,2,3 cyclic,2,2,2"
run_specs
