#!/bin/sh
# Prints the stub of a lab's file, as it was handed out: stub.sh 03_accumulate accumulate.c. From what
# a handout brought along, else cut from the solution.
set -eu
lab=$1 file=$2
for root in . ${LABS:+"$LABS"}; do
    if [ -f "$root/labs/.stubs/$lab/$file" ]; then
        exec cat "$root/labs/.stubs/$lab/$file"
    elif [ -f "$root/solutions/$lab/$file" ]; then
        unifdef -x2 -DSTUB "$root/solutions/$lab/$file"
        exit
    fi
done
for root in . ${LABS:+"$LABS"}; do
    if [ -d "$root/solutions/$lab" ]; then
        echo "stub.sh: there is no $root/solutions/$lab/$file, which lab.json names" >&2
        exit 1
    fi
done
echo "stub.sh: there is no stub of $lab/$file here" >&2
exit 1
