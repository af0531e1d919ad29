# The launcher on a terminal: pseudo terminals of the PEs, Ctrl-C, Ctrl-Z and fg, Ctrl-\, the size of the window.
# timeout: 120
. "$SRC/test/launch/lib.sh"
command -v python3 > /dev/null || { echo "python3 is missing"; exit 77; }
need_pe
timeout -k 5 100 python3 "$here/terminal.py" "$OSHRUN" "$pe" || fail "terminal.py: status $?"
nothing_left terminal
finish
