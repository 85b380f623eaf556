# Programs of collectives, for the simulator, MPI and NVIDIA's NCCL: every collective checked, and a ring all-reduce.
.PHONY: nccl-check
NCCL_LIB := $(SIM) $(addprefix $B/obj/kernels/,base.o blas.o threads.o)
NCCL_COMMON := $(call c_objects,tools/nccl/engine.c tools/nccl/numbers.c) $(NCCL_LIB)
$B/bin/nccl-check: $B/obj/tools/nccl/nccl_check.o $(NCCL_COMMON)
	$(link)
$B/bin/ring-check: $B/obj/tools/nccl/ring_check.o $B/gpu/tools/nccl/ring.o $(NCCL_COMMON)
	$(link)
# Correctness of every collective, type, operation and size, for 1 to 8 ranks; ARGS=--quick leaves out the largest size.
nccl-check: $B/bin/nccl-check $B/bin/ring-check
	@CUDASIM_DEVICES=8 $B/bin/ring-check
	@CUDASIM_DEVICES=8 $B/bin/nccl-check $(ARGS)
