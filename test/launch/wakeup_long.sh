# timeout: 7200
# label: long
# Ten million rounds of two PEs in each mode of waiting.
exec bash "$SRC/test/launch/wakeup.sh" 10000000 2
