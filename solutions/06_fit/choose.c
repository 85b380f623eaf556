/* Lab 06: the best way for each block. The contracts are in labs/06_fit/contract.h. */
#include "common/lab.h"
#include "labs/06_fit/contract.h"

size_t plan_peak(const PlanOption *option, const unsigned char *way) {
#ifndef STUB
    size_t below = option->bytes, peak = 0;
    for (int i = 0; i < option->blocks; i++) {
        size_t here = below + option->block[i].working[way[i]];
        peak = here > peak ? here : peak;
        below += option->block[i].kept[way[i]];
    }
    return below + option->head > peak ? below + option->head : peak;
#else
    (void)option, (void)way;
    TODO("task 3: the most of L + 1 sums (about 7 lines)");
#endif
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

#ifndef STUB
/* A front that has grown too long is thinned: a plan goes if one that keeps less costs hardly more.
   With 24 blocks that adds up to 1.2 %. */
static void front_thin(Front *front) {
    const double hardly = 1.0005;
    size_t kept = 1;
    for (size_t i = 1; i < front->count; i++) {
        if (front->plan[kept - 1].seconds > hardly * front->plan[i].seconds) {
            front->plan[kept++] = front->plan[i];
        }
    }
    front->count = kept;
}

/* The plan of `from` at *at, with block i in this way; false if none is left that fits. */
static bool front_next(const Search *search, const PlanBlock *block, int i, int way, size_t *at,
                       Partial *next) {
    if (*at == search->from.count) {
        return false;
    }
    const Partial *plan = &search->from.plan[*at];
    *next = (Partial){plan->kept + block->kept[way], plan->seconds + block->seconds[way],
                      plan->ways | (uint64_t)way << (2 * i)};
    return plan->kept + block->working[way] <= search->budget;
}

#endif
/* From plans of i blocks to plans of i + 1: three lists, each in order, are merged. */
static void search_extend(Search *search, const PlanBlock *block, int i) {
#ifndef STUB
    size_t at[PLAN_WAYS] = {0};
    Partial next[PLAN_WAYS], *last = NULL;
    search->to.count = 0;
    for (;;) {
        int least = -1;
        for (int way = 0; way < PLAN_WAYS; way++) {
            if (front_next(search, block, i, way, &at[way], &next[way]) &&
                (least < 0 || next[way].kept < next[least].kept ||
                 (next[way].kept == next[least].kept && next[way].seconds < next[least].seconds))) {
                least = way;
            }
        }
        if (least < 0) {
            break;
        }
        at[least]++;
        if (last == NULL || next[least].seconds < last->seconds) {
            last = &search->to.plan[search->to.count++];
            *last = next[least];
        }
    }
    Front swap = search->from;
    search->from = search->to;
    search->to = swap;
    if (PLAN_WAYS * search->from.count > search->to.room) {
        front_thin(&search->from);
    }
#else
    (void)search, (void)block, (void)i;
    TODO("task 4: each plan so far, with each way for the next block; keep those that fit and that "
         "no other beats (about 25 lines)");
#endif
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
#ifndef STUB
    size_t count = search->from.count;
    while (count > 0 && search->from.plan[count - 1].kept + option->head > search->budget) {
        count--;
    }
    if (count == 0) {
        return;
    }
    const Partial *cheapest = &search->from.plan[count - 1];
    PlanChoice choice = {.option = index};
    for (int i = 0; i < option->blocks; i++) {
        choice.way[i] = (unsigned char)way_of(cheapest->ways, i);
    }
    size_t peak = plan_peak(option, choice.way);
    if (!best->found || cheapest->seconds < best->seconds) {
        *best = (Best){true, cheapest->seconds, peak, choice};
    }
#else
    (void)way_of, (void)index, (void)best;
    TODO("task 4: the cheapest that leaves room for the head; is it the best? (about 15 lines)");
#endif
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
#ifndef STUB
    /* A lower peak for the same cost: the same search in a budget with one byte less. */
    Best lower = best;
    do {
        best = lower;
        lower = (Best){.found = false};
        search.budget = best.peak - 1;
        for (int i = 0; i < count; i++) {
            consider(&search, &options[i], i, &lower);
        }
    } while (lower.found && lower.seconds == best.seconds && lower.peak < best.peak);
    *choice = best.choice;
    return 0;
#else
    (void)choice;
    TODO("task 4: of equals, the lowest peak (about 8 lines)");
#endif
}
