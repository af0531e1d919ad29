#!/bin/sh
# uninstall.sh MANIFEST [DESTDIR]: removes the files that make install put there, and the folders that are ours alone.
manifest=$1
destdir=${2:-}
while IFS= read -r file || [ -n "$file" ]; do
    rm -f "$destdir$file"
    dir=$(dirname "$destdir$file")
    case $dir in */hbmesh | */OpenSHMEM | */include/shmem | */include/mpp) rmdir "$dir" 2>/dev/null ;; esac
done <"$manifest"
echo "removed what $manifest lists"
