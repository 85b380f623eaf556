#include "common/memory.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/ending.h"

static Device *device;
static Memory *memory;

static void open_memory(size_t budget, bool checked) {
    device = device_cpu_new(64 << 20);
    memory = memory_new(device, (MemoryOptions){.budget = budget, .checked = checked});
}

static void close_memory(void) {
    memory_free(memory);
    device_free(device);
}

Test(memory, counts_by_kind_and_keeps_the_peak) {
    open_memory(0, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 1000);
    MemoryMark mark = memory_mark(memory);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", 0, 501);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 1, 300);
    memory_release(memory, mark);
    memory_alloc(memory, MEMORY_WORKSPACE, "s", -1, 7);
    MemoryUse now = memory_now(memory), peak = memory_peak(memory);
    cr_assert_eq(now.bytes[MEMORY_WEIGHTS], 1000);
    cr_assert_eq(now.bytes[MEMORY_ACTIVATIONS], 0);
    cr_assert_eq(memory_total(&now), 1007);
    cr_assert_eq(peak.bytes[MEMORY_ACTIVATIONS], 801);
    cr_assert_eq(memory_total(&peak), 1801);
    cr_assert_eq(memory_padding(memory), 24 + 11 + 212);
    memory_peak_reset(memory);
    peak = memory_peak(memory);
    cr_assert_eq(memory_total(&peak), 1007);
    close_memory();
}

static void expect_alive(const char *const *names, size_t count) {
    size_t found;
    const Tensor *tensors = memory_peak_tensors(memory, &found);
    cr_assert_eq(found, count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_str_eq(tensors[i].name, names[i]);
    }
}

Test(memory, knows_the_tensors_of_the_peak) {
    const char *const at_peak[] = {"w", "a", "b"}, *const later[] = {"w", "c"};
    open_memory(0, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 10);
    MemoryMark mark = memory_mark(memory);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", 0, 20);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 0, 30);
    expect_alive(at_peak, 3);
    memory_release(memory, mark);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "c", 0, 40);
    expect_alive(at_peak, 3);
    memory_release(memory, mark);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "c", 0, 51);
    expect_alive(later, 2);
    close_memory();
}

Test(memory, tensors_are_aligned_and_apart) {
    open_memory(0, false);
    char *before = NULL;
    for (size_t bytes = 0; bytes < 600; bytes += 37) {
        char *data = memory_alloc(memory, MEMORY_DATA, "t", -1, bytes);
        cr_assert_eq((uintptr_t)data % 256, 0);
        cr_assert(before == NULL || data >= before);
        before = data + bytes;
    }
    close_memory();
}

Test(memory, the_budget_fits_to_the_byte) {
    open_memory(1000, true);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 600);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", 3, 400);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "nothing", 3, 0);
    close_memory();
}

static void stop(void *context) {
    fprintf(stderr, "refused on %s\n", ((const Device *)context)->name);
    exit(7);
}

static void exceed_by_one(void) {
    open_memory(1258292 + 400, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 1 << 20);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", 2, 209716);
    memory_on_refusal(memory, stop, device);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "attention.probs", 3, 401);
}

Test(memory, one_byte_too_many_ends_the_program) {
    expect_ending(exceed_by_one, 7,
                  "out of memory: 0.0 MiB for \"attention.probs\" (layer 3, activations); 1.2 of "
                  "1.2 MiB in use, short by 1 bytes:\n  weights 1.0  activations 0.2 MiB\n"
                  "refused on cpu\n");
}

/* In use + bytes wraps around. */
static void ask_for_everything(void) {
    open_memory(1000, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 600);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", -1, SIZE_MAX - 100);
}

Test(memory, an_absurd_size_ends_the_program) {
    expect_ending(ask_for_everything, 1, "in use, short by 18446744073709551115 bytes");
}

static void fill_the_device(void) {
    open_memory(0, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 65 << 20);
}

Test(memory, a_full_device_ends_the_program) {
    expect_ending(fill_the_device, 1, "the device has no more, 0.0 MiB in use");
}

