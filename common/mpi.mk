# Open MPI's flags, of Debian's pkg-config or of its own wrapper mpicc. What needs MPI is refused where it is missing.
of_mpi   = $(shell pkg-config --$1 ompi-c 2>/dev/null || mpicc --showme:$2 2>/dev/null)
no_mpi   = $(error MPI is not installed: tools/setup.sh --mpi)
MPI_LIBS := $(if $(MPI),$(or $(call of_mpi,libs,link),$(no_mpi)))
$(if $(filter mpi mpirun,$(MAKECMDGOALS)),$(if $(and $(shell command -v mpirun),$(call of_mpi,libs,link)),,$(no_mpi)))
