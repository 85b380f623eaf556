/* The tests of lab 01 and the loops that they test: `probe tests`, with tables as every probe has
   them; `probe home` prints what the tests say of the loops of `make loops01`. */
#include <stdio.h>
#include <string.h>

#include "common/crash.h"
#include "grader/labs/01_loop/loops/protocol.h"
#include "grader/probe_seal.h"
#include "grader/wire.h"

typedef bool LoopTest(const LoopUnderTest *loop);

static const struct {
    const char *name;
    LoopTest *run;
} tests[LOOP_TESTS] = {{"clip", test_clip},
                       {"zero", test_zero},
                       {"mean", test_mean},
                       {"rate", test_rate},
                       {"no_targets", test_no_targets}};

/* A row for each loop, a column for each test. */
static void print_table(void) {
    printf("      ");
    for (int i = 0; i < LOOP_TESTS; i++) {
        printf("  %-10s", tests[i].name);
    }
    printf("\n");
    for (int number = 0; number < LOOPS_AT_HOME; number++) {
        LoopUnderTest loop = {.number = number};
        bool right[LOOP_TESTS];
        for (int i = 0; i < LOOP_TESTS; i++) {
            right[i] = tests[i].run(&loop);
        }
        printf("loop %c", 'a' + number);
        for (int i = 0; i < LOOP_TESTS; i++) {
            printf("  %-10s", right[i] ? "right" : "WRONG");
        }
        printf("\n");
    }
}

/* The verdicts of the tests that are asked for, loop by loop. */
static void run_tests(const Wire *in, Wire *out) {
    size_t count, verdicts;
    const int32_t *asked = wire_get(in, "tests", WIRE_I32, &count);
    uint64_t *verdict = wire_get(out, "verdicts", WIRE_U64, &verdicts);
    for (size_t i = 0; i < verdicts; i++) {
        LoopUnderTest loop = {.number = (int)(i / count)};
        verdict[i] = tests[asked[i % count]].run(&loop) ? 1 : 0;
    }
}

int main(int argc, char **argv) {
    crash_tell();
    if (argc == 2 && strcmp(argv[1], "home") == 0) {
        print_table();
        return 0;
    }
    Wire *in = wire_open(WIRE_IN, false), *out = wire_open(WIRE_OUT, true);
    probe_seal();
    run_tests(in, out);
    wire_finish(out);
    return 0;
}
