# Gradus: train a transformer step by step, with memory counted to the byte.
#
#   make demo            install what is missing, build, train a small GPT, show what it did
#   make test            prove that everything here works (about 8 minutes on two cores)
#
#   make bet01           a few numbers to predict before lab 01 runs
#   make lab01           build lab 01 from your files in labs/ and run it
#   make grade01         what your files are worth, and what to look at (CHECK=name, FROM=DIR, DEVICE=gpu)
#   make watch01         grades again each time you save a file, and says what has changed; q ends it
#   make hint01 TASK=2   a hint, one more each time      make debug01 CHECK=name   gdb on a check
#   make train ARGS=...  train (ARGS=--help lists the options; FROM=labs takes your labs)
#   make mpirun N=4 ARGS=...  train with 4 ranks over MPI (make mpi builds it: docs/mpi.md)
#   make table           time and memory of each technique, beside the published figures (RANKS=4: of many devices)
#   make pareto          bytes and speed of every plan of lab 06, as a picture (FROM=labs: your choice)
#   make bench           speed and memory against PyTorch, where it is installed
#   make docs            the handbook, in build/docs/html/index.html
#   make handin01        pack your files to hand them in  make reset01   the stub again; yours is kept
#
#   make setup           only install what is missing        make clean    remove build/
#   make cu FILE=x.cu    run any CUDA program (ARGS=...)     make lint     host/device mistakes in .cu
#   make foreign DIR=folder   run every CUDA program below a folder, and a table of what became of each
#   make makespan RECORD=FILE MACHINE=FILE   how long a recorded program takes, at least: docs/clock.md
#   make format          clang-format everything             make check    format, warnings, arrows
#
#   make try-class       a class of fourteen, graded, to look at: start here (docs/instructors.md)
#   make grade-all LAB=01 IN=DIR OUT=DIR   grade a class (JOBS=n, SLURM=1)      make grade-one NAME=anna  what that student saw
#   make report OUT=DIR  pages and scores.csv (also: late, columns, feedback, regrade-diff, forget)      make term CLASS=DIR  all labs
#   make similar LAB=01 IN=DIR OUT=DIR     which hand-ins are alike: docs/similar.md
#   make gradescope LAB=01  autograder.zip (also: autolab, classroom50)
#   make handout LAB=01  what a student of that lab gets: no solution of it, no mutants, no hidden checks
#   make course-repo COURSE=2027s LAB=03 OUT=DIR   a term's repositories, with tasks of its own: docs/terms.md
#   make slides OUT=DIR  the figures of the labs, with licence and alt text
#   make stubs           cut labs/ from solutions/           make prove    the long proofs (CI)
#   make prove-lab LAB=01   each known mistake in that lab loses its points, right variants lose none
#   make gpu-check       all checks that need a real GPU     make gpu-pack what it takes, for elsewhere
#   make coverage        lines that tests run                make fuzz     feed the readers random files
#
# Settings: CC=clang  SAN=1 (sanitizers)  CHECKED=1 (NaN in freed memory)  WERROR=1
#           BLAS=onednn|openblas|none  OPT="-O0 -g"  FROM=labs|solutions|DIR  V=1
#           LABS=DIR (labs of your own, beside those here: docs/first_lab.md)
# CUDA:     BACKEND=sim|cuda (simulated, or nvcc)  CUDA_ARCH=sm_90  CUDA_HOME=DIR  NCCL=DIR
#           ACCESS=1 (the simulator looks at every access)  SCHED=reverse|random:N  DEBUG=1 (for gdb)
#           TRAFFIC=1 (bytes that each kernel reads and writes, beside its formula: docs/clock.md)

BACKEND ?= sim
FROM    ?= solutions
OPT     ?= $(if $(DEBUG),-O0 -g3,-O3 -g)
ISA     := $(shell uname -m)
ARCH    ?= $(if $(filter aarch64,$(ISA)),-mcpu=native,-march=native)
ARGS    ?=
PYTHON  ?= python3
ifeq ($(origin CC),default)
CC      := gcc
endif
BLAS    ?= $(if $(filter x86_64,$(ISA)),onednn,openblas)

# ------------------------------------------------------------------ below: nothing to set
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help setup demo demo-run clean print-build FORCE
MAKEFLAGS += --no-builtin-rules
FORCE:

comma := ,
empty :=
space := $(empty) $(empty)
in_quotes = '$(subst ','\'',$1)'
# A path with a space is reached through a link without one, since make splits its lists at spaces.
without_space = $(if $(findstring $(space),$1),$(shell sh tools/link.sh $(call in_quotes,$1)),$1)

