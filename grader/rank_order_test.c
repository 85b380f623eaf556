/* Order over ranks, of records that are made by hand. */
#include "grader/rank_order.h"

#include <criterion/criterion.h>

/* An entry: its rank, and up to two that come directly before it. */
static CudasimEntry entry(uint64_t id, int rank, const uint64_t *after, int count) {
    return (CudasimEntry){.id = id, .rank = rank, .after = after, .after_count = count};
}

static CudasimEntry meets(CudasimEntry e, CudasimCollective collective, uint64_t call, int peer) {
    e.kind = CUDASIM_COLLECTIVE;
    e.collective = collective;
    e.communicator = 1;
    e.call = call;
    e.ranks = 2;
    e.comm_rank = e.rank;
    e.peer = peer;
    return e;
}

/* Rank 0: kernel 1, all-reduce 2, kernel 3; rank 1: kernel 4, all-reduce 5, kernel 6; beside it in
   another stream of rank 1 kernel 7, after kernel 4. */
Test(rank_order, a_collective_orders_what_is_before_it_on_one_rank_and_after_it_on_another) {
    static const uint64_t of[] = {1, 2, 4, 5};
    CudasimEntry all[] = {
        entry(1, 0, NULL, 0),
        meets(entry(2, 0, &of[0], 1), CUDASIM_ALL_REDUCE, 1, 0),
        entry(3, 0, &of[1], 1),
        entry(4, 1, NULL, 0),
        meets(entry(5, 1, &of[2], 1), CUDASIM_ALL_REDUCE, 1, 0),
        entry(6, 1, &of[3], 1),
        entry(7, 1, &of[2], 1),
    };
    CudasimRecord record = {all, 7};
    cr_assert(ranks_before(&record, &all[0], &all[5]), "kernel 1, the call, kernel 6");
    cr_assert(ranks_before(&record, &all[3], &all[2]), "kernel 4, the call, kernel 3");
    cr_assert(ranks_before(&record, &all[0], &all[4]), "kernel 1 before the other side");
    cr_assert_not(ranks_before(&record, &all[1], &all[4]), "sides meet");
    cr_assert(ranks_may_overlap(&record, &all[0], &all[3]));
    cr_assert(ranks_may_overlap(&record, &all[1], &all[6]));
    cr_assert(ranks_may_overlap(&record, &all[2], &all[5]));
    cr_assert_not(ranks_may_overlap(&record, &all[2], &all[2]));
}

/* Two messages of one group, the second of which waits for a late rank: they are side by side. */
Test(rank_order, calls_of_a_group_are_side_by_side) {
    static const uint64_t of[] = {1, 2, 3};
    CudasimEntry all[] = {
        entry(1, 0, NULL, 0),
        meets(entry(2, 0, &of[0], 1), CUDASIM_SEND, 1, 1),
        meets(entry(3, 0, &of[1], 1), CUDASIM_RECEIVE, 1, 1),
        entry(4, 0, &of[2], 1),
    };
    CudasimRecord record = {all, 4};
    cr_assert(ranks_before(&record, &all[1], &all[2]),
              "without a group they are one after another");
    all[1].group = all[2].group = 7;
    CudasimEntry copy[4] = {all[0], all[1], all[2], all[3]};
    CudasimRecord grouped = {copy, 4};
    cr_assert(ranks_may_overlap(&grouped, &copy[1], &copy[2]));
    cr_assert(ranks_before(&grouped, &copy[0], &copy[2]));
    cr_assert(ranks_before(&grouped, &copy[1], &copy[3]),
              "what follows a group waits for all of it");
}
