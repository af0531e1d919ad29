# run-script.sh FOLDER SCRIPT [ARGUMENT ...]: runs a test script in an empty folder, kept only when the test fails.
work=$1
script=$2
shift 2
rm -rf "$work"
mkdir -p "$work" && cd "$work" || exit 1
bash "$script" "$@"
rc=$?
case $rc in 0 | 77) cd / && rm -rf "$work" ;; *) echo "left for you to look at: $work" ;; esac
exit $rc
