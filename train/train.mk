# The program `train` with one set of labs or another, and labNN.
.PHONY: all train pareto
all: $B/bin/train

PROGRAM := $(call c_objects,$(filter-out train/main.c %_test.c,$(wildcard train/*.c)))
$(PROGRAM): private MORE_WARN := $(STRICT)
$B/libtrain.a: $(PROGRAM) $(GPU_TABLE)
	$(archive)

# train_with LABS'OBJECTS: what a program of the kit is linked from, beside its own object.
# The static data of what labs write in C is each rank's own: own_data.h.
OWN_FIRST := $B/obj/common/own_data_first.o
OWN_LAST  := $B/obj/common/own_data_last.o
with_own_data = $(OWN_FIRST) $(filter $B/obj/%,$1) $(OWN_LAST) $(filter-out $B/obj/%,$1)
train_with = $(call with_own_data,$1) $B/libtrain.a $B/libkit.a $(SIM)
$B/bin/train: $B/obj/train/main.o $(call train_with,$(ALL_LABS))
	$(link)
# FROM=DIR: that folder's files, and nothing in place of those that it lacks.
FROM_NAME := $(if $(filter-out solutions,$(FROM)),-$(subst /,_,$(FROM_DIR)))
FROM_LABS := $(call lab_objects,$(FROM_DIR:solutions=solutions labs),$(KNOWN))
ifneq ($(FROM_NAME),)
$B/bin/train$(FROM_NAME): $B/obj/train/main.o $(call train_with,$(FROM_LABS))
	$(link)
endif
train: $B/bin/train$(FROM_NAME)
	@$(counted)$< $(ARGS) $(quiet77)
# ---- ranks as processes: make mpi, then make mpirun N=4 ARGS="--max_steps 100" or mpirun itself ------
.PHONY: mpi mpi-build mpirun mpirun-run
mpi:
	@$(MAKE) --no-print-directory MPI=1 mpi-build
mpi-build: $B/bin/train$(FROM_NAME) $(if $(wildcard train/check),$B/bin/ranks-check $B/bin/nccl-check $B/bin/ring-check) $B/env
	@echo ". $B/env; mpirun -n 4 $<     or: make mpirun N=4 ARGS=..."
$B/env: tools/mpi_env.sh
	@mkdir -p $(@D)
	@cp $< $@
# Checks of what ranks do together: this program over MPI, or in one process with the number of ranks.
$B/bin/ranks-check: $(call c_objects,$(wildcard train/check/*.c)) $(call train_with,$(SOLVED))
	$(link)
# With BACKEND=cuda: whether there is NCCL, and what is built with it (MPI=1).
.PHONY: has-nccl nccl-programs
has-nccl:
	@test -n "$(NCCL_SO)"
nccl-programs: $B/bin/train $B/bin/ranks-check $B/bin/nccl-check $B/bin/ring-check
mpirun:
	@$(if $(N),,$(call refuse,how many ranks? make mpirun N=4 ARGS=...); exit 0;) tools/mpirun.sh $(call in_quotes,$(N)) || { (exit 2) $(told); exit $$?; }; $(MAKE) --no-print-directory MPI=1 mpirun-run
mpirun-run: $B/bin/train$(FROM_NAME) $B/env
	@tools/mpirun.sh $(call in_quotes,$(N)) $< $(ARGS) $(quiet77)
# What a student has after lab 02, for the tests: options that need later labs say so.
AFTER_02 := $(foreach h,$(KNOWN),$(if $(filter 00_% 01_% 02_%,$h),$(call lab_objects,solutions,$h),$(call stand_in,$h)))
$B/bin/train-02: $B/obj/train/main.o $(call train_with,$(AFTER_02))
	$(link)

# ---- labNN: the student's files of that lab, and the solutions of all others; with OWN=1, or where
# there are no solutions, the student's of those too ---------------------------------------------------
OWN ?= $(if $(wildcard solutions/*/*),,1)
other_labs   = $(call lab_objects,$(if $(OWN),labs )solutions,$(filter-out $1/%,$2))
student_labs = $(call lab_objects,labs,$(filter $1/%,$(HOLES))) $(call other_labs,$1,$(KNOWN))
# For the programs of a lab: FROM=labs takes that lab's files from labs/, and the others' solutions.
chosen_labs  = $(if $(filter labs,$(FROM)),$(call student_labs,$1),$(FROM_LABS))
has_cu       = $(filter $1/%.cu,$(HOLES))
define lab_rules
.PHONY: lab$2 lab$2-run bet$2
lab$2:
	@$(if $(and $(findstring --device gpu,$(RUN_$1)),$(filter cpu,$(DEVICE))),$$(call refuse,lab $2 runs on the simulated GPU alone: it asks for what a CPU does not have),\
	    $(if $(OWN),tools/needs.py $1 &&) $$(MAKE) --no-print-directory lab$2-run $$(quiet77))
lab$2-run: $B/bin/lab$2
	@$$(if $$(ARGS),,tools/bets.py run $1 )$$(counted)$$< $(if $(call has_cu,$1),--device gpu --eval_fraction 0) $(RUN_$1) $(if $(DEVICE),--device $(DEVICE)) $$(ARGS) $$(quiet77)
$B/bin/lab$2: $B/obj/train/main.o $(call train_with,$(call student_labs,$1))
	$$(link)
# Numbers to predict before it runs; with ARGS it is another run, about which nobody has bet.
bet$2:
	@tools/bets.py ask $1 $$(told)
endef
# One that `train` has no use for says nothing about it in its lab.json.
define untrained_rules
.PHONY: lab$2 bet$2
bet$2:
	@$$(call refuse,lab $2 has no bets: its lab.json has no "run" to measure)
lab$2: $(call lab_objects,labs,$(filter $1/%,$(HOLES)))
	@echo "lab $2 is compiled; make grade$2 runs it"
endef
$(foreach l,$(LAB_NAMES),$(if $(wildcard $(ROOT_$l)labs/$l/README.md),\
  $(eval $(call $(if $(RUN_$l),lab_rules,untrained_rules),$l,$(call number_of,$l)))))

# ---- what labs show ---------------------------------------------------------------------------------
# In a handout two of the programs are objects: they hold what a lab asks for.
show_object = $(or $(wildcard grader/built/$(PLATFORM)/$1.o),$B/obj/train/show/$1.o)
# Every plan of lab 06, and which of them plan.c of FROM chooses: ARGS="--fit 24 --effective_batch 16".
PARETO := $B/bin/pareto$(FROM_NAME)
$(PARETO): $(call show_object,pareto) $(call train_with,$(call chosen_labs,06_fit))
	$(link)
pareto: $(PARETO)
	@tools/pareto.py $(PARETO) $(if $(DEVICE),--device $(DEVICE)) $(ARGS) $(quiet77)

# Lab 06: this machine's rates, and how long plans take on it: a table for its judge. NAME="one EPYC core"
.PHONY: measured
measured: $B/bin/measured
	@$< $(call in_quotes,$(NAME)) $(if $(filter gpu,$(DEVICE)),gpu)
$B/bin/measured: $(call show_object,measured) $(call train_with,$(SOLVED))
	$(link)

# Lab 03: the student's loop beside two with a mistake in the divisor.
.PHONY: planted03
planted03: $B/bin/planted
	@$< $(quiet77)
$B/bin/planted: $(call show_object,planted) $(call train_with,$(call student_labs,03_accumulate))
	$(link)

# Lab 04: a chain of allocations of chosen sizes; every segment of a small model, with the timelines
# of a plain and a checkpointed step.
.PHONY: chain04 picture04
chain04: $B/bin/chain
	@$< $(ARGS)
$B/bin/chain: $B/obj/train/show/chain.o $(call train_with,$(SOLVED))
	$(link)
# The same programs, of which the tests know what they show.
$B/bin/%-solved: $B/obj/train/show/%.o $(call train_with,$(SOLVED))
	$(link)
picture04: $B/bin/checkpoint
	@$< $(ARGS) $(quiet77)
$B/bin/checkpoint: $B/obj/train/show/checkpoint.o $(call train_with,$(call student_labs,04_checkpoint))
	$(link)

# The micro-batches of a pipeline's stage on one stack and in lanes: docs/lanes.md.
$B/bin/lanes: $B/obj/train/show/lanes.o $(call train_with,$(SOLVED))
	$(link)

# Lab 05, as numbers and pictures.
SHOW05 := histogram05 frozen05 crossover05
.PHONY: $(SHOW05)
$B/bin/fp16$(FROM_NAME): $(call c_objects,$(wildcard train/show/fp16*.c)) $(call train_with,$(call chosen_labs,05_fp16))
	$(link)
$(SHOW05): $B/bin/fp16$(FROM_NAME)
	@OMP_NUM_THREADS=1 $< $(@:05=) build/pictures $(quiet77)

.PHONY: table
# The series of experiments, each row a run: SHORT=1, DEVICE=gpu, SIZE=seeds (on a real GPU). With RANKS=4 the ways
# to share a model among ranks: MACHINE=file, SIZE=gpt2 (docs/when_which.md).
table: $B/bin/train $(if $(RANKS),$B/bin/makespan)
ifdef RANKS
	@tools/table_ranks.py $^ --ranks $(call in_quotes,$(RANKS)) $(if $(MACHINE),--machine $(call in_quotes,$(MACHINE))) $(if $(SIZE),--size $(SIZE)) $(ARGS)
else
	@tools/table.py $B/bin/train $(if $(SHORT),--short) $(if $(DEVICE),--device $(DEVICE)) $(if $(SIZE),--size $(SIZE)) $(ARGS) $(told)
endif
