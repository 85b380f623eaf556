# CUDA: the simulator and its compiler's front end, or nvcc (BACKEND=cuda); `make cu`, `make foreign`, `make lint`.
.PHONY: cu cu-build foreign lint profile-check profile-check-run

CUCXX   := $(subst clang,clang++,$(subst gcc,g++,$(CC)))
CU_WARN := $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) -Wno-sign-compare -Wno-unknown-pragmas
# A program that was written for nvcc: its #pragma unroll, and structures of CUDA set by {0}, are right.
CU_SHOWN := -Wall -Wextra -Wno-sign-compare -Wno-unused-function -Wno-unknown-pragmas -Wno-missing-field-initializers
CU_INPUT = $(INCLUDES) $(INCLUDES_CUDA) $(DEFINES_OF_KIT) $(CPPFLAGS)
ifeq ($(BACKEND),cuda)
$(if $(TRAFFIC),$(error TRAFFIC=1 counts in the simulator, and not with BACKEND=cuda))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc)))
NVCC      := $(CUDA_HOME)/bin/nvcc
ifeq ($(wildcard $(NVCC)),)
$(error BACKEND=cuda needs nvcc: set CUDA_HOME to the folder of the CUDA toolkit, or build without BACKEND)
endif
CUDA_LIB  := $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib))
# NCCL lies beside CUDA, or in the folder NCCL= (of Python's package: .../site-packages/nvidia/nccl). Without it (also: NCCL=) the kit has
# one rank, and common/nccl_absent.c stands in for its calls; a program of `make cu` is linked with it if it calls it, and never with that.
NCCL      ?= $(firstword $(patsubst %/include/nccl.h,%,$(wildcard $(CUDA_HOME)/include/nccl.h /usr/include/nccl.h)))
NCCL_SO  := $(if $(NCCL),$(firstword $(wildcard $(foreach l,lib64 lib lib/$(shell $(CC) -print-multiarch),$(NCCL)/$l/libnccl.so $(NCCL)/$l/libnccl.so.2))))
$(if $(NCCL),$(if $(and $(NCCL_SO),$(wildcard $(NCCL)/include/nccl.h)),,$(error NCCL=$(NCCL): there is no include/nccl.h with a lib/libnccl.so beside it)))
NO_NCCL  := $(if $(NCCL_SO),,-DNO_NCCL -Icudasim/absent)
# The kit's default stream is one for each thread, which can be captured (common/capture.h); programs of `make cu` have CUDA's own.
PER_THREAD    := -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1
# An older nccl.h (2.21 is one) has ncclBfloat16 only where this name is defined, as cuda_bf16.h defines it.
NCCL_BF16 := -D__CUDA_BF16_TYPES_EXIST__=
INCLUDES_CUDA := $(PER_THREAD) $(NO_NCCL) $(if $(NCCL_SO),-isystem $(NCCL)/include $(NCCL_BF16)) -isystem $(CUDA_HOME)/include -DBACKEND_CUDA
CU_FLAGS  := -std=c++17 $(if $(DEBUG),-O0 -G,-O3 -lineinfo) $(if $(CUDA_ARCH),-arch=$(CUDA_ARCH)) \
             -Xcompiler $(subst $(space),$(comma),-Wall -Wextra -Wno-sign-compare -Wno-unknown-pragmas) \
             $(if $(WERROR),-Werror all-warnings) -ccbin $(CUCXX)
# In a pack the libraries lie beside the program; what they need in turn is searched there too.
RPATH     := $(if $(PACK),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)'$$ORIGIN:$(CUDA_LIB)',-Wl$(comma)-rpath$(comma)$(CUDA_LIB))
LIBS_NCCL := $(if $(NCCL_SO),$(NCCL_SO) -Wl$(comma)-rpath$(comma)$(dir $(NCCL_SO)))
LIBS_CUDA := -L$(CUDA_LIB) $(RPATH) $(LIBS_NCCL) -lcublas -lcublasLt -lcudart -lstdc++
define compile_cu
@mkdir -p $(@D)
$(call say,compile)
$Q$(NVCC) $(CU_INPUT) $(REAL) -MMD -MP -MF $(@:.o=.d) $(CU_FLAGS) -c $< -o $@
endef
# For tools/ptxas.py: how a .cu is compiled, and the objects that are made of one.
.PHONY: print-cu
print-cu:
	@echo $(NVCC) $(CU_INPUT) $(CU_FLAGS)
	@echo $(patsubst $B/gpu/%,%,$(GPU_OPS) $(filter $B/gpu/%,$(SOLVED)))
