#!/bin/sh
# Runs a command where a real Slurm is: munged, slurmctld and slurmd of this machine, started for it
# in a folder of their own and stopped after it. Wants root, and Debian's slurm-wlm and munge.
#
#   tools/slurm_local.sh grader/proof/class_test.py --slurm 3 --lab 00_bytes --hand-ins 24
set -u
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch; do
    if ! command -v $program >/dev/null; then
        echo "slurm_local: $program is missing: apt-get install slurm-wlm munge" >&2
        exit 2
    fi
done
if [ "$(id -u)" != 0 ]; then
    echo "slurm_local: slurmd starts jobs as their users, which only root may" >&2
    exit 2
fi
folder=$(mktemp -d /tmp/slurm-local-XXXXXX)
export SLURM_CONF="$folder/slurm.conf"
mkdir "$folder/state" "$folder/spool"
dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 2>/dev/null
chmod 700 "$folder"
chmod 400 "$folder/munge.key"
node=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=local
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
MinJobAge=2
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF

# Each in the foreground of its own, so that its process id is ours to end.
pids=
stop() {
    # shellcheck disable=SC2086 # a list
    kill $pids 2>/dev/null
    wait
    rm -rf "$folder"
}
trap stop EXIT
start() {
    "$@" >"$folder/$(basename "$1").out" 2>&1 &
    pids="$! $pids"
}
start munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munged.seed"
while [ ! -S "$folder/munge.socket" ] && kill -0 ${pids%% *} 2>/dev/null; do sleep 0.1; done
start slurmctld -D -c
start slurmd -D
tries=0
until sinfo --noheader --format=%T 2>/dev/null | grep -q idle; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ]; then
        echo "slurm_local: no node is ready" >&2
        tail -n 20 "$folder"/*.out "$folder"/*.log >&2
        exit 1
    fi
    sleep 0.2
done
"$@"
