#!/bin/sh
# Runs the unit tests of a build. What the simulator reports fails them too, whichever test made it.
#
#   tools/unit.sh build [--filter 'gpu/*']
set -u
build=$1
shift
log=$build/unit.log
# Threads that wait must not spin: the tests run side by side.
{
    OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 TRAIN="$build/bin/train" "$build/bin/unit" "$@" 2>&1
    echo $? >"$build/unit.status"
} | tee "$log"
if grep -aq '\[cudasim\]' "$log"; then
    echo "the simulator has reported something: see $log" >&2
    exit 86
fi
exit "$(cat "$build/unit.status")"
