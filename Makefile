# Gradus: train a transformer step by step, with memory counted to the byte.
#
#   make demo            install what is missing, build, train a small GPT, show what it did
#   make test            prove that everything here works (about 5 minutes)
#
#   make lab01           build lab 01 from your files in labs/ and run it
#   make grade01         what your files are worth, and what to look at (CHECK=name, FROM=DIR, DEVICE=gpu)
#   make hint01 TASK=2   a hint, one more each time      make debug01 CHECK=name   gdb on a check
#   make train ARGS=...  train (ARGS=--help lists the options; FROM=labs takes your labs)
#   make table           time and memory of each technique, beside the published figures
#   make pareto          bytes and speed of every plan of lab 06, as a picture (FROM=labs: your choice)
#   make bench           speed and memory against PyTorch, where it is installed
#   make docs            the handbook, in build/docs/html/index.html
#   make handin01        pack your files to hand them in  make reset01   the stub again; yours is kept
#
#   make setup           only install what is missing        make clean    remove build/
#   make cu FILE=x.cu    run any CUDA program (ARGS=...)     make lint     host/device mistakes in .cu
#   make format          clang-format everything             make check    format, warnings, arrows
#
#   make grade-all LAB=01 IN=DIR OUT=DIR   grade a class (JOBS=n, SLURM=1): docs/instructors.md
#   make report OUT=DIR  its pages and scores.csv        make gradescope LAB=01  autograder.zip (also: autolab, classroom)
#   make handout LAB=01  what a student of that lab gets: no solution of it, no mutants, no hidden checks
#   make stubs           cut labs/ from solutions/           make prove    the long proofs (CI)
#   make gpu-check       all checks that need a real GPU     make gpu-pack what it takes, for elsewhere
#   make coverage        lines that tests run                make fuzz     feed the readers random files
#
# Settings: CC=clang  SAN=1 (sanitizers)  CHECKED=1 (NaN in freed memory)  WERROR=1
#           BLAS=onednn|openblas|none  OPT="-O0 -g"  FROM=labs|solutions|DIR  V=1
# CUDA:     BACKEND=sim|cuda (simulated, or nvcc)  CUDA_ARCH=sm_90  CUDA_HOME=DIR
#           CHECK=1 (the simulator looks at every access)  SCHED=reverse|random:N  DEBUG=1 (for gdb)

BACKEND ?= sim
FROM    ?= solutions
OPT     ?= $(if $(DEBUG),-O0 -g3,-O3 -g)
ARCH    ?= -march=native
ARGS    ?=
ifeq ($(origin CC),default)
CC      := gcc
endif
BLAS    ?= $(if $(filter x86_64,$(shell uname -m)),onednn,openblas)

# ------------------------------------------------------------------ below: nothing to set
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
comma := ,
empty :=
space := $(empty) $(empty)

# A setting that is mistyped is refused, not taken for none.
one_of = $(if $(filter-out $2,$($1)),$(error $1=$($1): one of $2))
$(call one_of,BACKEND,sim cuda)
$(call one_of,BLAS,onednn openblas none)
$(call one_of,DEVICE,cpu gpu)
$(if $(wildcard $(FROM)),,$(if $(filter labs solutions,$(FROM)),,$(error FROM=$(FROM): there is no such folder)))

# A handout has no part of these, and does not list them.
KITS_OWN := test prove check stubs grade-all report gradescope autolab classroom handout gpu-check gpu-pack coverage fuzz
ifneq ($(wildcard labs/.stubs),)
$(if $(filter $(KITS_OWN),$(MAKECMDGOALS)),$(error make $(filter $(KITS_OWN),$(MAKECMDGOALS)): the whole kit can, a handout cannot))
endif

# Of several goals that start a make of their own, each waits for the one before: they make the same files.
STARTS_MAKE := grade% debug% handin% demo test bench class-test handout-test profile-check
ifneq ($(and $(filter $(STARTS_MAKE),$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

# Each flavour has a folder of its own, so none of them ever needs a clean.
DEFAULT_BLAS := $(if $(filter x86_64,$(shell uname -m)),onednn,openblas)
FLAVOUR := $(subst $(space),-,$(strip \
  $(filter-out sim,$(BACKEND)) $(CUDA_ARCH) $(filter-out gcc,$(notdir $(CC))) $(if $(SAN),san) $(if $(filter 1,$(CHECK)),check) \
  $(if $(PACK),pack) $(if $(CHECKED),checked) $(if $(COVERAGE),coverage) $(if $(FUZZ),fuzz) $(filter-out $(DEFAULT_BLAS),$(BLAS)) \
  $(if $(filter-out -O3,$(filter -O%,$(OPT))),$(subst -,,$(filter -O%,$(OPT))))))
B := build$(if $(FLAVOUR),/$(FLAVOUR))

WARN := -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wdouble-promotion -Wvla \
        -Wstrict-prototypes -Wmissing-prototypes
KIT_WARN := -Wconversion -Wno-sign-conversion
SANITIZE := $(if $(FUZZ),-fsanitize=fuzzer-no-link )$(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
BLAS_onednn   := -ldnnl
BLAS_openblas := -lopenblas
BLAS_none     :=

CPPFLAGS += -I. -MMD -MP $(if $(filter none,$(BLAS)),,-DBLAS_$(shell echo $(BLAS) | tr a-z A-Z))
CPPFLAGS += $(if $(CHECKED),-DCHECKED)
CFLAGS   += -std=gnu11 $(OPT) $(ARCH) -fopenmp -fno-math-errno -fno-trapping-math $(WARN) \
            $(SANITIZE) $(if $(WERROR),-Werror) $(if $(COVERAGE),--coverage)
# clang finds the vector math library by a flag, writes the index by which lines are found only when
# told to, and warns of simd loops that it leaves as they are.
CFLAGS   += $(if $(findstring clang,$(CC)),-Wno-pass-failed -gdwarf-aranges $(if $(filter x86_64,$(shell uname -m)),-fveclib=libmvec))
LDFLAGS  += -fopenmp $(SANITIZE) $(if $(COVERAGE),--coverage)
LDLIBS   += $(BLAS_$(BLAS)) -ljansson -lm

# ---- CUDA: simulated by default, or by nvcc ------------------------------------------------
CUCXX    := $(subst clang,clang++,$(subst gcc,g++,$(CC)))
CU_WARN  := $(filter-out -Wstrict-prototypes -Wmissing-prototypes,$(WARN)) -Wno-sign-compare -Wno-unknown-pragmas
ifeq ($(BACKEND),cuda)
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc)))
NVCC      := $(CUDA_HOME)/bin/nvcc
ifeq ($(wildcard $(NVCC)),)
$(error BACKEND=cuda needs nvcc: set CUDA_HOME to the folder of the CUDA toolkit, or build without BACKEND)
endif
CUDA_LIB  := $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib))
CPPFLAGS  += -isystem $(CUDA_HOME)/include -DBACKEND_CUDA
CUFLAGS   := -std=c++17 $(if $(DEBUG),-O0 -G,-O3 -lineinfo) $(if $(CUDA_ARCH),-arch=$(CUDA_ARCH)) \
             -Xcompiler $(subst $(space),$(comma),-Wall -Wextra -Wno-sign-compare -Wno-unknown-pragmas) \
             $(if $(WERROR),-Werror all-warnings) -ccbin $(CUCXX)
