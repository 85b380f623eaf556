/* Makespans against closed formulas. Times are in seconds; the machine's numbers are round. */
#include "cudasim/clock/makespan.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const Machine MACHINE = {
    .name = "test",
    .memory = 1e9,
    .f32 = 1e12,
    .tf32 = 2e12,
    .f16 = 4e12,
    .bf16 = 4e12,
    .to_device = 1e8,
    .from_device = 1e8,
    .link = 1e8,
    .network = 1e7,
    .launch = 1e-6,
    .kernels = 16,
    .copy_engines = 2,
    .node = 8,
};

enum { MOST = 4096, MOST_EDGES = 8 };
static CudasimEntry entries[MOST];
static uint64_t edges[MOST][MOST_EDGES];
static int count;
static int last_of[64];         /* the last entry of a stream, or 0 */
static uint64_t messages[8][8]; /* sent so far, from and to */
static uint64_t received[8][8];

static void clear(void) {
    memset(entries, 0, sizeof entries);
    memset(messages, 0, sizeof messages);
    memset(received, 0, sizeof received);
    memset(last_of, 0, sizeof last_of);
    count = 0;
}

static void after(int entry, int before) {
    if (before > 0) {
        edges[entry - 1][entries[entry - 1].after_count++] = (uint64_t)before;
    }
}

/* The next entry, after the one before it in its stream. */
static int add(CudasimEntry entry) {
    entry.id = (uint64_t)count + 1;
    entry.after = edges[count];
    entry.read = entry.written = -1;
    entry.name = "entry";
    entries[count++] = entry;
    if (entry.stream >= 0) {
        after(count, last_of[entry.stream]);
        last_of[entry.stream] = count;
    }
    return count;
}

static int kernel(int stream, double seconds) {
    return add((CudasimEntry){.kind = CUDASIM_LAUNCH, .stream = stream, .bytes = 1e9 * seconds});
}

static int copy(int stream, double seconds, CudasimWay way) {
    return add(
        (CudasimEntry){.kind = CUDASIM_COPY, .stream = stream, .way = way, .bytes = 1e8 * seconds});
}

static int host_wait(int rank, int before) {
    int id = add((CudasimEntry){.kind = CUDASIM_HOST_WAIT, .rank = rank, .stream = -1});
    after(id, before);
    return id;
}

static Span spans[MOST];
static Makespan result;

static bool run(const Machine *machine) {
    CudasimRecord record = {entries, (size_t)count};
    return makespan(&record, machine, spans, &result);
}

static void expect(double got, double want) {
    cr_assert(fabs(got - want) <= 1e-9 * fabs(want), "%.12g seconds, not %.12g", got, want);
}

static void expect_all(double seconds) {
    cr_assert(run(&MACHINE));
    expect(result.seconds, seconds);
}

/* ---- one device ------------------------------------------------------------------------------ */

Test(makespan, serial_chain_is_its_sum) {
    clear();
    double sum = 0;
    for (int i = 1; i <= 100; i++) {
        kernel(0, i * 1e-3);
        sum += i * 1e-3;
    }
    expect_all(1e-6 + sum);
    expect(result.kernels, sum);
    expect(result.launching, 100e-6);
}

Test(makespan, kernel_takes_the_larger_of_bytes_and_arithmetic) {
    clear();
    add((CudasimEntry){.kind = CUDASIM_PRODUCT, .bytes = 1e6, .flops = 5e9});
    add((CudasimEntry){
        .kind = CUDASIM_PRODUCT, .bytes = 1e6, .flops = 5e9, .precision = CUDASIM_F16});
    add((CudasimEntry){.kind = CUDASIM_FILL, .bytes = 3e6});
    add((CudasimEntry){.kind = CUDASIM_COPY, .way = CUDASIM_WITHIN_DEVICE, .bytes = 3e6});
    expect_all(1e-6 + 5e-3 + 1.25e-3 + 3e-3 + 6e-3);
}

Test(makespan, counted_bytes_stand_in_for_noted_ones) {
    clear();
    int counted = kernel(0, 0), noted = kernel(0, 1e-3), part = kernel(0, 0);
    entries[counted - 1].read = 1.5e6;
    entries[counted - 1].written = 0.5e6;
    entries[noted - 1].op = entries[part - 1].op = "op";
    entries[part - 1].read = entries[part - 1].written = 1e6;
    kernel(0, 0);
    expect_all(1e-6 + 2e-3 + 1e-3);
    cr_assert(result.unknown == 1);
}

Test(makespan, launch_bound_chain_is_the_hosts) {
    clear();
    for (int i = 0; i < 1000; i++) {
        kernel(0, 1e-7);
    }
    expect_all(1000 * 1e-6 + 1e-7);
}

