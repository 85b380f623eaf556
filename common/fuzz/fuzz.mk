# Lines that tests run, and readers that are fed random files.
.PHONY: coverage coverage-run fuzz fuzz-run replay
coverage:
	@command -v gcovr >/dev/null || { echo "make coverage needs gcovr: tools/setup.sh --prove" >&2; exit 2; }
	@$(MAKE) --no-print-directory COVERAGE=1 OPT="-O1 -g" coverage-run

coverage-run: $B/bin/unit $B/bin/train
	@find $B -name '*.gcda' -delete
	@tools/unit.sh $B >/dev/null 2>&1
	@gcovr --filter kernels/ --filter common/ --filter train/ --exclude '.*_test\.c' --exclude common/testkit/ --sort-percentage \
	    $(addprefix $B/obj/,kernels common train)

# libFuzzer needs clang. SECONDS is per reader.
SECONDS ?= 60
FUZZED := $(patsubst %.c,%,$(filter-out %/replay.c,$(wildcard common/fuzz/*.c train/fuzz/*.c grader/fuzz/*.c)))
fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=1 OPT="-O1 -g" FUZZ=1 fuzz-run

fuzz-run: $(FUZZED:%=$B/bin/%)
	@for path in $(FUZZED); do f=$${path##*/}; corpus=$${path%/*}/corpus/$$f; mkdir -p build/corpus/$$f; \
	    $B/bin/$$path -max_total_time=$(SECONDS) -max_len=4096 -timeout=5 -print_final_stats=1 -close_fd_mask=2 \
	    build/corpus/$$f $$corpus 2>build/corpus/$$f.log || { tail -40 build/corpus/$$f.log; exit 1; }; \
	    echo "$$f: $$(grep number_of_executed build/corpus/$$f.log)"; done
	@mkdir -p build/corpus/hand_in; if ! $(PYTHON) -c 'import atheris' 2>/dev/null; then echo "hand_in: left out, Python has no atheris"; else \
	    $(PYTHON) grader/fuzz/hand_in.py build/corpus/hand_in grader/fuzz/corpus/hand_in -max_total_time=$(SECONDS) -max_len=8192 -timeout=10; fi
FUZZ_LIB := $B/obj/grader/wire.o $(SOLVED) $B/libtrain.a $B/libkit.a $(SIM)
$(FUZZED:%=$B/bin/%): $B/bin/%: $B/obj/%.o $(FUZZ_LIB)
	@mkdir -p $(@D)
	$(call say,link   )
	$Q$(CC) $(filter %.o %.a,$^) $(LINK_FLAGS) -fsanitize=fuzzer $(LINK_LIBS) -o $@
# The same inputs once more, without libFuzzer.
replay: $(FUZZED:%=$B/replay/%)
	@for path in $(FUZZED); do $B/replay/$$path $${path%/*}/corpus/$${path##*/}/* 2>/dev/null || exit; done
$(FUZZED:%=$B/replay/%): $B/replay/%: $B/obj/%.o $B/obj/common/fuzz/replay.o $(FUZZ_LIB)
	$(link)