# In a pack the libraries lie beside the program; what they need in turn is searched there too.
RPATH     := $(if $(PACK),-Wl$(comma)--disable-new-dtags$(comma)-rpath$(comma)'$$ORIGIN:$(CUDA_LIB)',-Wl$(comma)-rpath$(comma)$(CUDA_LIB))
LDLIBS    += -L$(CUDA_LIB) $(RPATH) -lcublas -lcudart -lstdc++
else
# Kernels run on stacks of their own, so a frame must not jump over the guard page below them. In
# check mode the compiler calls the simulator at each access, by ThreadSanitizer's names; that
# library itself is not linked. The simulator finds lines of source by the index of addresses.
CPPFLAGS  += -Ikernels/cudasim/include
CUFLAGS   := -std=c++17 $(if $(filter 1,$(CHECK)),-O1 -g -fsanitize=thread$(comma)undefined,$(OPT) $(ARCH)) \
             -gdwarf-4 -fno-math-errno -fno-trapping-math -fstack-clash-protection $(CU_WARN) $(if $(WERROR),-Werror)
LDFLAGS   += $(if $(filter 1,$(CHECK)),-fsanitize=undefined)
CUFLAGS   += $(if $(findstring clang,$(CC)),-Qunused-arguments -gdwarf-aranges)
SIM       := $B/libcudasim.a
LDLIBS    += -ldw -lstdc++
CU_TOOL   := build/cu2cpp
# clang copies structures with memcpy(), which check mode must see as well.
see_copies = $(if $(filter 1,$(CHECK)),$Qobjcopy $(foreach f,memcpy memmove memset,--redefine-sym $f=__tsan_$f))
endif

