#!/bin/sh
# Puts the stubs of a lab back, and keeps what was there: reset.sh 03_accumulate [FILE].
set -eu
lab=${1:?a lab} only=${2:-}
place=labs/$lab
[ -f "$place/lab.json" ] || place=$LABS/$place
files=$(python3 -c 'import json, sys; print(*(f["file"] for f in json.load(open(sys.argv[1]))["holes"]))' "$place/lab.json")
case " $files " in
*" ${only:-${files%% *}} "*) ;;
*) echo "reset: lab $lab has no file $only, but: $files" >&2; exit 2 ;;
esac
for file in ${only:-$files}; do
    path=$place/$file
    tools/stub.sh "$lab" "$file" >"$path.stub" || { rm -f "$path.stub"; exit 1; }
    if [ ! -e "$path" ]; then
        echo "$path: was missing, is a stub now"
    elif cmp -s "$path" "$path.stub"; then
        rm "$path.stub"
        echo "$path: is the stub already"
        continue
    else
        number=1
        while [ -e "$path.kept-$number" ]; do number=$((number + 1)); done
        mv "$path" "$path.kept-$number"
        echo "$path: is a stub now; what was there is $path.kept-$number"
    fi
    mv "$path.stub" "$path"
done