Test(memory, fresh_and_released_memory_is_nan_if_checked) {
    open_memory(0, true);
    MemoryMark mark = memory_mark(memory);
    float *x = memory_alloc(memory, MEMORY_ACTIVATIONS, "x", -1, 100 * sizeof *x);
    for (int i = 0; i < 100; i++) {
        cr_assert(isnan(x[i]));
        x[i] = 1;
    }
    memory_release(memory, mark);
    for (int i = 0; i < 100; i++) {
        cr_assert(isnan(x[i]));
    }
    float *zero = memory_alloc_zero(memory, MEMORY_ACTIVATIONS, "x", -1, 100 * sizeof *x);
    for (int i = 0; i < 100; i++) {
        cr_assert_eq(zero[i], 0.0f);
    }
    close_memory();
}

static void write_past_the_end(void) {
    open_memory(0, true);
    char *x = memory_alloc(memory, MEMORY_ACTIVATIONS, "x", -1, 100);
    x[102] = 1;
    memory_release(memory, 0);
}

Test(memory, writing_past_the_end_is_found) {
    expect_ending(write_past_the_end, -SIGABRT, "byte 3 past the end of \"x\" (100 bytes)");
}

static void release_what_is_not_there(void) {
    open_memory(0, false);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "x", -1, 100);
    memory_release(memory, 2);
}

Test(memory, a_mark_above_the_stack_is_a_bug) {
    expect_ending(release_what_is_not_there, -SIGABRT, "above the stack of 1 tensors");
}

Test(memory, records_what_happens) {
    size_t count;
    open_memory(0, false);
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 10);
    memory_record(memory, true);
    MemoryMark mark = memory_mark(memory);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "a", 4, 20);
    memory_release(memory, mark);
    memory_record(memory, false);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 4, 20);
    const MemoryEvent *events = memory_events(memory, &count);
    cr_assert_eq(count, 2);
    cr_assert(events[0].allocated && !events[1].allocated);
    cr_assert_str_eq(events[1].tensor.name, "a");
    cr_assert_eq(memory_total(&events[0].in_use), 30);
    cr_assert_eq(memory_total(&events[1].in_use), 10);
    cr_assert(events[1].seconds >= events[0].seconds);
    close_memory();
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* Four lanes come and go in turn, as micro-batches in a pipeline do: each by its own marks. */
Test(memory, lanes_are_released_in_any_order) {
    static const char *const names[] = {"", "a", "b", "c"};
    open_memory(0, true);
    char *data[4][2] = {{NULL}};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++) {
            Memory *lane = memory_lane(memory, names[i % 4]);
            char *at = memory_alloc(lane, MEMORY_ACTIVATIONS, "x", i, 100 + (size_t)i);
            cr_assert(round == 0 || at == data[i % 4][i / 4], "pages are not used again");
            data[i % 4][i / 4] = at;
            memset(at, i, 100 + (size_t)i);
        }
        static const int order[] = {2, 0, 3, 1};
        for (int i = 0; i < 4; i++) {
            Memory *lane = memory_lane(memory, names[order[i]]);
            cr_assert_eq(memory_mark(lane), 2);
            cr_assert_eq(data[order[i]][1][0], 4 + order[i], "another lane's release took it");
            memory_release(lane, 1);
            cr_assert_eq(data[order[i]][0][99], order[i]);
            memory_release(lane, 0);
        }
        MemoryUse now = memory_now(memory);
        cr_assert_eq(memory_total(&now), 0);
    }
    cr_assert_eq(memory_lanes(memory), 4);
    close_memory();
}

Test(memory, a_lane_is_known_by_its_name) {
    open_memory(0, false);
    char name[] = "slots";
    Memory *lane = memory_lane(memory, name);
    name[0] = '?';
    cr_assert_eq(memory_lane(memory, "slots"), lane);
    cr_assert_eq(memory_lane(lane, "slots"), lane);
    cr_assert_eq(memory_lane(lane, ""), memory);
    cr_assert_str_eq(memory_lane_name(memory, 1), "slots");
    cr_assert_eq(memory_device(lane), device);
    cr_assert_eq(memory_lanes(lane), 2);
    close_memory();
}