Test(makespan, floor_is_the_least_that_a_kernel_takes) {
    clear();
    Machine slow = MACHINE;
    slow.floor = 5e-6;
    for (int i = 0; i < 10; i++) {
        kernel(0, 1e-7);
    }
    cr_assert(run(&slow));
    expect(result.seconds, 1e-6 + 10 * 5e-6);
}

Test(makespan, a_graph_is_one_launch) {
    clear();
    int graph = add((CudasimEntry){.kind = CUDASIM_GRAPH, .stream = -1});
    for (int i = 0; i < 1000; i++) {
        entries[kernel(0, 1e-7) - 1].graph = (uint64_t)graph;
    }
    expect_all(1e-6 + 1000 * 1e-7);
}

/* ---- streams --------------------------------------------------------------------------------- */

Test(makespan, two_streams_share_the_memory) {
    clear();
    kernel(1, 2e-3);
    kernel(2, 2e-3);
    expect_all(1e-6 + 4e-3);
}

Test(makespan, memory_and_arithmetic_overlap) {
    clear();
    kernel(1, 3e-3);
    add((CudasimEntry){.kind = CUDASIM_PRODUCT, .stream = 2, .flops = 3e9});
    expect_all(2e-6 + 3e-3);
    Machine one = MACHINE;
    one.kernels = 1;
    cr_assert(run(&one));
    expect(result.seconds, 1e-6 + 6e-3);
}

/* The short one has half of the memory until it is over, then the long one has all of it. */
Test(makespan, a_rate_is_shared_as_long_as_both_run) {
    clear();
    Machine free_launches = MACHINE;
    free_launches.launch = 0;
    int longer = kernel(1, 3e-3), shorter = kernel(2, 1e-3);
    cr_assert(run(&free_launches));
    expect(spans[shorter - 1].end, 2e-3);
    expect(spans[longer - 1].end, 4e-3);
}

Test(makespan, a_copy_is_hidden_where_nothing_orders_it) {
    clear();
    copy(1, 3e-3, CUDASIM_TO_DEVICE);
    kernel(2, 5e-3);
    expect_all(2e-6 + 5e-3);
}

Test(makespan, a_copy_is_not_hidden_where_an_event_orders_it) {
    clear();
    int batch = copy(1, 3e-3, CUDASIM_TO_DEVICE);
    int wait = add((CudasimEntry){.kind = CUDASIM_WAIT, .stream = 2});
    after(wait, batch);
    kernel(2, 5e-3);
    expect_all(1e-6 + 8e-3);
}

Test(makespan, the_host_blocks_where_it_waits) {
    clear();
    host_wait(0, copy(1, 3e-3, CUDASIM_TO_DEVICE));
    kernel(2, 5e-3);
    expect_all(1e-6 + 3e-3 + 1e-6 + 5e-3);
    expect(result.waiting, 3e-3);
}

