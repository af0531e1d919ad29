# timeout: 1200
# label: long
# The same as agree.sh, with 8 PEs.
exec bash "$SRC/test/launch/agree.sh" 8
