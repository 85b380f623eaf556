#!/bin/sh
# Prints the stub of a lab's file, as it was handed out: stub.sh 03_accumulate accumulate.c. From what
# a handout brought along, else cut from the solution.
set -eu
lab=$1 file=$2
if [ -f "labs/.stubs/$lab/$file" ]; then
    cat "labs/.stubs/$lab/$file"
elif [ -f "solutions/$lab/$file" ]; then
    unifdef -x2 -USOLUTION "solutions/$lab/$file"
else
    echo "stub.sh: there is no stub of $lab/$file here" >&2
    exit 1
fi
