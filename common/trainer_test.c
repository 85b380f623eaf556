/* The runtime knows no lab: common/testkit/alone.c trains without one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "common/testkit/program.h"

Test(trainer, trains_without_any_lab) {
    /* It lies beside `train`. */
    const char *train = train_program(), *name = strrchr(train, '/');
    char path[4096];
    snprintf(path, sizeof path, "%.*s/alone", (int)(name - train), train);
    FILE *answer = popen(path, "r");
    cr_assert_not_null(answer);
    double first = 0, last = 0;
    int steps = 0;
    for (double loss; fscanf(answer, "%lf", &loss) == 1; steps++) {
        first = steps == 0 ? loss : first;
        last = loss;
    }
    cr_assert_eq(pclose(answer), 0);
    cr_assert_eq(steps, 5);
    cr_assert(last < first - 0.1, "from %g to %g", first, last);
}
