# Gradus: train a transformer step by step, with memory counted to the byte.
#
#   make demo            install what is missing, build, train a small GPT, show what it did
#   make test            prove that everything here works (about 5 minutes)
#
#   make lab01           build lab 01 from your files in labs/ and run it
#   make train ARGS=...  train (ARGS=--help lists the options; FROM=labs takes your labs)
#   make bench           speed and memory against PyTorch, where it is installed
#   make docs            the handbook, in build/docs/html/index.html
#
#   make setup           only install what is missing        make check    format, warnings, arrows
#   make stubs           cut labs/ from solutions/           make prove    the long proofs (CI)
#   make format          clang-format everything             make coverage lines that tests run
#   make fuzz            feed the readers random files       make clean    remove build/
#
# Settings: CC=clang  SAN=1 (sanitizers)  CHECKED=1 (NaN in freed memory)  WERROR=1
#           BLAS=onednn|openblas|none  OPT="-O0 -g"  FROM=labs|solutions|DIR  V=1

BACKEND ?= sim
FROM    ?= solutions
OPT     ?= -O3 -g
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
comma := ,
empty :=
space := $(empty) $(empty)

# Each flavour has a folder of its own, so none of them ever needs a clean.
DEFAULT_BLAS := $(if $(filter x86_64,$(shell uname -m)),onednn,openblas)
FLAVOUR := $(subst $(space),-,$(strip \
  $(filter-out sim,$(BACKEND)) $(filter-out gcc,$(notdir $(CC))) $(if $(SAN),san) \
  $(if $(CHECKED),checked) $(if $(COVERAGE),coverage) $(if $(FUZZ),fuzz) $(filter-out $(DEFAULT_BLAS),$(BLAS)) \
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
# clang finds the vector math library by a flag, and warns of simd loops that it leaves as they are.
CFLAGS   += $(if $(findstring clang,$(CC)),-Wno-pass-failed $(if $(filter x86_64,$(shell uname -m)),-fveclib=libmvec))
LDFLAGS  += -fopenmp $(SANITIZE) $(if $(COVERAGE),--coverage)
LDLIBS   += $(BLAS_$(BLAS)) -ljansson -lm

# ---- what there is ---------------------------------------------------------------------
# Ops are compiled once per precision; these work on floats or are no ops at all.
PLAIN   := base blas ops adamw sumsq scale
OPS     := $(filter-out $(PLAIN) %_test,$(basename $(notdir $(wildcard kernels/*.c))))
KERNELS := $(PLAIN:%=$B/obj/kernels/%.o) $(foreach p,f32 f16 bf16,$(OPS:%=$B/obj/kernels/%.$p.o))
COMMON  := $(patsubst %.c,$B/obj/%.o,$(filter-out common/train.c common/absent.c %_test.c,$(wildcard common/*.c)))
GRADER  := $(patsubst %.c,$B/obj/%.o,$(filter-out %_test.c,$(wildcard grader/*.c)))
TESTS   := $(patsubst %.c,$B/obj/%.o,$(wildcard kernels/*_test.c common/*_test.c grader/*_test.c))
HOLES   := 00_bytes/bytes.c 01_loop/loop.c 03_accumulate/accumulate.c 04_checkpoint/checkpoint.c \
           05_fp16/scaler.c
LABS    := $(sort $(notdir $(wildcard labs/[0-9]*)))
STUBS   := $(patsubst solutions/%,labs/%,$(wildcard solutions/*/*.c solutions/*/*.cu))

.PHONY: help setup demo test prove check format docs bench coverage train stubs fuzz clean all
help:
	@sed -n 's/^# \{0,1\}//p; /^BACKEND/q' Makefile
	@echo "Labs:"; for lab in $(LABS); do \
	    echo "  $$lab  $$(sed -n 's/^# *//p;T;q' labs/$$lab/README.md 2>/dev/null)"; done

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

$B/libkit.a: $(KERNELS) $(COMMON)
	@$(RM) $@
	$(call say,archive)
	$Q$(AR) rcs $@ $^

# ---- lab files: from solutions/, from labs/, from any folder like it ---------------------
# lab_objects FOLDERS: for each hole an object, compiled from the first of the folders that has the
# file; where none has, what stands in for it. The solution's part is compiled in solutions/ only.
in_folder    = $(firstword $(foreach f,$1,$(wildcard $f/$2)))
lab_objects  = $(foreach h,$(HOLES),$B/$(if $(call in_folder,$1,$h),lab/$(basename $(call in_folder,$1,$h)),absent/$(basename $(notdir $h))).o)
$B/lab/solutions/%.o: solutions/%.c
	@mkdir -p $(@D)
	$(call say,compile)
	$Q$(CC) $(CPPFLAGS) -DSOLUTION $(CFLAGS) -c $< -o $@
$B/lab/%.o: %.c
	$(compile)
$B/absent/%.o: common/absent.c
	@mkdir -p $(@D)
	$(call say,compile)
	$Q$(CC) $(CPPFLAGS) -DABSENT_$* $(CFLAGS) -c $< -o $@

define link
@mkdir -p $(@D)
$(call say,link   )
$Q$(CC) $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) $(LIBS) -o $@
endef
SOLVED := $(call lab_objects,solutions)
CHOSEN := $(call lab_objects,$(FROM))
TRAIN  := $B/bin/train$(if $(filter-out solutions,$(FROM)),-$(subst /,_,$(FROM)))
$B/bin/train: $B/obj/common/train.o $(SOLVED) $B/libkit.a
	$(link)
ifneq ($(TRAIN),$B/bin/train)
$(TRAIN): $B/obj/common/train.o $(CHOSEN) $B/libkit.a
	$(link)
endif
$B/bin/unit: LIBS := -lcriterion
$B/bin/unit: $(TESTS) $(SOLVED) $(GRADER) $B/libkit.a
	$(link)

# ---- running ---------------------------------------------------------------------------
# A hole that is not filled is no error of the build: status 77 ends quietly.
quiet77 = ; status=$$?; [ $$status -eq 77 ] || exit $$status
train: $(TRAIN)
	@$(TRAIN) $(ARGS) $(quiet77)

# labNN takes the student's file for lab NN and the solutions for all others.
define lab_rules
.PHONY: lab$2
lab$2: $B/bin/lab$2
	@$$< --max_steps 20 --logging_steps 5 $$(ARGS) $$(quiet77)
$B/bin/lab$2: $B/obj/common/train.o $$(foreach o,$(SOLVED),$$(if $$(filter $B/lab/solutions/$1/%,$$o),$$(subst lab/solutions/,lab/labs/,$$o),$$o)) $B/libkit.a
	$$(link)
endef
$(foreach l,$(LABS),$(eval $(call lab_rules,$l,$(firstword $(subst _, ,$l)))))

setup:
	@tools/setup.sh

# Set-up first, then make anew: the tools that this file looks for may just have come.
demo: setup
	@$(MAKE) --no-print-directory demo-run
demo-run: $B/bin/train
	@tools/demo.sh $B/bin/train

# ---- proofs ----------------------------------------------------------------------------
# make test is what a user runs; make prove is what takes longer and CI runs as well. Threads that
# wait must not spin: the tests run side by side.
UNIT_ENV := OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
test: setup
	@$(MAKE) --no-print-directory test-run
test-run: $B/bin/unit $B/bin/train oracle
	@echo "unit tests"
	@$(UNIT_ENV) TRAIN=$B/bin/train $B/bin/unit

# The kit's GPT-2 against Hugging Face's, where PyTorch and transformers are installed.
PYTHON ?= python3
.PHONY: oracle demo-run test-run print-build
print-build:
	@echo $B
oracle: $B/bin/oracle
	@$(PYTHON) grader/oracle.py $B/bin/oracle
$B/bin/oracle: $B/obj/grader/oracle/oracle.o $(SOLVED) $B/libkit.a
	$(link)

prove:
	@tools/prove.sh

# ---- check -----------------------------------------------------------------------------
SOURCES := $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null || find kernels common grader labs solutions -name '*.[ch]')
FORMATTED := $(filter-out labs/%,$(SOURCES))
check: check-format check-arrows check-stubs check-headers check-warnings
	@echo "check: all good"
.PHONY: check-format check-arrows check-stubs check-headers check-warnings
check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && echo "format: good"
check-arrows:
	@awk -f tools/arrows.awk $(filter %.c %.h %.cu %.cuh,$(SOURCES)) && echo "arrows: good"
check-headers:
	@for h in $(filter %.h,$(SOURCES)); do \
	    $(CC) -I. -std=gnu11 -fopenmp -fsyntax-only -Wall -Wextra -x c $$h || exit; done
	@for h in $(filter-out %_mask.h %_head.h,$(filter kernels/%.h,$(SOURCES))); do \
	    g++ -I. -std=c++17 -fopenmp -fsyntax-only -x c++ $$h || exit; done
	@echo "headers: each compiles alone, those of kernels/ as C++ too"
check-stubs:
	@for s in $(STUBS); do unifdef -x2 -USOLUTION solutions/$${s#labs/} | diff -u $$s - \
	    || { echo "$$s is not what its solution generates: make stubs"; exit 1; }; done
	@! grep -rn SOLUTION labs || { echo "a marker leaked into labs/"; exit 1; }
	@echo "stubs: current"
check-warnings:
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
$B/bin/bench: $B/obj/common/bench/bench.o $(SOLVED) $B/libkit.a
	$(link)
bench: $B/bin/bench
	@$(PYTHON) common/bench/bench.py $B/bin/bench $(ARGS)

docs:
	@mkdir -p build/docs
	@doxygen docs/Doxyfile
	@$(PYTHON) tools/links.py build/docs/html
	@echo "build/docs/html/index.html"

coverage:
	@$(MAKE) --no-print-directory COVERAGE=1 OPT="-O1 -g" coverage-run
.PHONY: coverage-run
coverage-run: $B/bin/unit $B/bin/train
	@find $B -name '*.gcda' -delete
	@$(UNIT_ENV) TRAIN=$B/bin/train $B/bin/unit >/dev/null
	@tools/coverage.sh $B

# libFuzzer needs clang. SECONDS is per reader.
SECONDS ?= 60
FUZZED := safetensors options
fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=1 OPT="-O1 -g" FUZZ=1 fuzz-run
.PHONY: fuzz-run replay
fuzz-run: $(FUZZED:%=$B/bin/fuzz-%)
	@for f in $(FUZZED); do mkdir -p build/corpus/$$f; \
	    $B/bin/fuzz-$$f -max_total_time=$(SECONDS) -max_len=4096 -timeout=5 -print_final_stats=1 -close_fd_mask=2 \
	    build/corpus/$$f common/fuzz/corpus/$$f 2>build/corpus/$$f.log || { tail -40 build/corpus/$$f.log; exit 1; }; \
	    echo "$$f: $$(grep number_of_executed build/corpus/$$f.log)"; done
$B/bin/fuzz-%: $B/obj/common/fuzz/%.o $(SOLVED) $B/libkit.a
	@mkdir -p $(@D)
	$(call say,link   )
	$Q$(CC) $(filter %.o %.a,$^) $(LDFLAGS) -fsanitize=fuzzer $(LDLIBS) -o $@
# The same inputs once more, without libFuzzer.
replay: $(FUZZED:%=$B/bin/replay-%)
	@for f in $(FUZZED); do $B/bin/replay-$$f common/fuzz/corpus/$$f/* 2>/dev/null || exit; done
$B/bin/replay-%: $B/obj/common/fuzz/%.o $B/obj/common/fuzz/replay.o $(SOLVED) $B/libkit.a
	$(link)

clean:
	$(RM) -r build

-include $(shell find build -name '*.d' 2>/dev/null)
