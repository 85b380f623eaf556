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
#           BLAS=onednn|openblas|none  OPT="-O0 -g"  FROM=labs|solutions|DIR

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
  $(if $(CHECKED),checked) $(if $(COVERAGE),coverage) $(filter-out $(DEFAULT_BLAS),$(BLAS)) \
  $(if $(filter-out -O3,$(filter -O%,$(OPT))),$(subst -,,$(filter -O%,$(OPT))))))
B := build$(if $(FLAVOUR),/$(FLAVOUR))

WARN := -Wall -Wextra -Wshadow -Wundef -Wwrite-strings -Wdouble-promotion -Wvla \
        -Wstrict-prototypes -Wmissing-prototypes
KIT_WARN := -Wconversion -Wno-sign-conversion
SANITIZE := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
BLAS_onednn   := -ldnnl
BLAS_openblas := -lopenblas
BLAS_none     :=

CPPFLAGS += -I. -MMD -MP $(if $(filter none,$(BLAS)),,-DBLAS_$(shell echo $(BLAS) | tr a-z A-Z))
CPPFLAGS += $(if $(CHECKED),-DCHECKED)
CFLAGS   += -std=gnu11 $(OPT) $(ARCH) -fopenmp -fno-math-errno -fno-trapping-math $(WARN) \
            $(SANITIZE) $(if $(WERROR),-Werror) $(if $(COVERAGE),--coverage)
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
define compile
@mkdir -p $(@D)
$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@
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
	$(AR) rcs $@ $^

# ---- lab files: from solutions/, from labs/, from any folder like it ---------------------
# lab_objects FOLDERS: for each hole an object, compiled from the first of the folders that has the
# file; where none has, what stands in for it. The solution's part is compiled in solutions/ only.
in_folder    = $(firstword $(foreach f,$1,$(wildcard $f/$2)))
lab_objects  = $(foreach h,$(HOLES),$B/$(if $(call in_folder,$1,$h),lab/$(basename $(call in_folder,$1,$h)),absent/$(basename $(notdir $h))).o)
$B/lab/solutions/%.o: solutions/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DSOLUTION $(CFLAGS) -c $< -o $@
$B/lab/%.o: %.c
	$(compile)
$B/absent/%.o: common/absent.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DABSENT_$* $(CFLAGS) -c $< -o $@

define link
@mkdir -p $(@D)
$(CC) $(filter %.o,$^) $(filter %.a,$^) $(LDFLAGS) $(LDLIBS) $(LIBS) -o $@
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
clean:
	$(RM) -r build

-include $(shell find build -name '*.d' 2>/dev/null)
