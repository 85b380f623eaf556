/* A rank starts ranks of its own. */
#include "cudasim_ranks.h"
#include "try.cuh"

static int started;

static void count(int, void *) {
    started++;
}

static void body(int, void *) {
#ifdef MENDED
    count(0, NULL);
#else
    cudasim_ranks_run(2, count, NULL); /* expect: unsupported */
#endif
}

int main(void) {
    cudasim_ranks_run(2, body, NULL);
    return expect(started, 2);
}
