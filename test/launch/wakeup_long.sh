# timeout: 3600
# label: long
# A million rounds of two PEs in each mode of waiting: twelve million.
exec bash "$SRC/test/launch/wakeup.sh" "${HM_ROUNDS:-1000000}" 2
