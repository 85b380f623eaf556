#!/bin/sh
# Run once, as root, when the image is built: installs what grading needs, and builds the judge and
# the parts of the probe, so that a submission only compiles its own files.
#   INSTALLED=1   packages are there already
set -eu
cd "$(dirname "$0")"
. ./pack.conf

if [ -z "${INSTALLED:-}" ]; then
    tools/setup.sh --grade
fi

# shellcheck disable=SC2086 # a list of settings
make $MAKE_SETTINGS "$JUDGE_BUILD/grade/$LAB.json" "$JUDGE_BUILD/judge/$LAB" "$JUDGE_BUILD/bin/grade"

# A submission runs as another user, and the sandbox shows it only what it needs. This is for a
# machine whose sandbox can do less than that.
chmod 600 secret
chmod -R go-rwx solutions grader labs "$JUDGE_BUILD/judge"