Test(makespan, copies_go_each_way_at_once_with_two_engines) {
    clear();
    copy(1, 3e-3, CUDASIM_TO_DEVICE);
    copy(2, 3e-3, CUDASIM_FROM_DEVICE);
    copy(3, 1e-3, CUDASIM_TO_DEVICE);
    expect_all(1e-6 + 4e-3);
    Machine one = MACHINE;
    one.copy_engines = 1;
    cr_assert(run(&one));
    expect(result.seconds, 1e-6 + 7e-3);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static int collective(CudasimCollective kind, int rank, int ranks, uint64_t call, double bytes) {
    return add((CudasimEntry){.kind = CUDASIM_COLLECTIVE,
                              .collective = kind,
                              .rank = rank,
                              .device = rank,
                              .stream = rank,
                              .communicator = 1,
                              .call = call,
                              .ranks = ranks,
                              .comm_rank = rank,
                              .bytes = bytes});
}

Test(makespan, collectives_have_the_rings_formulas) {
    static const CudasimCollective kinds[] = {CUDASIM_ALL_REDUCE, CUDASIM_REDUCE_SCATTER,
                                              CUDASIM_ALL_GATHER, CUDASIM_BROADCAST,
                                              CUDASIM_REDUCE_TO_ONE};
    for (int ranks = 1; ranks <= 8; ranks++) {
        double r = ranks, factor[] = {2 * (r - 1) / r, (r - 1) / r, (r - 1) / r, r > 1, r > 1};
        for (int k = 0; k < 5; k++) {
            clear();
            for (int rank = 0; rank < ranks; rank++) {
                collective(kinds[k], rank, ranks, 1, 1e6);
            }
            expect_all(1e-6 + factor[k] * 1e6 / MACHINE.link);
        }
    }
}

Test(makespan, a_collective_begins_when_the_last_rank_has_come) {
    clear();
    for (int rank = 0; rank < 4; rank++) {
        int slow = kernel(rank, 1e-3 * (rank + 1));
        entries[slow - 1].rank = entries[slow - 1].device = rank;
        collective(CUDASIM_ALL_REDUCE, rank, 4, 1, 1e6);
    }
    expect_all(1e-6 + 4e-3 + 1.5 * 1e6 / MACHINE.link);
}

Test(makespan, between_nodes_the_network_is_what_counts) {
    clear();
    for (int rank = 0; rank < 16; rank++) {
        collective(CUDASIM_ALL_REDUCE, rank, 16, 1, 1e6);
    }
    expect_all(1e-6 + 2 * 15. / 16 * 1e6 / MACHINE.network);
}

static int message(int rank, int stream, bool send, int peer, double seconds) {
    uint64_t *call = send ? &messages[rank][peer] : &received[peer][rank];
    return add((CudasimEntry){.kind = CUDASIM_COLLECTIVE,
                              .collective = send ? CUDASIM_SEND : CUDASIM_RECEIVE,
                              .rank = rank,
                              .device = rank,
                              .stream = stream,
                              .communicator = 1,
                              .call = ++*call,
                              .ranks = 8,
                              .comm_rank = rank,
                              .peer = peer,
                              .bytes = 1e8 * seconds});
}

/* p stages, m micro-batches, messages that take no time: m + p - 1 turns. */
static void pipeline(int p, int m, double turn) {
    clear();
    for (int micro = 0; micro < m; micro++) {
        for (int rank = 0; rank < p; rank++) {
            if (rank > 0) {
                message(rank, rank, false, rank - 1, 0);
            }
            int stage = kernel(rank, turn);
            entries[stage - 1].rank = entries[stage - 1].device = rank;
            if (rank + 1 < p) {
                message(rank, rank, true, rank + 1, 0);
            }
        }
    }
}

Test(makespan, pipeline_has_m_plus_p_minus_1_turns) {
    Machine free_launches = MACHINE;
    free_launches.launch = 0;
    for (int p = 1; p <= 6; p++) {
        for (int m = 1; m <= 12; m++) {
            pipeline(p, m, 1e-3);
            cr_assert(run(&free_launches));
            expect(result.seconds, 1e-3 * (m + p - 1));
        }
    }
}

Test(makespan, the_kth_send_meets_the_kth_receive) {
    clear();
    message(0, 0, true, 1, 1e-3);
    message(0, 0, true, 1, 2e-3);
    int slow = kernel(1, 5e-3);
    entries[slow - 1].rank = entries[slow - 1].device = 1;
    message(1, 1, false, 0, 1e-3);
    message(1, 1, false, 0, 2e-3);
    expect_all(1e-6 + 8e-3);
}

/* In a group, a rank sends and receives at the same time; what follows waits for both. */
static void ring_of_groups(double forth, double back) {
    clear();
    for (int rank = 0; rank < 4; rank++) {
        int before = kernel(rank, 1e-3), one = message(rank, rank, true, (rank + 1) % 4, forth);
        int other = message(rank, rank, false, (rank + 3) % 4, forth);
        int third = message(rank, rank, true, (rank + 3) % 4, back);
        int fourth = message(rank, rank, false, (rank + 1) % 4, back), next = kernel(rank, 1e-3);
        entries[before - 1].rank = entries[before - 1].device = rank;
        entries[next - 1].rank = entries[next - 1].device = rank;
        entries[one - 1].group = entries[other - 1].group = (uint64_t)rank + 1;
        entries[third - 1].group = entries[fourth - 1].group = (uint64_t)rank + 1;
    }
}

Test(makespan, calls_of_a_group_go_on_side_by_side) {
    ring_of_groups(1e-3, 0);
    expect_all(1e-6 + 3e-3);
    ring_of_groups(1e-3, 2e-3); /* one after the other on each link */
    expect_all(1e-6 + 5e-3);
}

Test(makespan, a_copy_between_devices_has_the_link) {
    clear();
    add((CudasimEntry){
        .kind = CUDASIM_COPY, .way = CUDASIM_BETWEEN_DEVICES, .peer = 1, .bytes = 1e6});
    expect_all(1e-6 + 1e6 / MACHINE.link);
}

Test(makespan, who_never_comes_is_an_error) {
    clear();
    collective(CUDASIM_ALL_REDUCE, 0, 2, 1, 1e6);
    cr_assert(!run(&MACHINE));
    clear();
    message(0, 0, true, 1, 1e-3);
    cr_assert(!run(&MACHINE));
    /* Both send first. */
    clear();
    message(0, 0, true, 1, 1e-3);
    message(0, 0, false, 1, 1e-3);
    message(1, 1, true, 0, 1e-3);
    message(1, 1, false, 0, 1e-3);
    cr_assert(!run(&MACHINE));
}
