#!/bin/sh
# A volatile flag after a fence is a note in check mode, a race with CUDASIM_STRICT=1; a kernel that
# CUDASIM_WITHOUT names does nothing:
# cudasim/tests/flags_test.sh [COMPILER]
cd "$(dirname "$0")/../.." || exit
dir=$(mktemp -d) || exit
trap 'rm -rf "$dir"' EXIT
make -s cu-build FILE=cudasim/tests/flags.cu OUT="$dir/flags" ACCESS=1 CC="${1:-gcc}" || exit

wrong() {
    echo "flags: FAILED: $1"
    sed 's/^/  /' "$dir/said"
    exit 1
}
"$dir/flags" flag >"$dir/said" 2>&1 || wrong "a right program ends with status $?"
grep -q 'note: a volatile flag orders two threads at flags.cu' "$dir/said" || wrong "no note"
[ "$(grep -c '^.cudasim.' "$dir/said")" = 1 ] || wrong "more than a note"

CUDASIM_STRICT=1 "$dir/flags" flag >"$dir/said" 2>&1
[ $? = 86 ] || wrong "strict: the status is not 86"
grep -q '^.cudasim. race: shared memory' "$dir/said" || wrong "strict: no race"

CUDASIM_WITHOUT=hand_over,add_locked "$dir/flags" >"$dir/said" 2>&1
printf '0, expected 2016\n1, expected 1\n' | cmp -s - "$dir/said" || wrong "add_locked was not left out alone"
echo "flags: a note, and strictly a race; what is left out does nothing"
