#!/bin/sh
# Shows how far a build is, on one line of the terminal: step.sh COUNTED OF. COUNTED has a byte for each step that was begun.
# The cursor stays at the beginning of the line, so that what a compiler says takes its place; the last step clears it.
printf . >>"$1"
step=$(wc -c <"$1")
if [ "$step" -lt "$2" ]; then
    printf '  building: %d of %d, %d %%\r' "$step" "$2" $((100 * step / $2))
else
    printf '\033[K'
fi