# ---- what there is ---------------------------------------------------------------------
# Ops are compiled once per precision; these work on floats or are no ops at all.
PLAIN   := base blas gemm ops adamw sumsq scale unscale
OPS     := $(filter-out $(PLAIN) %_test,$(basename $(notdir $(wildcard kernels/*.c))))
KERNELS := $(PLAIN:%=$B/obj/kernels/%.o) $(foreach p,f32 f16 bf16,$(OPS:%=$B/obj/kernels/%.$p.o))
# The same for the GPU: of an op.cu here or in a lab folder, one object or three.
objects  = $(if $(filter $(PLAIN),$(notdir $1)),$1.o,$1.f32.o $1.f16.o $1.bf16.o)
GPU_OBJ := $(foreach f,$(wildcard kernels/*.cu),$(call objects,$B/gpu/$(basename $f)))
COMMON  := $(patsubst %.c,$B/obj/%.o,$(filter-out common/train.c common/absent.c %_test.c,$(wildcard common/*.c)))
# Programs of their own, with a main(): the rest is a library.
GRADER  := $(patsubst %.c,$B/obj/%.o,$(filter-out grader/check.c grader/check_run.c grader/probe.c grader/grade.c grader/show.c grader/contained.c %_test.c,$(wildcard grader/*.c)))
TESTS   := $(patsubst %.c,$B/obj/%.o,$(wildcard kernels/*_test.c common/*_test.c grader/*_test.c))
HOLES   := 00_bytes/bytes.c 01_loop/loop.c $(addprefix 02_kernels/,adamw.cu crossentropy.cu layernorm.cu sumsq.cu) \
           03_accumulate/accumulate.c 04_checkpoint/checkpoint.c $(addprefix 05_fp16/,cast.cu unscale.cu scaler.c mixed.c) 06_fit/plan.c
LABS    := $(sort $(notdir $(wildcard labs/[0-9]*)))
STUBS   := $(patsubst solutions/%,labs/%,$(wildcard solutions/*/*.c solutions/*/*.cu))

.PHONY: help setup demo test prove check format docs bench table coverage train stubs fuzz clean all
help:
	@sed -n '$(if $(wildcard labs/.stubs),/^#   make test/d; /^#   make grade-all/$(comma)/^#$$/d; s/ *make check .*//; )s/^# \{0,1\}//p; /^BACKEND/q' Makefile
	@tools/labs.py

all: $B/bin/train $B/bin/unit

# ---- objects ---------------------------------------------------------------------------
$B/obj/kernels/%.f32.o:  CPPFLAGS += -DREAL_F32
$B/obj/kernels/%.f16.o:  CPPFLAGS += -DREAL_F16
$B/obj/kernels/%.bf16.o: CPPFLAGS += -DREAL_BF16
$(KERNELS) $(COMMON): CFLAGS += $(KIT_WARN)
# What is built is said in a word; V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $1 $(@:$B/%=%)")
define compile
@mkdir -p $(@D)
$(call say,compile)
$Q$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
endef
$B/obj/kernels/%.f32.o: kernels/%.c
	$(compile)
$B/obj/kernels/%.f16.o: kernels/%.c
	$(compile)
$B/obj/kernels/%.bf16.o: kernels/%.c
	$(compile)
$B/obj/%.o: %.c
	$(compile)

# A .cu is C++ once its launches and __shared__ variables are rewritten, after the preprocessor.
# compile_cu FLAGS
ifeq ($(BACKEND),cuda)
define compile_cu
@mkdir -p $(@D)
$(call say,compile)
$Q$(NVCC) $(CPPFLAGS:-MMD=-MMD -MF $(@:.o=.d)) $1 $(CUFLAGS) -c $< -o $@
endef
else
define compile_cu
@mkdir -p $(@D)
$(call say,compile)
$Q$(CUCXX) -E -x c++ $(CUFLAGS) -D__CUDACC__ $(CPPFLAGS) $1 -MF $(@:.o=.d) -MT $@ -include cuda_runtime.h $< -o $@.i
$Qbuild/cu2cpp $@.i $(@:.o=.ii) && $(RM) $@.i
$Q$(CUCXX) -x c++-cpp-output $(CUFLAGS) -c $(@:.o=.ii) -o $@
$(if $(filter 1,$(CHECK)),$(see_copies) $@)
endef
endif
$B/gpu/%.f32.o $B/lab/%.f32.o:   CPPFLAGS += -DREAL_F32
$B/gpu/%.f16.o $B/lab/%.f16.o:   CPPFLAGS += -DREAL_F16
$B/gpu/%.bf16.o $B/lab/%.bf16.o: CPPFLAGS += -DREAL_BF16
$B/gpu/%.f32.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/gpu/%.f16.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/gpu/%.bf16.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/gpu/%.o: %.cu $(CU_TOOL)
	$(call compile_cu)

# The simulator itself is neither instrumented nor sanitized: it moves stacks and shuts memory.
CU2CPP  := $(wildcard kernels/cudasim/cu2cpp/*.c)
CHECKER := $(addprefix kernels/cudasim/,hooks.c check.c shadow.c race.c profile.c)
SIM_SRC := $(filter-out $(if $(filter 1,$(CHECK)),%/nocheck.c,$(CHECKER)),$(wildcard kernels/cudasim/*.c))
SIM_OBJ := $(SIM_SRC:%.c=$B/obj/%.o)
$(SIM_OBJ): SANITIZE :=
$(SIM_OBJ): CFLAGS += $(KIT_WARN)
$B/libcudasim.a: $(SIM_OBJ) | build/cu2cpp
	@$(RM) $@
	$(call say,archive)
	$Q$(AR) rcs $@ $^
build/cu2cpp: $(CU2CPP) $(wildcard kernels/cudasim/cu2cpp/*.h)
	@mkdir -p $(@D)
	$(call say,compile)
	$Qgcc -std=gnu11 -O2 -g -I. $(WARN) $(CU2CPP) -o $@

$B/libkit.a: $(KERNELS) $(COMMON) $(GPU_OBJ)
	@$(RM) $@
	$(call say,archive)
	$Q$(AR) rcs $@ $^

# ---- lab files: from solutions/, from labs/, from any folder like it ---------------------
# lab_objects FOLDERS [HOLES]: for each hole an object, or three of an op.cu, compiled from the first of
# the folders that has the file; where none has, what stands in for it. The solution's part is compiled
# in solutions/ only.
in_folder    = $(firstword $(foreach f,$1,$(wildcard $f/$2)))
of_file      = $(if $(filter %.cu,$1),$(call objects,$B/lab/$(basename $1)),$B/lab/$(basename $1).o)
lab_objects  = $(foreach h,$(or $2,$(HOLES)),$(if $(call in_folder,$1,$h),$(call of_file,$(call in_folder,$1,$h)),$B/absent/$(basename $(notdir $h)).o))
$B/lab/solutions/%.o: solutions/%.c
	@mkdir -p $(@D)
	$(call say,compile)
	$Q$(CC) $(CPPFLAGS) -DSOLUTION $(CFLAGS) -c $< -o $@
$B/lab/%.o: %.c
	$(compile)
$B/lab/solutions/%.f32.o: solutions/%.cu $(CU_TOOL)
	$(call compile_cu,-DSOLUTION)
$B/lab/solutions/%.f16.o: solutions/%.cu $(CU_TOOL)
	$(call compile_cu,-DSOLUTION)
$B/lab/solutions/%.bf16.o: solutions/%.cu $(CU_TOOL)
	$(call compile_cu,-DSOLUTION)
$B/lab/solutions/%.o: solutions/%.cu $(CU_TOOL)
	$(call compile_cu,-DSOLUTION)
$B/lab/%.f32.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/lab/%.f16.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/lab/%.bf16.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/lab/%.o: %.cu $(CU_TOOL)
	$(call compile_cu)
$B/absent/%.o: common/absent.c
	@mkdir -p $(@D)
	$(call say,compile)
	$Q$(CC) $(CPPFLAGS) -DABSENT_$* -DABSENT=$* $(CFLAGS) -c $< -o $@

define link
@mkdir -p $(@D)
$(call say,link   )
$Q$(CC) $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) $(LIBS) -o $@
endef
SOLVED := $(call lab_objects,solutions)
# In a handout the labs that have no solution are the student's own.
ALL_LABS := $(call lab_objects,solutions labs)
CHOSEN := $(call lab_objects,$(FROM:solutions=solutions labs))
TRAIN  := $B/bin/train$(if $(filter-out solutions,$(FROM)),-$(subst /,_,$(FROM)))
$B/bin/train: $B/obj/common/train.o $(ALL_LABS) $B/libkit.a $(SIM)
	$(link)
ifneq ($(TRAIN),$B/bin/train)
$(TRAIN): $B/obj/common/train.o $(CHOSEN) $B/libkit.a $(SIM)
	$(link)
endif
# What a student has after lab 02, for the tests: options that need later labs say so.
after_02 = $(foreach h,$(HOLES),$(if $(filter 00_% 01_% 02_%,$h),$(filter $(call of_file,solutions/$h),$(SOLVED)),$B/absent/$(basename $(notdir $h)).o))
$B/bin/train-02: $B/obj/common/train.o $(after_02) $B/libkit.a $(SIM)
	$(link)
$B/bin/unit: LIBS := -lcriterion -lseccomp
$B/bin/unit: $(TESTS) $(SOLVED) $(GRADER) $B/libkit.a $(SIM)
	$(link)

# ---- running ---------------------------------------------------------------------------
# A hole that is not filled is no error of the build: status 77 ends quietly.
quiet77 = ; status=$$?; [ $$status -eq 77 ] || exit $$status
train: $(TRAIN)
	@$(TRAIN) $(ARGS) $(quiet77)

# labNN takes the student's file for lab NN and the solutions for all others; those of the student too,
# with OWN=1 or where there are no solutions.
OWN    ?= $(if $(wildcard solutions/*/*),,1)
earlier = $(if $(OWN),labs solutions,solutions)
others  = $(call lab_objects,$(earlier),$(filter-out $1/%,$(HOLES)))
own     = $(call lab_objects,labs,$(filter $1/%,$(HOLES))) $(call others,$1)
# For the programs of a lab: FROM=labs takes that lab's files from labs/, and the others' solutions.
mine    = $(if $(filter labs,$(FROM)),$(call own,$1),$(CHOSEN))
ARGS_00 := --measure_only
ARGS_03 := --documents --per_device_train_batch_size 2 --gradient_accumulation_steps 4
ARGS_04 := --gradient_checkpointing
ARGS_05 := --fp16 --n_layer 2 --n_head 2 --n_embd 32 --n_positions 32 --per_device_train_batch_size 4
ARGS_06 := --fit 24 --effective_batch 16
define lab_rules
.PHONY: lab$2
lab$2: $B/bin/lab$2
	@$$< $(if $(wildcard labs/$1/*.cu),--device gpu --eval_fraction 0) $(ARGS_$2) --max_steps 20 --logging_steps 5 $$(ARGS) $$(quiet77)
$B/bin/lab$2: $B/obj/common/train.o $(call own,$1) $B/libkit.a $$(SIM)
	$$(link)
endef
$(foreach l,$(LABS),$(eval $(call lab_rules,$l,$(firstword $(subst _, ,$l)))))

# Any CUDA program, with headers beside it: make cu FILE=path/x.cu. cu-build OUT=program only builds.
# Made anew each time, for the headers of a file outside of the tree are not followed.
CU_OUT = $(or $(OUT),$B/cu/$(basename $(FILE)))
CU_LIB = $(SIM) $B/obj/kernels/base.o $B/obj/kernels/blas.o
cu: cu-build
	@$(if $(SCHED),CUDASIM_SCHED=$(SCHED)) $(abspath $(CU_OUT)) $(ARGS)
cu-build: $(CU_LIB)
	@$(if $(FILE),,echo "which one? make cu FILE=path/x.cu" >&2; exit 2)
	@test -f "$(FILE)" || { echo "$(FILE): no such file" >&2; exit 2; }
	@mkdir -p $(dir $(CU_OUT))
ifeq ($(BACKEND),cuda)
	$Q$(NVCC) $(filter-out -MMD -MP,$(CPPFLAGS)) $(DEFINES) -I$(dir $(FILE)) $(CUFLAGS) $(FILE) -o $(CU_OUT) \
	    -Xcompiler -fopenmp $(filter-out -Wl%,$(LDLIBS)) -Xlinker -rpath,$(CUDA_LIB)
else
	$Q$(CUCXX) -E -x c++ $(filter-out $(CU_WARN),$(CUFLAGS)) -D__CUDACC__ $(filter-out -MMD -MP,$(CPPFLAGS)) $(DEFINES) -I$(dir $(FILE)) \
	    -include cuda_runtime.h $(FILE) -o $(CU_OUT).i
	$Qbuild/cu2cpp $(CU_OUT).i $(CU_OUT).ii
	$Q$(CUCXX) -x c++-cpp-output $(filter-out $(CU_WARN),$(CUFLAGS)) -Wall -Wextra -Wno-sign-compare -c $(CU_OUT).ii -o $(CU_OUT).o
	$(if $(filter 1,$(CHECK)),$(see_copies) $(CU_OUT).o)
	$Q$(CUCXX) $(CU_OUT).o $(CU_LIB) $(LDFLAGS) $(BLAS_$(BLAS)) -ldw -lm -o $(CU_OUT)
	@$(RM) $(CU_OUT).i $(CU_OUT).ii $(CU_OUT).o
endif
.PHONY: cu cu-build lint gpu-pack gpu-check

# clang's own CUDA front end, for what a host compiler lets through: a kernel that calls a host
# function, a kernel called without <<< >>>. Both sides of each file are looked at.
LINTED ?= $(wildcard kernels/*.cu solutions/*/*.cu labs/*/*.cu)
LINT   := clang -x cuda -std=c++17 -nocudainc -nocudalib -fsyntax-only -Ikernels/cudasim/include -I. \
          --cuda-gpu-arch=sm_70 -include kernels/cudasim/lint.h -Wall -Wextra -Wno-sign-compare \
          -Wno-unknown-cuda-version -Werror
lint:
	@for f in $(LINTED); do for side in host device; do \
	    $(LINT) $(if $(findstring solutions/,$(LINTED)),-DSOLUTION) --cuda-$$side-only $$f || exit; done; done
	@echo "lint: good"

setup:
	@tools/setup.sh

# Set-up first, then make anew: the tools that this file looks for may just have come.
demo: setup
	@$(MAKE) --no-print-directory demo-run
demo-run: $B/bin/train
	@tools/demo.sh $B/bin/train

# ---- grading -----------------------------------------------------------------------------
# gradeNN: the judge (labs/NN/tests.c in Criterion) and the probe (the submission's objects with the
# kit) are two programs. grade compiles the submission in its sandbox by the recipes written here.
#   FROM=DIR a folder with the lab's files   CHECK_NAME through CHECK=name   SEED=hex   OWN=1
SUBMITTED := $(if $(filter file default undefined,$(origin FROM)),labs,$(FROM))
GRADE_LIB := $(addprefix $B/obj/grader/,wire.o picture.o record.o $(notdir $(patsubst %.c,%.o,$(filter-out %_test.c,$(wildcard grader/sandbox*.c)))))
# No lab's file is in a judge, neither a student's nor a solution: a handout has none of those to come.
NO_LABS := $(call lab_objects,)
$B/bin/grade: LIBS := -lseccomp
$B/bin/grade: $(addprefix $B/obj/grader/,grade.o submission.o symbols.o) $(GRADE_LIB) $(NO_LABS) $B/libkit.a $(SIM)
	$(link)
# Runs a program as a container would, for tests.
$B/bin/contained: LIBS := -lseccomp
$B/bin/contained: $B/obj/grader/contained.o $B/obj/kernels/base.o
	$(link)
# Shows a record again, or writes it as JUnit XML: build/bin/record FILE [--junit FILE]
$B/bin/record: $(addprefix $B/obj/grader/,show.o record.o record_read.o) $B/obj/common/files.o $B/obj/kernels/base.o
	$(link)
$B/judge/%: LIBS := -lcriterion -lseccomp
$B/judge/%: $B/obj/labs/%/tests.o $(addprefix $B/obj/grader/,check.o check_run.o compare.o reference.o reference_ops.o) $(GRADE_LIB) $(NO_LABS) $B/libkit.a $(SIM)
	$(link)
HEADERS_SUM = $(shell cat kernels/*.h kernels/*.cuh common/*.h kernels/cudasim/include/*.h 2>/dev/null | sha256sum | cut -c1-16)
GRADE_CPP   = $(filter-out -MMD -MP -I%,$(CPPFLAGS)) -I$(CURDIR) $(if $(filter cuda,$(BACKEND)),,-I$(CURDIR)/kernels/cudasim/include) $(if $(filter solutions,$(SUBMITTED)),-DSOLUTION)
# GRADE_CC compiles the submission, where it is to be another compiler than that of the kit.
GRADE_CC   ?= $(CC)
GRADE_CXX   = $(subst clang,clang++ -Qunused-arguments -gdwarf-aranges,$(subst gcc,g++,$(GRADE_CC)))
RECIPES    := $B/grade$(if $(filter-out $(CC),$(GRADE_CC)),-$(GRADE_CC))
GRADE_C     = $(GRADE_CC) $(GRADE_CPP) $(CFLAGS) $(if $(findstring clang,$(GRADE_CC)),-gdwarf-aranges) {define} -c {in} -o {out}
GRADE_CU    = $(GRADE_CXX) -E -x c++ $(CUFLAGS) -D__CUDACC__ $(GRADE_CPP) {define} -include cudasim_sealed.h {in} -o {out}.i && \
              $(CURDIR)/build/cu2cpp {out}.i {out}.ii && $(GRADE_CXX) -x c++-cpp-output $(CUFLAGS) $(if $(findstring clang,$(GRADE_CC)),-fno-sanitize=function) -c {out}.ii -o {out} \
              $(if $(filter 1,$(CHECK)),&& objcopy $(foreach f,memcpy memmove memset,--redefine-sym $f=__tsan_$f) {out})
ifeq ($(BACKEND),cuda)
GRADE_CU    = $(NVCC) $(GRADE_CPP) $(CUFLAGS) {define} -c {in} -o {out}
endif
# A machine with a GPU and nvcc grades on it as well, in rows without points; GPU= leaves that out.
GPU ?= $(if $(wildcard /dev/nvidiactl),$(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc))
# What a probe is linked from beside the submission: always of objects, of the rest in libraries what is
# used. So nothing is in a probe that can do or count what the lab asks for, and is not needed there.
probe_always = $(addprefix $B/obj/grader/,probe.o wire.o picture.o probes/$1.o)
probe_rest   = $(addprefix $B/obj/grader/probes/,training.o watch.o profile.o) $(call others,$1)
probe_libs   = $B/grade/$1$(if $(OWN),-own).a $B/libkit.a $(SIM)
grade_parts  = $(addprefix $(CURDIR)/,$(call probe_always,$1) $(call probe_libs,$1))
quoted       = $(subst $(space),$(comma),$(foreach f,$1,"$f"))
# hidden_of LAB: the instructor's own checks of it, where there are some (HIDDEN=DIR: kept elsewhere).
HIDDEN   ?= grader/hidden
hidden_of = $(patsubst %.c,$B/obj/%.o,$(wildcard $(HIDDEN)/$1.c))
define grade_rules
.PHONY: grade$2 debug$2 hint$2 grade$2-run handin$2 reset$2
$B/judge/$1: $(call hidden_of,$1) $B/judge/$1.hidden
# Changes with the list, so that checks which are taken away are gone from the judge too.
$B/judge/$1.hidden: FORCE
	@mkdir -p $$(@D)
	@echo '$(call hidden_of,$1)' | cmp -s - $$@ || echo '$(call hidden_of,$1)' >$$@
handin$2:
	@tools/handin.py --lab $1 $$(if $$(NAME),--name '$$(NAME)') $$(if $$(ANYWAY),--anyway)
reset$2:
	@tools/reset.sh $1 $$(FILE)
$B/grade/$1$(if $(OWN),-own).a: $(call probe_rest,$1)
	@mkdir -p $$(@D)
	@$$(RM) $$@
	$$(call say,archive)
	$$Q$$(AR) rcs $$@ $$^
$(RECIPES)/$1.json: $(patsubst $(CURDIR)/%,%,$(call grade_parts,$1)) FORCE
	@mkdir -p $$(@D) build/cache
	@printf '{"c": "%s",\n"cu": "%s",\n"link": "%s",\n"headers": "%s",\n"read": [%s],\n"linked": [%s]}\n' '$$(GRADE_C)' '$$(GRADE_CU)' \
	    '$$(CC) {objects} -Wl$$(comma)--start-group $(call grade_parts,$1) -Wl$$(comma)--end-group $$(LDFLAGS) $$(LDLIBS) -o {out}' '$$(HEADERS_SUM)' \
	    '$(call quoted,$(CURDIR)/kernels $(CURDIR)/common $(CURDIR)/build/cu2cpp $(CUDA_HOME))' '$(call quoted,$(call grade_parts,$1) $(CUDA_HOME))' >$$@
grade$2 debug$2:
	@$(if $(wildcard labs/$1/*.cu),$$(if $$(GPU),$$(MAKE) --no-print-directory BACKEND=cuda build/cuda/grade/$1.json))
	@$$(MAKE) --no-print-directory CHECK=$(if $(wildcard labs/$1/*.cu),1) CHECK_NAME='$$(filter-out 1,$$(CHECK))' $$@-run
grade$2-run: $B/bin/grade $B/judge/$1 $(RECIPES)/$1.json
	@mkdir -p build/grades
	@$$(if $$(DEVICE),GRADE_DEVICE=$$(DEVICE)) $B/bin/grade --lab $1 --from $$(or $$(wildcard $$(SUBMITTED)/$1),$$(SUBMITTED)) --judge $B/judge/$1 --plan labs/$1/grade.json \
	    --recipes $(RECIPES)/$1.json --cache build/cache --output build/grades/$$(if $$(CHECK_NAME),one-)$$(if $$(filter labs,$$(SUBMITTED)),,other-)$1.json $$(if $$(CHECK_NAME),--check '$$(CHECK_NAME)') \
	    $$(if $$(SEED),--seed $$(SEED)) $$(if $$(JUNIT),--junit $$(JUNIT)) $$(if $$(MIN_SANDBOX),--min-sandbox $$(MIN_SANDBOX)) \
	    $(if $(wildcard labs/$1/*.cu),$$(if $$(GPU),--gpu-recipes build/cuda/grade/$1.json))
debug$2-run: $B/bin/grade $B/judge/$1 $(RECIPES)/$1.json
	@$$(if $$(CHECK_NAME),,echo "which check? make debug$2 CHECK=name" >&2; exit 2)
	@mkdir -p build/debug
	@$$(if $$(DEVICE),GRADE_DEVICE=$$(DEVICE)) $B/bin/grade --lab $1 --from $$(or $$(wildcard $$(SUBMITTED)/$1),$$(SUBMITTED)) --judge $B/judge/$1 --plan labs/$1/grade.json \
	    --recipes $(RECIPES)/$1.json --cache build/cache --output build/debug/record.json --check '$$(CHECK_NAME)' --debug build/debug $$(if $$(SEED),--seed $$(SEED))
	@SOURCE=$$(or $$(wildcard $$(SUBMITTED)/$1),$$(SUBMITTED)) sh build/debug/command
hint$2:
	@tools/hint.sh $1 '$$(TASK)'
endef
GRADED := $(patsubst labs/%/tests.c,%,$(wildcard labs/*/tests.c))
$(foreach l,$(GRADED),$(eval $(call grade_rules,$l,$(firstword $(subst _, ,$l)))))
# ---- a class -------------------------------------------------------------------------------
#   LAB=03 IN=DIR OUT=DIR   JOBS=n  ONLY=failed  REGRADE=name|all  MIN_SANDBOX=1  SECRET=FILE
#   SLURM=1  SHARDS=n  SBATCH='--partition=x'
in_quotes = '$(subst ','\'',$1)'
lab_of = $(notdir $(firstword $(wildcard labs/$1 labs/$1_*)))
GRADED_LAB = $(if $(LAB),$(call lab_of,$(LAB)))
.PHONY: grade-all grade-all-run handout class-test handout-test bench-class class-test-programs
grade-all:
	@$(if $(and $(GRADED_LAB),$(IN),$(OUT)),,echo "make grade-all LAB=01 IN=folder OUT=folder, for a lab of labs/" >&2; exit 2)
	@$(MAKE) --no-print-directory CHECK=$(if $(wildcard labs/$(GRADED_LAB)/*.cu),1) grade-all-run
grade-all-run: $(if $(GRADED_LAB),$B/bin/grade $B/judge/$(GRADED_LAB) $B/grade/$(GRADED_LAB).json)
	@tools/grade_all.py --lab $(GRADED_LAB) --build $B --in=$(call in_quotes,$(IN)) --out=$(call in_quotes,$(OUT)) $(if $(JOBS),--jobs $(JOBS)) \
	    $(if $(ONLY),--only $(ONLY)) $(if $(REGRADE),--regrade=$(call in_quotes,$(REGRADE))) $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX)) \
	    $(if $(SECRET),--secret=$(call in_quotes,$(SECRET))) $(if $(SLURM),--slurm $(or $(SHARDS),8) --sbatch '$(SBATCH)')
handout:
	@$(if $(GRADED_LAB),,echo "make handout LAB=01 [SOLUTIONS=none] [OUT=folder]" >&2; exit 2)
	@tools/handout.py --lab $(GRADED_LAB) --out '$(or $(OUT),build/handout/$(GRADED_LAB))' $(if $(filter none,$(SOLUTIONS)),--no-solutions)
# What another system grades with: build/gradescope/autograder.zip and the like, for LAB=. SECRET=FILE
.PHONY: gradescope autolab classroom report
gradescope autolab classroom:
	@$(if $(GRADED_LAB),,echo "make $@ LAB=01, for a lab of labs/" >&2; exit 2)
	@tools/pack_grader.py $@ $(GRADED_LAB) --out '$(or $(OUT),build/$@)' $(if $(SECRET),--secret '$(SECRET)') $(if $(MIN_SANDBOX),--min-sandbox $(MIN_SANDBOX))
# Pages of a class that was graded into OUT, and scores.csv beside them.
report:
	@$(if $(OUT),,echo "make report OUT=folder of make grade-all" >&2; exit 2)
	@tools/export.py scores $(call in_quotes,$(OUT)/records) --output $(call in_quotes,$(OUT)/scores.csv)
	@tools/report.py $(call in_quotes,$(OUT)) $(ARGS)
# A class of hand-ins with known scores, graded twice, once with kill -9 every few seconds.
class-test: class-test-programs
	@tools/class_test.py $(ARGS)
# What goes out and comes back: handout, hand-in, reset, hidden checks.
handout-test: class-test-programs
	@tools/hand_in_reader_test.py
	@tools/handout_test.py
# Hand-ins a minute, and what a judge has at most.
bench-class: class-test-programs
	@tools/class_test.py --once --lab 00_bytes --hand-ins 40 --out build/class-bench
class-test-programs:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS='00_bytes 01_loop'

# Everything that tools/grader_proof.py runs.
graders:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS='$(foreach l,$(GRADED),$(if $(wildcard labs/$l/*.cu),,$l))'
	@$(MAKE) --no-print-directory CHECK=1 graders-run GRADED_LABS='$(foreach l,$(GRADED),$(if $(wildcard labs/$l/*.cu),$l))'
graders-run: $B/bin/grade $B/bin/contained $(foreach l,$(GRADED_LABS),$B/judge/$l $(RECIPES)/$l.json)
.PHONY: FORCE graders graders-run
FORCE:

# ---- proofs ----------------------------------------------------------------------------
# make test is what a user runs; make prove is what takes longer and CI runs as well.
test: setup
	@$(MAKE) --no-print-directory test-run
test-run: $B/bin/unit $B/bin/train $B/bin/train-02 oracle graders
	@echo "unit tests"
	@tools/unit.sh $B
	@echo "labs: stubs earn nothing, solutions everything"
	@tools/grader_proof.py stubs solutions --seeds 1
	@echo "labs: solutions everything on the simulated GPU too"
	@tools/grader_proof.py solutions --seeds 1 --device gpu

# The kit's GPT-2 against Hugging Face's, where PyTorch and transformers are installed.
PYTHON ?= python3
.PHONY: oracle demo-run test-run print-build
print-build:
	@echo $B
oracle: $B/bin/oracle
	@$(PYTHON) grader/oracle.py $B/bin/oracle
$B/bin/oracle: $B/obj/grader/oracle/oracle.o $(SOLVED) $B/libkit.a $(SIM)
	$(link)

prove:
	@tools/prove.sh

# ---- check -----------------------------------------------------------------------------
SOURCES := $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null || \
             find kernels common grader labs solutions -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
FORMATTED := $(filter-out labs/%,$(SOURCES))
check: check-format check-arrows check-stubs check-headers check-warnings check-table
	@echo "check: all good"
.PHONY: check-format check-arrows check-stubs check-headers check-warnings check-table
check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && echo "format: good"
# The simulator includes its headers by the names that CUDA's have.
check-arrows:
	@awk -f tools/arrows.awk $(filter-out kernels/cudasim/% grader/attacks/%,$(filter %.c %.h %.cu %.cuh,$(SOURCES))) && echo "arrows: good"
# What stands in for CUDA's headers is read by both languages; what is inside of them by one alone.
CUDA_HEADERS := $(addprefix kernels/cudasim/include/,cuda_runtime.h cuda_fp16.h cuda_bf16.h cublas_v2.h)
check-headers:
	@for h in $(CUDA_HEADERS) $(filter-out kernels/cudasim/include/% kernels/cudasim/lint%,$(filter %.h,$(SOURCES))); do \
	    $(CC) -I. -Ikernels/cudasim/include -std=gnu11 -fopenmp -fsyntax-only -Wall -Wextra -x c $$h || exit; done
	@for h in $(CUDA_HEADERS) $(filter-out %_mask.h %_head.h kernels/cudasim/%,$(filter kernels/%.h,$(SOURCES))); do \
	    g++ -I. -Ikernels/cudasim/include -std=c++17 -fopenmp -fsyntax-only -x c++ $$h || exit; done
	@echo "headers: each compiles alone, those of kernels/ as C++ too"
# A handout has neither the page nor what it is made from.
check-table:
	@! test -e docs/instructors_table.md || tools/check_table.py --check
check-stubs:
	@for s in $(STUBS); do unifdef -x2 -USOLUTION solutions/$${s#labs/} | diff -u $$s - \
	    || { echo "$$s is not what its solution generates: make stubs"; exit 1; }; done
	@! grep -rn SOLUTION labs || { echo "a marker leaked into labs/"; exit 1; }
	@grep -oh 'labs/[^:]*:[0-9]*: TODO: task [0-9]' labs/*/README.md | while IFS=': ' read -r file line _ _ task; do \
	    sed -n $${line}p $$file | grep -q "task $$task:" || { echo "$$file:$$line is not of task $$task, as its page says"; exit 1; }; done
	@echo "stubs: current"
check-warnings: $(CU_TOOL)
	@tools/warnings.sh $(if $(filter none,$(BLAS)),,BLAS_$(shell echo $(BLAS) | tr a-z A-Z))

format:
	clang-format -i $(FORMATTED)

# A student's work is never overwritten: labs/ must be as committed, or not there.
stubs:
	@git diff --quiet HEAD -- labs 2>/dev/null || { \
	    echo "labs/ has changes that are not committed: not overwriting them"; exit 1; }
	@for s in $(STUBS); do mkdir -p $$(dirname $$s); \
	    unifdef -x2 -USOLUTION -o $$s solutions/$${s#labs/}; [ $$? -le 1 ] || exit 1; echo $$s; done

# ---- measuring, documenting --------------------------------------------------------------
$B/bin/bench: $B/obj/common/bench/bench.o $(ALL_LABS) $B/libkit.a $(SIM)
	$(link)
# bench times steps, bench-ops each op by itself; DEVICE=gpu: on the GPU (BACKEND=cuda: a real one).
$B/bin/bench-ops: $B/obj/common/bench/ops.o $B/obj/common/bench/cases.o $B/obj/common/bench/timing.o $(ALL_LABS) $B/libkit.a $(SIM)
	$(link)
# The series of experiments, each row a run: SHORT=1, DEVICE=gpu, SIZE=seeds (on a real GPU).
table: $B/bin/train
	@tools/table.py $B/bin/train $(if $(SHORT),--short) $(if $(DEVICE),--device $(DEVICE)) $(if $(SIZE),--size $(SIZE)) $(ARGS)
# Every plan of lab 06, and which of them plan.c of FROM chooses: ARGS="--fit 24 --effective_batch 16".
PARETO := $B/bin/pareto$(if $(filter-out solutions,$(FROM)),-$(subst /,_,$(FROM)))
$(PARETO): $B/obj/common/bench/pareto.o $(call mine,06_fit) $B/libkit.a $(SIM)
	$(link)
pareto: $(PARETO)
	@tools/pareto.py $(PARETO) $(if $(DEVICE),--device $(DEVICE)) $(ARGS) $(quiet77)
.PHONY: pareto
$B/bin/bench-techniques: $B/obj/common/bench/techniques.o $(ALL_LABS) $B/libkit.a $(SIM)
	$(link)
bench: $B/bin/bench bench-techniques
	@$(PYTHON) common/bench/bench.py $B/bin/bench $(if $(DEVICE),--device $(DEVICE)) $(ARGS)
	@$(if $(ARGS)$(DEVICE)$(wildcard labs/.stubs),,$(MAKE) --no-print-directory bench-class)
# What accumulation and checkpointing cost.
bench-techniques: $B/bin/bench-techniques
	@$B/bin/bench-techniques $(if $(DEVICE),--device $(DEVICE))
bench-ops: $B/bin/bench-ops
	@$B/bin/bench-ops $(if $(DEVICE),--device $(DEVICE)) $(ARGS)
bench-programs: $B/bin/bench $B/bin/bench-ops
# That they run and count right, in the simulator as well.
bench-check: $B/bin/bench $B/bin/bench-ops $B/bin/bench-techniques
	@OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 $(PYTHON) common/bench/check.py $^
# What the kernels ask of the memory, as check mode counts it.
profile-check:
	@$(MAKE) --no-print-directory CHECK=1 profile-check-run
profile-check-run: $B/bin/train
	@$(MAKE) --no-print-directory cu-build FILE=kernels/cudasim/tests/strided.cu OUT=$B/cu/strided
	@tools/profile_test.py $B/bin/train $B/cu/strided
.PHONY: bench-ops bench-techniques bench-programs bench-check profile-check profile-check-run

# Lab 03: the student's loop beside two with a mistake in the divisor.
.PHONY: planted03
planted03: $B/bin/planted
	@$< $(quiet77)
$B/bin/planted: $B/obj/common/bench/planted.o $(call own,03_accumulate) $B/libkit.a $(SIM)
	$(link)

# Lab 04: a chain of allocations of chosen sizes; every segment of a small model, with the timelines
# of a plain and a checkpointed step.
.PHONY: chain04 picture04
chain04: $B/bin/chain
	@$< $(ARGS)
$B/bin/chain: $B/obj/common/show/chain.o $(SOLVED) $B/libkit.a $(SIM)
	$(link)
picture04: $B/bin/checkpoint
	@$< $(ARGS) $(quiet77)
$B/bin/checkpoint: $B/obj/common/show/checkpoint.o $(call own,04_checkpoint) $B/libkit.a $(SIM)
	$(link)

# What lab 05 is about, as numbers and pictures.
SHOW05 := histogram05 frozen05 crossover05
SHOW   := $B/bin/fp16$(if $(filter-out solutions,$(FROM)),-$(subst /,_,$(FROM)))
.PHONY: $(SHOW05)
$(SHOW): $B/obj/common/show/fp16.o $(call mine,05_fp16) $B/libkit.a $(SIM)
	$(link)
$(SHOW05): $(SHOW)
	@OMP_NUM_THREADS=1 $< $(@:05=) build/pictures $(quiet77)

# ---- a GPU ------------------------------------------------------------------------------
# A pack is made where nvcc is, for a machine that has a GPU and nothing else of what a build takes.
# It needs no BLAS of the CPU's: what is compared there is small.
PACKED := unit train bench bench-ops
gpu-pack:
	@$(MAKE) --no-print-directory BACKEND=cuda CUDA_ARCH=$(or $(CUDA_ARCH),sm_90) BLAS=none ARCH=-march=x86-64-v3 PACK=1 gpu-pack-run
.PHONY: gpu-pack-run
gpu-pack-run: $(PACKED:%=$B/bin/%)
	@tools/gpu_pack.sh $B build/gpu-pack
gpu-check:
	@tools/gpu_check.sh $(ARGS)

docs:
	@$(RM) -r build/docs/html
	@mkdir -p build/docs
	@(cat docs/Doxyfile; echo "ENABLED_SECTIONS = $(if $(INSTRUCTOR),instructor)") | doxygen -
	@$(PYTHON) tools/links.py build/docs/html
	@echo "build/docs/html/index.html"

coverage:
	@$(MAKE) --no-print-directory COVERAGE=1 OPT="-O1 -g" coverage-run
.PHONY: coverage-run
coverage-run: $B/bin/unit $B/bin/train
	@find $B -name '*.gcda' -delete
	@tools/unit.sh $B >/dev/null 2>&1
	@tools/coverage.sh $B

# libFuzzer needs clang. SECONDS is per reader.
SECONDS ?= 60
FUZZED := $(patsubst %.c,%,$(filter-out %/replay.c,$(wildcard common/fuzz/*.c grader/fuzz/*.c)))
fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=1 OPT="-O1 -g" FUZZ=1 fuzz-run
.PHONY: fuzz-run replay
fuzz-run: $(FUZZED:%=$B/bin/%)
	@for path in $(FUZZED); do f=$${path##*/}; corpus=$${path%/*}/corpus/$$f; mkdir -p build/corpus/$$f; \
	    $B/bin/$$path -max_total_time=$(SECONDS) -max_len=4096 -timeout=5 -print_final_stats=1 -close_fd_mask=2 \
	    build/corpus/$$f $$corpus 2>build/corpus/$$f.log || { tail -40 build/corpus/$$f.log; exit 1; }; \
	    echo "$$f: $$(grep number_of_executed build/corpus/$$f.log)"; done
	@mkdir -p build/corpus/hand_in; if ! $(PYTHON) -c 'import atheris' 2>/dev/null; then echo "hand_in: left out, Python has no atheris"; else \
	    $(PYTHON) grader/fuzz/hand_in.py build/corpus/hand_in grader/fuzz/corpus/hand_in -max_total_time=$(SECONDS) -max_len=8192 -timeout=10; fi
FUZZ_LIB := $(addprefix $B/obj/grader/,record.o record_read.o wire.o) $(SOLVED) $B/libkit.a $(SIM)
$(FUZZED:%=$B/bin/%): $B/bin/%: $B/obj/%.o $(FUZZ_LIB)
	@mkdir -p $(@D)
	$(call say,link   )
	$Q$(CC) $(filter %.o %.a,$^) $(LDFLAGS) -fsanitize=fuzzer $(LDLIBS) -o $@
# The same inputs once more, without libFuzzer.
replay: $(FUZZED:%=$B/replay/%)
	@for path in $(FUZZED); do $B/replay/$$path $${path%/*}/corpus/$${path##*/}/* 2>/dev/null || exit; done
$(FUZZED:%=$B/replay/%): $B/replay/%: $B/obj/%.o $B/obj/common/fuzz/replay.o $(FUZZ_LIB)
	$(link)

clean:
	$(RM) -r build

-include $(shell find build -name '*.d' 2>/dev/null)
