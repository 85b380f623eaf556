/* A table of ops that reports the cost of each call before and after the real op runs. The contract
   is in watch.h; the costs are in kernels/cost.h. */
#include "common/watch.h"

static Watch watch;
static double r; /* bytes of a stored number */

static void before(void) {
    if (watch.before != NULL) {
        watch.before(watch.context);
    }
}

/* One function an op: its parameters, the call, and what its cost depends on. */
#define CALL(op, parameters, arguments, sizes)                                                     \
    static void op##_watched parameters {                                                          \
        before();                                                                                  \
        if (watch.ops != NULL) {                                                                   \
            watch.ops->op arguments;                                                               \
        }                                                                                          \
        watch.after(watch.context, #op, op##_cost sizes);                                          \
    }

#include "common/each_call.inc"

const Ops *ops_watch(Watch new_watch) {
#define ENTRY(op) .op = op##_watched,
    static const Ops watched = {EACH_OP(ENTRY) EACH_FLOAT_OP(ENTRY)};
#undef ENTRY
    watch = new_watch;
    r = (double)precision_bytes(watch.precision);
    return &watched;
}