Test(memory, lanes_are_counted_together_and_each) {
    const char *const at_peak[] = {"w", "a", "b", "c"};
    open_memory(0, false);
    Memory *lane = memory_lane(memory, "lane"), *other = memory_lane(memory, "other");
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 1000);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 0, 501);
    memory_alloc(other, MEMORY_ACTIVATIONS, "b", 0, 70);
    memory_alloc(lane, MEMORY_WORKSPACE, "c", 0, 3);
    memory_release(lane, 0);
    cr_assert_eq(memory_lane_now(lane), 0);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "e", 0, 503);
    memory_release(lane, 0);
    cr_assert_eq(memory_lane_peak(lane), 504);
    memory_alloc(other, MEMORY_ACTIVATIONS, "d", 0, 502);
    cr_assert_eq(memory_lane_peak(other), 572);
    cr_assert_eq(memory_lane_now(memory), 1000);
    MemoryUse now = memory_now(lane), peak = memory_peak(other);
    cr_assert_eq(now.bytes[MEMORY_ACTIVATIONS], 572);
    cr_assert_eq(peak.bytes[MEMORY_ACTIVATIONS], 571);
    cr_assert_eq(memory_total(&peak), 1574);
    expect_alive(at_peak, 4);
    memory_peak_reset(lane);
    peak = memory_peak(memory);
    cr_assert_eq(memory_total(&peak), 1572);
    cr_assert_eq(memory_lane_peak(lane), 0);
    close_memory();
}

/* The oldest of the peak's tensors may go while younger ones stay. */
Test(memory, knows_the_tensors_of_a_peak_that_lanes_have_left) {
    const char *const at_peak[] = {"a", "b", "c"};
    open_memory(0, false);
    Memory *lane = memory_lane(memory, "lane");
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 0, 20);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 0, 30);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "c", 0, 40);
    memory_release(lane, 0);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "d", 0, 10);
    expect_alive(at_peak, 3);
    size_t count;
    cr_assert_eq(memory_peak_tensors(memory, &count)[2].lane, 1);
    close_memory();
}

Test(memory, the_budget_is_that_of_all_lanes) {
    open_memory(1000, true);
    Memory *lane = memory_lane(memory, "lane");
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 0, 600);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 0, 400);
    memory_release(lane, 0);
    memory_alloc(memory_lane(lane, "other"), MEMORY_ACTIVATIONS, "c", 0, 600);
    cr_assert_eq(memory_budget(lane), 1000);
    close_memory();
}

static void exceed_with_a_lane(void) {
    open_memory(2 << 20, false);
    Memory *lane = memory_lane(memory, "micro-batch 1");
    memory_lane(memory, "empty");
    memory_alloc(memory, MEMORY_WEIGHTS, "w", -1, 1 << 20);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 2, 1 << 19);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "attention.probs", 3, (1 << 19) + 1);
}

Test(memory, one_byte_too_many_in_a_lane_ends_the_program) {
    expect_ending(exceed_with_a_lane, 1,
                  "out of memory: 0.5 MiB for \"attention.probs\" (lane micro-batch 1, layer 3, "
                  "activations); 1.5 of 2.0 MiB in use, short by 1 bytes:\n"
                  "  weights 1.0  activations 0.5 MiB\n"
                  "of that in lanes:\n  micro-batch 1 0.5 MiB\n");
}

static void free_a_lane(void) {
    open_memory(0, false);
    memory_free(memory_lane(memory, "slots"));
}

Test(memory, a_lane_goes_with_its_memory) {
    expect_ending(free_a_lane, -SIGABRT, "lane \"slots\" goes with its memory");
}

Test(memory, records_the_lane_of_what_happens) {
    open_memory(0, false);
    memory_record(memory, true);
    Memory *lane = memory_lane(memory, "lane");
    memory_alloc(lane, MEMORY_ACTIVATIONS, "a", 0, 20);
    memory_alloc(memory, MEMORY_ACTIVATIONS, "b", 0, 30);
    memory_alloc(lane, MEMORY_ACTIVATIONS, "c", 0, 40);
    memory_release(lane, 0);
    static const char *const names[] = {"a", "b", "c", "c", "a"};
    static const int lanes[] = {1, 0, 1, 1, 1};
    static const size_t in_use[] = {20, 50, 90, 50, 30};
    size_t count;
    const MemoryEvent *events = memory_events(lane, &count);
    cr_assert_eq(count, 5);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_str_eq(events[i].tensor.name, names[i]);
        cr_assert_eq(events[i].tensor.lane, lanes[i]);
        cr_assert_eq(events[i].allocated, i < 3);
        cr_assert_eq(memory_total(&events[i].in_use), in_use[i]);
    }
    close_memory();
}
