# Settings of Open MPI for ranks on one machine: . build/mpi/env; mpirun -n 4 build/mpi/bin/train
# docs/mpi.md says what each is for; none is needed on a cluster whose administrators have set up MPI.

# In a container or a virtual machine one is root; mpirun refuses that unless both are set.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# More ranks than cores may be started.
export OMPI_MCA_rmaps_base_oversubscribe=1

# A rank that waits gives its core away, since another may need it to get there.
export OMPI_MCA_mpi_yield_when_idle=1

# A rank is not bound to one core: it may have several threads.
export OMPI_MCA_hwloc_base_binding_policy=none

# Ranks of one machine copy through shared memory. To read another process's memory directly is
# what many containers forbid, and MPI then warns or fails.
export OMPI_MCA_btl_vader_single_copy_mechanism=none

# A program that crashes says itself where; MPI would add a page of addresses.
export OMPI_MCA_opal_signal=
