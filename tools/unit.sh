#!/bin/sh
# Runs the unit tests of a build. A report of the simulator fails them too, whichever test caused it.
#
#   tools/unit.sh build [--filter 'gpu/*']
set -u
build=$1
shift
log=$build/unit.log
{
    OMP_NUM_THREADS=2 TRAIN="$build/bin/train" "$build/bin/unit" "$@" 2>&1
    echo $? >"$build/unit.status"
} | tee "$log"
if grep -aq '\[cudasim\]' "$log"; then
    echo "the simulator has reported something: see $log" >&2
    exit 86
fi
exit "$(cat "$build/unit.status")"
