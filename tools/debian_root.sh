#!/bin/sh
# A root folder of Debian, of the packages and from the place that this machine takes its own from.
#
#   tools/debian_root.sh ARCH VARIANT FOLDER [PACKAGE,...]    VARIANT: minbase, or extract: nothing is set up
#   tools/debian_root.sh --here       whether this machine has such a place
set -eu

command -v mmdebstrap >/dev/null || { echo "debian_root: mmdebstrap is not installed: tools/setup.sh --prove" >&2; exit 1; }
# shellcheck disable=SC2016 # apt fills them in
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' | sort -u)
suite=$(echo "$sources" | awk '$3 !~ /-/ { print $3; exit }')
[ -n "$suite" ] || { echo "debian_root: this machine has no Debian to take packages from" >&2; exit 1; }
[ "$1" != --here ] || exit 0
arch=$1 variant=$2 folder=$3 packages=${4:-}
proxy=
eval "$(apt-config shell proxy Acquire::http::Proxy)"

rm -rf "$folder.part" "$folder"
mkdir -p "$(dirname "$folder")"
echo "$sources" | mmdebstrap --quiet --variant="$variant" --architectures="$arch" ${packages:+--include="$packages"} \
    ${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} "$suite" "$folder.part" - >&2
mv "$folder.part" "$folder"