else
# Kernels run on stacks of their own, so a frame must not jump over the guard page below them. With
# ACCESS=1 and TRAFFIC=1 the compiler calls the simulator at each access, by ThreadSanitizer's names;
# that library itself is not linked. The simulator finds lines of source by the index of addresses. No
# product is joined with the sum after it: two kernels with one formula have the same bits, in each build.
# A kernel reads vectors through pointers to other types (a float4 of halves), as CUDA lets it.
# clang leaves out a path that must end in undefined behaviour: then a kernel runs on into the next function. With these it stops there.
INCLUDES_CUDA := -Icudasim/include
ANNOUNCED := $(or $(ACCESS),$(TRAFFIC))
CU_FLAGS  := -std=c++17 $(if $(ANNOUNCED),-O1 -g -fsanitize=thread$(if $(ACCESS),$(comma)undefined),$(OPT) $(ARCH)) \
             -gdwarf-4 $(SECTIONS) -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-trapping-math -fstack-clash-protection $(CU_WARN) $(if $(WERROR),-Werror) \
             $(if $(findstring clang,$(CC)),-Qunused-arguments -gdwarf-aranges -fno-delete-null-pointer-checks -mllvm -trap-unreachable)
LINK_CUDA := $(if $(ACCESS),-fsanitize=undefined)
LIBS_CUDA := -ldw -lstdc++
# clang copies structures with memcpy(), which must be seen as well; and kernels, which run twice, print once.
see_copies = $(if $(ANNOUNCED),$(CROSS)objcopy $(foreach f,memcpy memmove memset printf puts putchar,--redefine-sym $f=__tsan_$f))
# gcc may join what a loop reads into vectors that pass the end of an array: a report of what the program does not do.
# gcc announces no structure that is passed by value straight from memory. Where the call is joined into its caller there is none left.
# Where each variable of what was joined is at each instruction takes as long to write down as all else, and only debuggers ask.
join_calls = $(if $(findstring clang,$1),,$(if $(ANNOUNCED),$(if $(DEBUG),,-fno-var-tracking) -finline-small-functions -finline-functions -finline-limit=20000 $(foreach p,large-function-growth=2000 \
             large-stack-frame-growth=20000 inline-unit-growth=1000 early-inlining-insns=2000,--param=$p)))
no_wide_loops = $(if $(findstring clang,$1),,-fno-tree-loop-vectorize)
# What kernels call of the C library is the simulator's, which knows a kernel from the host.
see_library = $(CROSS)objcopy $(foreach f,malloc calloc realloc free printf puts putchar _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm __assert_fail exit abort clock,--redefine-sym $f=cudasim_in_$f)
# A copy of a structure stays whole, memcpy() is a call, a read is announced though a write follows it, and volatile has its own hooks.
see_accesses = $(if $(ANNOUNCED),$(if $(findstring clang,$1),-mllvm -tsan-instrument-read-before-write=1 -mllvm -tsan-distinguish-volatile=1,\
               --param=tsan-distinguish-volatile=1 -fno-tree-sra $(foreach f,memcpy memmove memset,-fno-builtin-$f)))
# A .cu is C++ once its launches and __shared__ variables are rewritten, after the preprocessor.
define compile_cu
@mkdir -p $(@D)
$(call say,compile)
$Q$(CUCXX) -E -x c++ $(CU_FLAGS) -D__CUDACC__ $(CU_INPUT) $(REAL) -MMD -MP -MF $(@:.o=.d) -MT $@ -include cuda_runtime.h $< -o $@.i
$Qbuild/cu2cpp $@.i $(@:.o=.ii) && $(RM) $@.i
$Q$(CUCXX) -x c++-cpp-output $(CU_FLAGS) $(UNSET) $(call see_accesses,$(CUCXX)) -c $(@:.o=.ii) -o $@
$(if $(ANNOUNCED),$Q$(see_copies) $@)
endef
endif

