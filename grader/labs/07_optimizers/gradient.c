#include "grader/labs/07_optimizers/gradient.h"

#include <string.h>

#include "grader/labs/07_optimizers/protocol.h"

bool gradient_expect_kept(Check *check, const float *given, size_t n, int step, int t) {
    char name[WIRE_NAME];
    const float *got = check_got(check, step_name(name, "grad", step), WIRE_F32);
    size_t i = 0;
    while (i + 1 < n && memcmp(&got[i], &given[i], sizeof *got) == 0) {
        i++;
    }
    return check_compared(check, memcmp(got, given, n * sizeof *got) == 0,
                          "step %d: gradient [%zu] of the list was %.9g, and is %.9g afterwards: "
                          "gradients are only read",
                          t, i, (double)given[i], (double)got[i]);
}
