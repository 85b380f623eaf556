# make check: what can be said of the sources without running them; make format.
SOURCES = $(shell git ls-files '*.c' '*.h' '*.cu' '*.cuh' 2>/dev/null || \
             find kernels common train cudasim grader labs solutions -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
FORMATTED = $(filter-out $(KNOWN:%=labs/%) $(APART:%=labs/%) grader/proof/example/labs/%.c grader/proof/example/labs/%.cu,$(SOURCES))
.PHONY: check check-read check-format check-arrows check-stubs check-headers check-warnings check-table check-words check-names check-mutants check-prove check-release check-absent check-labs check-sentences check-handout format
check: check-read check-arrows check-headers check-warnings check-table check-prove check-absent check-handout
	@echo "check: all good"
# What needs no compiler: half a minute, so that every submission has it.
check-read: check-format check-stubs check-terms check-words check-names check-mutants check-release check-labs check-sentences

format:
	clang-format -i $(FORMATTED)
check-format:
	@clang-format --dry-run -Werror $(FORMATTED) && awk -f tools/comments.awk $(SOURCES) && echo "format: good"
# The simulator includes its headers by the names that CUDA's have.
check-arrows: all
	@awk -f tools/check_includes.awk $(filter-out cudasim/% grader/attacks/%,$(filter %.c %.h %.cu %.cuh,$(SOURCES))) && echo "arrows: good"
	@tools/check_calls.py $B
# What stands in for CUDA's headers is read by both languages; what is inside of them by one alone.
CUDA_HEADERS := $(addprefix cudasim/include/,cuda_runtime.h cuda_fp16.h cuda_bf16.h cublas_v2.h curand.h)
SEES_MPI = $(shell pkg-config --cflags ompi-c 2>/dev/null)
check-headers:
	@for h in $(CUDA_HEADERS) $(filter-out cudasim/include/% cudasim/lint% $(if $(SEES_MPI),,cudasim/mpi/%),$(filter %.h,$(SOURCES))); do \
	    $(CC) $(SEES_MPI) -I. -Icudasim/include -std=gnu11 -fopenmp -fsyntax-only -Wall -Wextra -x c $$h || exit; done
	@for h in $(CUDA_HEADERS) $(filter-out %_mask.h %_head.h cudasim/%,$(filter kernels/%.h,$(SOURCES))); do \
	    g++ -I. -Icudasim/include -std=c++17 -fopenmp -fsyntax-only -x c++ $$h || exit; done
	@echo "headers: each compiles alone, those of kernels/ as C++ too"
check-table: $(GRADED:%=$B/judge/%)
	@grader/proof/check_table.py --check --judges $B/judge
# A function of a judge or a probe has a name of its own.
check-names:
	@grader/proof/names.py
# No program that a hand-in is linked into holds what its lab asks for.
check-absent: graders
	@grader/proof/absent.py
check-prove:
	@! test -e tools/prove_test.py || tools/prove_test.py
# Every lab.json of the kit is as its schema says, and so are the pages about them and about outcomes.
check-labs:
	@tools/lab_keys.py --check
	@tools/outcomes.py
# languages/sentences.pot has every sentence that a student can be told.
check-sentences:
	@tools/sentences.py check
# The newest entry of CHANGELOG.md is that of VERSION, and numbers say whether points change.
check-release:
	@tools/release.py
check-words:
	@tools/check_words.py
# Every line that a mutant of the kit changes is there, and enough unit tests are named by one; what
# students have stumbled over are mutants of labs.
check-mutants:
	@grader/proof/kit_mutants.py --check
	@grader/proof/stumbles_test.py --check
check-stubs:
	@for s in $(STUBS); do unifdef -x2 -DSTUB solutions/$$s | diff -u labs/$$s - \
	    || { echo "labs/$$s is not what its solution generates: make stubs"; exit 1; }; done
	@! grep -rnw STUB labs || { echo "a marker leaked into labs/"; exit 1; }
	@grep -oh 'labs/[^:]*:[0-9]*: TODO: task [0-9]' labs/*/README.md | while IFS=': ' read -r file line _ _ task; do \
	    sed -n $${line}p $$file | grep -q "task $$task:" || { echo "$$file:$$line is not of task $$task, as its page says"; exit 1; }; done
	@echo "stubs: current"
check-warnings: build/cu2cpp
	@tools/warnings.sh $(if $(filter none,$(BLAS)),,BLAS_$(shell echo $(BLAS) | tr a-z A-Z))
# A handout with the fewest labs, and one with all: nothing of a solution stands in what is shipped.
check-handout:
	@for lab in $(firstword $(LAB_NAMES)) $(lastword $(LAB_NAMES)); do tools/handout.py --lab $$lab --no-solutions --search || exit; done
	@echo "handout: nothing of a solution"
