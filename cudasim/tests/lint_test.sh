#!/bin/sh
# Tests of `make lint`: each file in cudasim/lint is one mistake. Its line ends with what
# clang must say of it, "lint: text"; clang must say it of that line and of no other. Of the
# programs in cudasim/tests/foreign it must say nothing.
cd "$(dirname "$0")/../.." || exit
command -v clang >/dev/null || { echo "lint test: not run, there is no clang"; exit 0; }

lint() { # file
    for side in host device; do
        clang -x cuda -std=c++17 -nocudainc -nocudalib -fsyntax-only --cuda-gpu-arch=sm_70 \
            -Wno-unknown-cuda-version -Wall -Wextra -Icudasim/include -I. \
            -include cudasim/lint.h --cuda-$side-only "$1" 2>&1
    done | sed -nE 's/^([^: ]+):([0-9]+):[0-9]+: (error|warning): (.*)/\1:\2 \4/p' | sort -u
}

failed=0 count=0
for file in cudasim/lint/*.cu; do
    count=$((count + 1))
    said=$(lint "$file")
    wanted=$(sed -nE '/lint: / { =; s/.*lint: (.*) \*\/.*/\1/p }' "$file" |
        paste -d' ' - - | sed "s|^|$file:|")
    # One answer more or less than wanted, or another text at the line.
    if [ "$(echo "$said" | cut -d' ' -f1 | sort -u)" != "$(echo "$wanted" | cut -d' ' -f1)" ] ||
        { [ -n "$wanted" ] && ! echo "$said" | grep -qF "$(echo "$wanted" | cut -d" " -f2-)"; }; then
        echo "lint test: FAILED: $file"
        echo "  wanted: $wanted"
        echo "  said:   $said"
        failed=1
    fi
done
# Right programs, as others write them: with FILE= warnings are warnings.
right=$(echo cudasim/tests/foreign/*.cu)
said=$(make --no-print-directory lint FILE=cudasim/tests/foreign/forms.cu LINTED="$right" 2>&1) ||
    { echo "lint test: FAILED: right programs"; echo "$said" | grep -E "(error|warning):"; failed=1; }
# `make lint` looks at all files, also after one with a mistake.
said=$(make --no-print-directory lint LINTED="cudasim/lint/host_calls_device_function.cu cudasim/lint/kernel_calls_host_function.cu" 2>&1) &&
    { echo "lint test: FAILED: make lint ends with 0"; failed=1; }
for file in host_calls_device_function kernel_calls_host_function; do
    echo "$said" | grep -q "^cudasim/lint/$file.cu:.*error" || { echo "lint test: FAILED: make lint does not name $file.cu"; failed=1; }
done
echo "lint test: $count files, $(echo "$right" | wc -w) right programs$([ $failed = 0 ] && echo ", all as they should be")"
[ "$count" -ge 10 ] && [ "$(echo "$right" | wc -w)" -ge 40 ] && exit $failed
