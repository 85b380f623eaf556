#!/bin/sh
# What is packed for Gradescope and Autolab grades a hand-in where nothing else of the kit is: as root
# with half a CPU and 768 MiB, where control groups of version 1 can be made, else without these.
#
#   grader/proof/pack_test.sh [LAB]      two digits; ends with `pack: good`
set -eu
number=${1:-00}
lab=$(basename "$(echo labs/"$number"_*)")
work=$(mktemp -d)
group=pack-test-$$
groups=
for kind in memory cpu; do
    mkdir "/sys/fs/cgroup/$kind/$group" 2>/dev/null && groups="$groups $kind"
done
if [ "$groups" = " memory cpu" ]; then
    echo $((768 << 20)) >"/sys/fs/cgroup/memory/$group/memory.limit_in_bytes"
    echo 50000 >"/sys/fs/cgroup/cpu/$group/cpu.cfs_quota_us"
    echo "pack: limits of 768 MiB and half a CPU"
else
    echo "pack: no limits: control groups cannot be made here"
fi
clean() {
    for kind in $groups; do rmdir "/sys/fs/cgroup/$kind/$group"; done
    rm -rf "$work"
}
trap clean EXIT
chmod 711 "$work"

# The command as it would run in the container.
limited() {
    (
        for kind in $groups; do sh -c 'echo $PPID' >"/sys/fs/cgroup/$kind/$group/cgroup.procs"; done
        exec "$@"
    )
}

fail() {
    echo "pack: $1" >&2
    exit 1
}

files=$(python3 -c 'import json, sys; print(*(file["file"] for file in json.load(open(sys.argv[1]))["holes"]))' "labs/$lab/lab.json")
take_solution() {
    for file in $files; do unifdef -x2 -USTUB -o "$1/$file" "solutions/$lab/$file"; done
}

# ---- Gradescope
make -s gradescope LAB="$number" OUT="$work"
mkdir -p "$work/autograder/source"
python3 -m zipfile -e "$work/autograder.zip" "$work/autograder/source"
chmod +x "$work/autograder/source/setup.sh" "$work/autograder/source/run_autograder" "$work/autograder/source/grade_one" \
    "$work"/autograder/source/tools/*.py "$work"/autograder/source/tools/*.sh
INSTALLED=1 "$work/autograder/source/setup.sh" >"$work/setup.log" 2>&1 || { tail "$work/setup.log"; fail "setup.sh failed"; }

# A machine with nothing on it gets all whose headers the packed sources ask for, by Debian's own word.
wanted=$("$work/autograder/source/tools/setup.sh" --grade --list | awk '{ print $1 }')
for header in $(cd "$work/autograder/source" && cat grader/*.c grader/*.h common/*.c common/*.h kernels/*.c cudasim/*.c cudasim/*/*.c |
    sed -n 's/^#include <\(.*\)>.*/\1/p' | sort -u); do
    path=$(ls "/usr/include/$header" "/usr/include/$(gcc -dumpmachine)/$header" 2>/dev/null | head -n 1)
    package=$(dpkg -S "$path" 2>/dev/null | cut -d: -f1)
    case " $package " in
    "  " | " linux-libc-dev ") ;;            # the compiler's own, or what libc6-dev brings along
    " libdnnl-dev " | " libopenblas"*) ;;    # left out by BLAS=none
    *) echo "$wanted" | grep -qx "$package" || fail "setup.sh does not install $package, for <$header>" ;;
    esac
done

# submit SCORE: grades what lies in autograder/submission
submit() {
    begin=$(date +%s)
    AUTOGRADER="$work/autograder" limited "$work/autograder/source/run_autograder"
    got=$(python3 -c 'import json, sys; print("%g" % json.load(open(sys.argv[1]))["score"])' "$work/autograder/results/results.json")
    [ "$got" = "$1" ] || fail "Gradescope, $2: $got points, not $1"
    echo "pack: Gradescope, $2: $got points after $(($(date +%s) - begin)) s"
}
fresh() { rm -rf "$work/autograder/submission" && mkdir "$work/autograder/submission"; }

fresh
take_solution "$work/autograder/submission"
echo '{"users": [{"id": 12, "name": "<b>"}]}' >"$work/autograder/submission_metadata.json"
submit 100 "a solution"
(cd "$work/autograder/submission" && python3 -m zipfile -c hand-in.zip $files && rm -f $files)
submit 100 "a solution in an archive"
echo "<p>typed</p>" >"$work/autograder/submission/onlinetext.html"
submit 100 "an archive among other files"
fresh
for file in $files; do cp "labs/$lab/$file" "$work/autograder/submission"; done
submit 0 "a stub"
fresh
ln -s /etc/passwd "$work/autograder/submission/${files%% *}"
submit 0 "a link"
fresh
submit 0 "nothing"
# What a hand-in may not see: the solution of its own lab, by a path that it knows.
fresh
for file in $files; do printf '#include "%s"\n' "$work/autograder/source/solutions/$lab/$file" >"$work/autograder/submission/$file"; done
submit 0 "a solution that is not its own"

# ---- Autolab
make -s autolab LAB="$number" OUT="$work/autolab"
mkdir "$work/autolab/handin"
take_solution "$work/autolab/handin"
cp "$work/autolab/autograde-Makefile" "$work/autolab/Makefile"
limited make -s -C "$work/autolab" KIT="$work/autograder/source" >"$work/autolab/out" || fail "Autolab: make failed"
tail -n 1 "$work/autolab/out" | grep -q "^{\"scores\": {\"$lab\": 100" || fail "Autolab: the last line is $(tail -n 1 "$work/autolab/out")"
echo "pack: Autolab: $(tail -n 1 "$work/autolab/out")"
# autolab_says SCORE WORDS: grades what lies there as handin*
autolab_says() {
    limited make -s -C "$work/autolab" KIT="$work/autograder/source" >"$work/autolab/out" || fail "Autolab: make failed"
    tail -n 1 "$work/autolab/out" | grep -q "^{\"scores\": {\"$lab\": $1" || fail "Autolab: the last line is $(tail -n 1 "$work/autolab/out")"
    grep -q "$2" "$work/autolab/out" || fail "Autolab: no word of '$2': $(cat "$work/autolab/out")"
    echo "pack: Autolab: $1, $2"
}
tar cJf "$work/autolab/packed" -C "$work/autolab/handin" $files
rm -r "$work/autolab/handin"
autolab_says 0 "it is empty"
mv "$work/autolab/packed" "$work/autolab/handin"
autolab_says 100 "passed"
echo "no archive" >"$work/autolab/handin"
autolab_says 0 "it is neither a folder nor an archive"
echo "pack: good"
