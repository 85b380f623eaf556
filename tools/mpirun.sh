#!/bin/sh
# Starts a program as several ranks on this machine: mpirun, with the settings of build/mpi/env and a
# fair share of the cores; and what mpirun says when a rank has ended badly is one line.
#
#   tools/mpirun.sh 4 build/mpi/bin/train --max_steps 100
#   tools/mpirun.sh 4         only says whether that number can be
set -u
ranks=$1
shift
case $ranks in
[1-9] | [1-5][0-9] | 6[0-4]) ;;
*) echo "mpirun: N=$ranks: how many ranks must be a number from 1 to 64" >&2; exit 2 ;;
esac
[ $# -gt 0 ] || exit 0
command -v "$1" >/dev/null || { echo "mpirun: there is no program $1" >&2; exit 2; }
. "$(dirname "$0")/mpi_env.sh"
cores=$(nproc 2>/dev/null || echo 1)
share=$((cores / ranks))
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$((share > 0 ? share : 1))}"

# mpirun's own messages stand between rulers.
tell='
/^-----------------------*$/ { inside = !inside; next }
inside && match($0, /process rank [0-9]+/) {
    rank = substr($0, RSTART + 13, RLENGTH - 13)
    how = match($0, /signal [0-9]+ \(.*\)/) ? "by " substr($0, RSTART, RLENGTH) : "early"
    print "mpirun: rank " rank " was ended " how "; the other ranks have been stopped"
}
inside && /not enough slots|MPI_ERR|No such file|could not be found|unable to/ { print "mpirun: " $0 }
/more process(es have| has) sent help message|"orte_base_help_aggregate" to 0/ { next }
!inside { print; fflush() }'
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
mkfifo "$said/pipe"
awk "$tell" <"$said/pipe" >&2 &
mpirun -n "$ranks" "$@" 2>"$said/pipe"
status=$?
wait
exit $status
