/* Lab 06: the best way for each block. The contracts are in labs/06_fit/contract.h. */
#include "common/lab.h"
#include "labs/06_fit/contract.h"

size_t plan_peak(const PlanOption *option, const unsigned char *way) {
    (void)option, (void)way;
    TODO("task 3: the most of L + 1 sums (about 7 lines)");
}

/* ---- plans of the first blocks --------------------------------------------------------------- */

/* A way for each of the first blocks. Of two that have kept the same, or one less, the cheaper is
   never worse: whatever the later blocks do fits with it too. */
typedef struct Partial {
    size_t kept;    /* bytes below the next block */
    double seconds; /* so far */
    uint64_t ways;  /* two bits for each block */
} Partial;

/* Partial plans of which none is worse than another: `kept` rises, `seconds` falls. */
typedef struct Front {
    Partial *plan;
    size_t count, room;
} Front;

/* The budget, and two fronts that take turns. */
typedef struct Search {
    size_t budget;
    Front from, to;
} Search;

static int way_of(uint64_t ways, int block) {
    return (int)(ways >> (2 * block) & 3);
}

/* From plans of i blocks to plans of i + 1: three lists, each in order, are merged. */
static void search_extend(Search *search, const PlanBlock *block, int i) {
    (void)search, (void)block, (void)i;
    TODO("task 4: each plan so far, with each way for the next block; keep those that fit and that "
         "no other beats (about 25 lines)");
}

/* ---- all options ----------------------------------------------------------------------------- */

/* The best so far. */
typedef struct Best {
    bool found;
    double seconds;
    size_t peak;
    PlanChoice choice;
} Best;

/* The cheapest plan of an option that fits into search->budget, if it is better than the best. */
static void consider(Search *search, const PlanOption *option, int index, Best *best) {
    search->from.plan[0] = (Partial){option->bytes, option->seconds, 0};
    search->from.count = option->bytes <= search->budget;
    for (int i = 0; i < option->blocks && search->from.count > 0; i++) {
        search_extend(search, &option->block[i], i);
    }
    (void)way_of, (void)index, (void)best;
    TODO("task 4: the cheapest that leaves room for the head; is it the best? (about 15 lines)");
}

int plan_choose(const PlanOption *options, int count, size_t budget, void *scratch, size_t bytes,
                PlanChoice *choice) {
    size_t room = bytes / sizeof(Partial) / 2;
    Search search = {
        .budget = budget, .from = {scratch, 0, room}, .to = {(Partial *)scratch + room, 0, room}};
    Best best = {.found = false};
    for (int i = 0; i < count; i++) {
        consider(&search, &options[i], i, &best);
    }
    if (!best.found) {
        return -1;
    }
    (void)choice;
    TODO("task 4: of equals, the lowest peak (about 8 lines)");
}
