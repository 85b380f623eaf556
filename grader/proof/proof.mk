# make test is what a user runs; make prove is what takes longer and CI runs as well.
.PHONY: test test-run oracle prove prove-lab class-test handout-test headers-test bench-class class-test-programs
all: $B/bin/unit $B/bin/alone

# Every unit test, in one program; those of simulated ranks need the simulator.
ALL_TESTS := $(wildcard kernels/*_test.c common/*_test.c common/testkit/*_test.c train/*_test.c grader/*_test.c grader/labs/*/*_test.c tools/bench/*_test.c $(if $(SIM),cudasim/clock/*_test.c cudasim/tests/*_test.c))
SIM_TESTS := $(if $(SIM),,$(shell grep -ls '^#include <cudasim_' $(ALL_TESTS)))
TESTS := $(call c_objects,$(filter-out $(SIM_TESTS),$(ALL_TESTS)))
# The tests start these programs; one whose program is missing is skipped.
$B/bin/unit: | $B/bin/train $B/bin/train-02 $B/bin/alone
$B/bin/unit: private LIBS := -lcriterion -lseccomp
$B/bin/unit: $(TESTS) $(addprefix $B/obj/tools/bench/,cases.o timing.o) $(call with_own_data,$(SOLVED)) $B/libgrader.a $B/libtestkit.a $B/libtrain.a $B/libkit.a $(or $(SIM),$(CLOCK))
	$(link)

test: setup
	@$(MAKE) --no-print-directory test-run
# Judges are built by a make of their own, of files that the unit tests are built of as well.
test-run: $B/bin/unit oracle
	@$(MAKE) --no-print-directory graders
	@echo "unit tests"
	@tools/unit.sh $B
	@echo "labs: stubs earn nothing, solutions everything"
	@grader/proof/grader_proof.py stubs solutions --seeds 1
	@echo "labs: solutions everything on the simulated GPU too"
	@grader/proof/grader_proof.py solutions --seeds 1 --device gpu

# The kit's GPT-2 against Hugging Face's, where PyTorch and transformers are installed.
oracle: $B/bin/oracle $B/bin/oracle-optim
	@$(PYTHON) grader/proof/oracle.py $B/bin/oracle
	@$(PYTHON) grader/proof/oracle_optim.py $B/bin/oracle-optim
$B/bin/oracle-optim: $B/obj/grader/proof/oracle_optim.o $(call train_with,$(SOLVED))
	$(link)
$B/bin/oracle: $B/obj/grader/proof/oracle.o $(call train_with,$(SOLVED))
	$(link)

prove:
	@tools/prove.py $(if $(ALL),--all) $(if $(SHARD),--shard $(SHARD)) $(if $(MINUTES),--minutes $(MINUTES))

# What the proofs say of one lab: its stub earns nothing, its solution everything, each mutant loses what it should, and no row
# names another mistake; no variant loses. SEEDS=n  ONLY=name
prove-lab:
	@$(if $(GRADED_LAB),,echo "make prove-lab LAB=01 [ONLY=name], for a lab with tests.c" >&2; exit 2)
	@$(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$(GRADED_LAB)),1) graders-run GRADED_LABS=$(GRADED_LAB)
	@grader/proof/grader_proof.py $(if $(ONLY),,stubs solutions) mutants variants --lab $(call number_of,$(GRADED_LAB)) --seeds $(or $(SEEDS),1) $(if $(ONLY),--only $(call in_quotes,$(ONLY)))

# A class of hand-ins with known scores, graded twice, once with kill -9 every few seconds.
class-test: class-test-programs
	@grader/proof/class_test.py $(ARGS)
# What goes out and comes back: handout, hand-in, reset, hidden checks.
handout-test: class-test-programs
	@grader/proof/hand_in_reader_test.py
	@grader/proof/leaving_test.py
	@grader/proof/handout_test.py
# What the compiler of a hand-in sees.
headers-test: graders
	@grader/proof/headers_test.py
# A large class: hand-ins a minute and core, and the memory that all has at most. LAB=00 HAND_INS=2000 JOBS=n KILLS=n
BENCHED = $(or $(GRADED_LAB),00_bytes)
bench-class:
	@$(MAKE) --no-print-directory ACCESS=$(if $(call has_cu,$(BENCHED)),1) graders-run GRADED_LABS=$(BENCHED)
	@grader/proof/class_load.py --lab $(BENCHED) --hand-ins $(or $(HAND_INS),2000) $(if $(JOBS),--jobs $(JOBS)) $(if $(KILLS),--kills $(KILLS))
class-test-programs:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS='00_bytes 01_loop'
