# exports.sh LIBRARY: what the library exports, a line each: kind (T function, W weak function, D B R data) and name.
nm -D --defined-only "$1" | sed 's/^[0-9a-f]* *//; s/@@.*//' | grep -v '^A ' | LC_ALL=C sort -k2