# The simulator itself is neither instrumented nor sanitized: it moves stacks and shuts memory.
# Files of check mode, those that count, and what stands in for them: see sim.h.
SIM_LOOKS  := hooks quick check unwritten site address shadow race race_cells race_host race_report held replay profile sample share
SIM_ABSENT := $(if $(ACCESS),nocheck nocount count,$(SIM_LOOKS) $(if $(TRAFFIC),nocount,count traffic)) $(if $(MPI),nccl/transport_local nccl/clique)
CLOCK     := $(call c_objects,$(filter-out %/main.c %_test.c,$(wildcard cudasim/clock/*.c)))
# With MPI each process has a rank; else all ranks are in one.
SIM_OBJ   := $(call c_objects,$(filter-out $(SIM_ABSENT:%=cudasim/%.c),$(wildcard cudasim/*.c cudasim/nccl/*.c $(if $(MPI),cudasim/mpi/*.c)))) $(CLOCK)
$(SIM_OBJ): private SANITIZE :=
$(SIM_OBJ): private MORE_WARN := $(STRICT)
# As in a kernel, no product is joined with the sum after it: the same words give the same numbers.
$B/obj/cudasim/curand_draw.o: private MORE_WARN := $(STRICT) -ffp-contract=off
$B/libcudasim.a: $(SIM_OBJ) | build/cu2cpp
	$(archive)
CU2CPP := $(wildcard cudasim/cu2cpp/*.c)
build/cu2cpp: $(CU2CPP) $(wildcard cudasim/cu2cpp/*.h)
	@mkdir -p $(@D)
	$(call say,compile)
	$Qgcc -std=gnu11 -O2 -g -I. $(WARN) $(CU2CPP) -o $@

# Headers of CUDA that are not simulated stop the compiler, also where NVIDIA's own are installed.
build/refused/made: cudasim/refused.txt cudasim/refused.sh
	@cudasim/refused.sh $(@D)

# Any CUDA program, with headers beside it: make cu FILE=path/x.cu (MPI=1: then tools/mpirun.sh runs it), and MORE="..." with the other files of the program.
# cu-build OUT=program only builds; CU_PATHS: where else headers are looked for.
# Made anew each time, for the headers of a file outside of the tree are not followed.
cu_source = $(call without_space,$(FILE))
cu_out    = $(if $(OUT),$(call without_space,$(OUT)),$B/cu/$(basename $(cu_source)))
CU_LIB     = $(SIM) $(addprefix $B/obj/kernels/,base.o blas.o threads.o)
CU_READY   = $(CU_LIB) build/refused/made
cu: cu-build
	@$(if $(SCHED),CUDASIM_SCHED=$(SCHED)) $(counted)$(if $(filter /%,$(cu_out)),,./)$(cu_out) $(ARGS)
cu-build: $(CU_READY)
	@$(if $(FILE),,echo "which one? make cu FILE=path/x.cu" >&2; exit 2)
	@test -f "$(cu_source)" || { echo "$(FILE): no such file" >&2; exit 2; }
	@for f in $(MORE); do test -f "$$f" || { echo "$$f: no such file" >&2; exit 2; }; done
	@mkdir -p $(dir $(cu_out))
ifeq ($(BACKEND),cuda)
	$Q$(NVCC) $(filter-out $(PER_THREAD) $(NO_NCCL),$(CU_INPUT)) $(DEFINES) $(CU_PATHS) -I$(dir $(cu_source)) $(CU_FLAGS) $(cu_source) $(MORE) -o $(cu_out) \
	    -Xcompiler -fopenmp $(filter-out -Wl%,$(LINK_LIBS)) -Xlinker -rpath,$(CUDA_LIB) $(if $(NCCL_SO),-Xlinker --as-needed $(NCCL_SO) -Xlinker -rpath$(comma)$(dir $(NCCL_SO)))
else
	$Qset -e; objects=; for source in $(cu_source) $(MORE); do \
	    o=$(cu_out).$$(echo "$$source" | tr / _); objects="$$objects $$o.o"; \
	    case "$$source" in *.c) $(CC) -std=gnu11 -O2 -g $(UNSET_SHOWS) $(CU_INPUT) $(DEFINES) $(CU_PATHS) -c $$source -o $$o.o; continue;; esac; \
	    $(CUCXX) -E -x c++ $(filter-out $(CU_WARN),$(CU_FLAGS)) -fopenmp -D__CUDACC__ -DCUDASIM_WHOLE_PROGRAM $(CU_INPUT) $(DEFINES) $(CU_PATHS) -I$(dir $(cu_source)) -Ibuild/refused \
	        -include cuda_runtime.h $$source -o $$o.i; \
	    build/cu2cpp $$o.i $$o.ii; \
	    $(CUCXX) -x c++-cpp-output $(filter-out $(CU_WARN),$(CU_FLAGS)) -fopenmp $(call see_accesses,$(CUCXX)) $(UNSET_SHOWS) $(call no_wide_loops,$(CUCXX)) $(call join_calls,$(CUCXX)) $(CU_SHOWN) \
          -fno-optimize-sibling-calls \
	        -c $$o.ii -o $$o.o; \
	    $(if $(ANNOUNCED),$(see_copies) $$o.o;) $(see_library) $$o.o; \
	    $(RM) $$o.i $$o.ii; \
	done; \
	$(CUCXX) $$objects $(CU_LIB) $(LINK_FLAGS) $(BLAS_$(BLAS)) $(MPI_LIBS) -ljansson -ldw -lm \
	    $(if $(DEBUG),,-Wl$(comma)--defsym=cudasim_all_cores=1) -o $(cu_out); \
	$(RM) $$objects
endif

# How long a recorded program (CUDASIM_RECORD=file) takes on a declared machine, at least. TRACE=file for ui.perfetto.dev
.PHONY: makespan
$B/bin/makespan: $B/obj/cudasim/clock/main.o $(CLOCK)
	$(link)
makespan: $B/bin/makespan
	@$(if $(RECORD),,echo "make makespan RECORD=file [MACHINE=machines/t4.json] [TRACE=file]" >&2; exit 2)
	@$< $(call in_quotes,$(RECORD)) --machine $(call in_quotes,$(or $(MACHINE),machines/t4.json)) $(if $(TRACE),--trace $(call in_quotes,$(TRACE)))

# Every .cu with a main() below a folder, and a table of what became of each: make foreign DIR=folder.
foreign: $(CU_READY)
	+@$(if $(DIR),,echo "which folder? make foreign DIR=folder" >&2; exit 2;) $(if $(SCHED),CUDASIM_SCHED=$(SCHED)) $(PYTHON) tools/foreign.py --dir $(call in_quotes,$(DIR)) \
	    $(if $(SECONDS),--seconds $(call in_quotes,$(SECONDS))) $(if $(JOBS),--jobs $(call in_quotes,$(JOBS))) \
	    $(if $(INCLUDE),--include $(call in_quotes,$(INCLUDE))) $(if $(ONLY),--only $(call in_quotes,$(ONLY))) $(if $(ARGS),--args=$(call in_quotes,$(ARGS))) $(if $(JSON),--json $(call in_quotes,$(JSON)))

# clang's own CUDA front end, for what a host compiler lets through: a kernel that calls a host
# function, a kernel called without <<< >>>. Both sides of each file are looked at, or of FILE=x.cu. A function that
# the rest of a stub will call may stand there.
LINTED ?= $(or $(cu_source),$(wildcard kernels/*.cu solutions/*/*.cu labs/*/*.cu))
LINT   := clang -x cuda -std=c++17 -nocudainc -nocudalib -fsyntax-only -Icudasim/include -I. \
          --cuda-gpu-arch=sm_70 -include cudasim/lint.h -Wall -Wextra -Wno-sign-compare -Wno-unused-function \
          -fno-optimize-sibling-calls -Wno-unknown-cuda-version $(if $(FILE),,-Werror)
lint:
	@bad=0; for f in $(LINTED); do $(LINT) --cuda-host-only $$f && $(LINT) --cuda-device-only $$f || bad=1; done; exit $$bad
	@echo "lint: good"

# What the kernels ask of the memory, as the simulator counts it; and that ops move what kernels/cost.h says.
profile-check:
	@$(MAKE) --no-print-directory ACCESS=1 profile-check-run
profile-check-run: $B/bin/train $B/bin/unit
	@$(MAKE) --no-print-directory cu-build FILE=cudasim/tests/strided.cu OUT=$B/cu/strided
	@$(MAKE) --no-print-directory cu-build FILE=cudasim/tests/vectors.cu OUT=$B/cu/vectors
	@cudasim/tests/profile_test.py $B/bin/train $B/cu/strided $B/cu/vectors
	@tools/unit.sh $B --filter 'cost/*'
