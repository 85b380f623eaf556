#!/bin/sh
# Line coverage of kernels/ and common/ from a COVERAGE=1 build that has run its tests.
#
#   tools/coverage.sh build/coverage
set -eu
find "$1/obj/kernels" "$1/obj/common" -name '*.gcda' ! -name '*_test.*' | while read -r data; do
    gcov --stdout --object-directory "$(dirname "$data")" "$data" 2>/dev/null
done | awk '
    # An op is compiled three times: a line counts as run if it ran in any of them.
    /^ *-: *0:Source:/ { file = $0; sub(/.*Source:/, "", file); next }
    file !~ /^(kernels|common)\// || file ~ /_test\.c$/ { next }
    {
        split($0, part, ":"); count = part[1]; line = part[2] + 0; gsub(/ /, "", count)
        if (line == 0 || count == "-") next
        key = file ":" line; seen[key] = file
        if (count !~ /^[#=]/) ran[key] = 1
    }
    END {
        for (key in seen) { all[seen[key]]++; total++; if (key in ran) { hit[seen[key]]++; run++ } }
        for (file in all)
            printf "%6.1f %%  %4d of %4d  %s\n", 100 * hit[file] / all[file], hit[file], all[file], file | "sort -n"
        close("sort -n")
        printf "%6.1f %%  %4d of %4d  kernels/ and common/ together\n", 100 * run / total, run, total
    }'
