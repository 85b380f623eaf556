/* Each rank is to have its own copy of a static array, of 80 KiB. At each change of rank the copies
   are exchanged: what is larger than 40 KiB belongs into memory that a rank takes itself. */
#include "cudasim_ranks.h"
#include "try.cuh"

#ifdef MENDED
static float history[1000];
#else
static float history[20000];
#endif
static double sum;

static void body(int rank, void *) {
    history[0] += (float)rank + 1;
    sum += history[0];
}

int main(void) {
    cudasim_rank_data(history, sizeof history); /* expect: unsupported */
    cudasim_ranks_run(2, body, NULL);
    return expect(sum, 3);
}
