# make test is what a user runs; make prove is what takes longer and CI runs as well.
.PHONY: test test-run oracle prove class-test handout-test headers-test bench-class class-test-programs
all: $B/bin/unit $B/bin/alone

# Every unit test, in one program.
TESTS := $(call c_objects,$(wildcard kernels/*_test.c common/*_test.c common/testkit/*_test.c train/*_test.c grader/*_test.c grader/labs/*/*_test.c tools/bench/*_test.c $(if $(SIM),cudasim/clock/*_test.c cudasim/tests/*_test.c)))
# The tests start these programs; one whose program is missing is skipped.
$B/bin/unit: | $B/bin/train $B/bin/train-02 $B/bin/alone
$B/bin/unit: private LIBS := -lcriterion -lseccomp
$B/bin/unit: $(TESTS) $(addprefix $B/obj/tools/bench/,cases.o timing.o) $(SOLVED) $B/libgrader.a $B/libtestkit.a $B/libtrain.a $B/libkit.a $(SIM)
	$(link)

test: setup
	@$(MAKE) --no-print-directory test-run
test-run: $B/bin/unit oracle graders
	@echo "unit tests"
	@tools/unit.sh $B
	@echo "labs: stubs earn nothing, solutions everything"
	@grader/proof/grader_proof.py stubs solutions --seeds 1
	@echo "labs: solutions everything on the simulated GPU too"
	@grader/proof/grader_proof.py solutions --seeds 1 --device gpu

# The kit's GPT-2 against Hugging Face's, where PyTorch and transformers are installed.
oracle: $B/bin/oracle
	@$(PYTHON) grader/proof/oracle.py $B/bin/oracle
$B/bin/oracle: $B/obj/grader/proof/oracle.o $(call train_with,$(SOLVED))
	$(link)

prove:
	@tools/prove.py $(if $(ALL),--all) $(if $(SHARD),--shard $(SHARD)) $(if $(MINUTES),--minutes $(MINUTES))

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
# Hand-ins a minute, and what a judge has at most.
bench-class: class-test-programs
	@grader/proof/class_test.py --once --lab 00_bytes --hand-ins 40 --out build/class-bench
class-test-programs:
	@$(MAKE) --no-print-directory graders-run GRADED_LABS='00_bytes 01_loop'