# A setting that is mistyped is refused, not taken for none.
one_of = $(if $(filter-out $2,$($1)),$(error $1=$($1): must be $(if $(word 2,$2),one of )$2))
$(call one_of,BACKEND,sim cuda)
$(call one_of,BLAS,onednn openblas none)
$(call one_of,DEVICE,cpu gpu)
$(call one_of,HINTS,1 2 3)
$(call one_of,AGENTS,yes no)
$(call one_of,SOLUTIONS,none)
$(call one_of,STUDENTS,none)
FROM_DIR := $(call without_space,$(FROM))
$(if $(wildcard $(FROM_DIR)),,$(if $(filter labs solutions,$(FROM)),,$(error FROM=$(FROM): there is no such folder)))
$(if $(wildcard $(FROM_DIR)/.),,$(if $(filter-out grade% debug%,$(or $(MAKECMDGOALS),help)),$(if $(wildcard $(FROM_DIR)),$(error FROM=$(FROM): this is not a folder))))
# Until the next release; then CHECK= names graded checks only.
ifeq ($(CHECK),1)
$(if $(filter 0,$(MAKELEVEL)),$(warning CHECK=1 is called ACCESS=1 now: the simulator looks at every access))
override CHECK :=
ACCESS := 1
endif

include common/mpi.mk

HANDOUT := $(wildcard labs/.stubs)
KITS_OWN := test prove prove-lab check stubs try-class grade-all grade-one similar slides report term late columns feedback regrade-diff forget record-to-share gradescope autolab classroom50 handout course-repo manifest sentences languages gpu-check gpu-pack coverage fuzz format oracle nccl-check profile-check bench-class \
  $(if $(wildcard labs/11_*/README.md),,mpi mpirun)
$(if $(and $(HANDOUT),$(filter $(KITS_OWN),$(MAKECMDGOALS))),$(error 'make $(filter $(KITS_OWN),$(MAKECMDGOALS))' is not available in this handout))

# All that is made comes to lie in build/. `make` alone reads, and needs no such place.
CLOSED := $(shell mkdir -p build 2>/dev/null; test -w build/. || echo yes)
$(if $(CLOSED),$(if $(MAKECMDGOALS),$(error \
    $(CURDIR)/build cannot be written to: work in a copy of this folder that is yours)))

# ---- which labs there are: of each lab's lab.json ------------------------------------------------
include common/labs.mk

# ---- how many steps of a build run side by side -----------------------------------------------------
include common/jobs.mk

# ---- make runs twice: everything from here to the end is for the inner one -------------------------
include common/front.mk
ifndef OUTER

# Of several goals that start a make of their own, each waits for the one before: they make the same files. So do those of check.
STARTS_MAKE := lab% grade% debug% handin% demo test bench class-test handout-test profile-check mpi mpirun
ifneq ($(filter check,$(MAKECMDGOALS))$(and $(filter $(STARTS_MAKE),$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

ifeq ($(LAB_NAMES)$(shell command -v python3),)
$(if $(filter-out help setup demo test clean,$(MAKECMDGOALS)),$(error python3 is not installed: make setup))
endif
number_of = $(firstword $(subst _, ,$1))
lab_named = $(firstword $(filter $1 $1_%,$(LAB_NAMES)))

# ---- what builds it: each file beside what it makes; a handout has those that it can use -----------
include common/build.mk cudasim/cudasim.mk train/train.mk grader/grader.mk
include $(wildcard docs/*.mk tools/*.mk tools/bench/*.mk grader/proof/*.mk common/fuzz/*.mk)

help:
	@sed -n '$(if $(HANDOUT),/^#   make test/d; /^#  *LABS=DIR/d; /^#   make try-class/$(comma)/^#$$/d; /^#   make format/d; $(if $(filter mpirun,$(KITS_OWN)),/^#   make mpirun/d; ))s/^# \{0,1\}//p; /^BACKEND/q' Makefile
	@if command -v python3 >/dev/null; then tools/labs.py; else echo "The labs are listed once python3 is there: make setup"; fi

setup:
	@tools/setup.sh

# Set-up first, then make anew: the tools that this file looks for may just have come. Who may not install goes on: of what is
# missing, the demo may need nothing.
demo:
	@tools/setup.sh || echo "The demo goes on with what is here."
	@$(MAKE) --no-print-directory demo-run
demo-run: $B/bin/train
	@tools/demo.sh $B/bin/train

clean:
	$(RM) -r build

# For scripts: the folder of the present settings.
print-build:
	@echo $B
endif
