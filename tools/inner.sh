#!/bin/sh
# The inner make of common/front.mk: inner.sh ENDED MAKE [GOAL...]. Where it fails, the file ENDED comes to be.
#
# A first run with -n counts the steps of a build: a long one is announced, and on a terminal tools/step.sh shows how far it is.
set -u
ended=$1
shift
export MAKEFLAGS="${MAKEFLAGS%%q*}${MAKEFLAGS#*q}" # without -q, which is among the letters that come first
mkdir -p build 2>/dev/null # the Makefile says where that is not possible
failed() { mkdir -p build && : >"$ended"; } # make clean may have been among the goals
steps=$("$@" -n ENDED="$ended" STEPS=counted 2>/dev/null | grep -c tools/step.sh)
if [ "$steps" -gt 100 ]; then
    echo "The first build takes a minute or two: $steps steps. Later ones take seconds."
fi
if [ -t 1 ] && [ "$steps" -gt 1 ]; then
    counted=build/.steps-$$
    trap 'rm -f "$counted"' EXIT
    "$@" ENDED="$ended" STEPS="$counted" OF="$steps" || failed
else
    "$@" ENDED="$ended" || failed
fi
