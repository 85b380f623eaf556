#!/bin/sh
# Headers of CUDA that are not simulated: makes a file of each that refused.txt names, which stops the
# compiler in plain words, once for each group: cudasim/refused.sh FOLDER
set -e
awk -v folder="$1" '
/^#/ { next }
/^[^ ]/ { says = $0; group++; next }
{
    for (i = 1; i <= NF; i++) {
        file = folder "/" $i
        place = file
        sub(/\/[^\/]*$/, "", place)
        if (!(place in made)) {
            system("mkdir -p \"" place "\"")
            made[place] = 1
        }
        printf "#ifndef CUDASIM_REFUSED_%d\n#define CUDASIM_REFUSED_%d\n", group, group >file
        printf "#error \"cudasim: unsupported: %s\"\n#endif\n", says >file
        close(file)
    }
}' "$(dirname "$0")/refused.txt"
touch "$1/made"
