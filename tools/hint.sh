#!/bin/sh
# The next hint for a task: hint.sh 00_bytes 2. Three of them, or as many as the handout has, one more each time; then again
# from the first.
set -eu
lab=${1:?a lab} task=${2:-}
file=labs/$lab/hints.md
[ -f "$file" ] || file=$LABS/$file
number=${lab%%_*}
case $task in *[!0-9]*) task= ;; esac
if [ -z "$task" ] || ! grep -q "^## Task $task\b" "$file"; then
    echo "which task? make hint$number TASK=n, for n in:" $(sed -n 's/^## Task \([0-9]*\).*/\1/p' "$file") >&2
    exit 2
fi
mkdir -p build/hints
seen=$(cat "build/hints/$lab-$task" 2>/dev/null || echo 0)
tiers=$(awk -v task="$task" '/^## Task/ { here = $3 + 0 == task } here && /^[123]\. / { n++ } END { print n }' "$file")
tier=$((seen % tiers + 1))
echo "$tier" >"build/hints/$lab-$task"
echo "Lab $number, task $task, hint $tier of $tiers:"
awk -v task="$task" -v tier="$tier" '
    /^## Task/ { here = $3 + 0 == task; next }
    here && /^[123]\. / { shown = $1 + 0 == tier; sub(/^[123]\. /, "") }
    here && shown' "$file"
