#!/bin/sh
# Headers of CUDA that are not simulated: makes a file of each that refused.txt names, which stops the
# compiler in plain words, once for each group: cudasim/refused.sh FOLDER
set -e
new=${1:?which folder?}.$$ # its own: two may run at once
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$new"
awk -v folder="$new" '
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
touch "$new/made"
rm -rf "$1" # a header that is no longer on the list
mv "$new" "$1"
