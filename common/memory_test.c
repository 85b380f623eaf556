#include "common/memory.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

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
    x[100] = 1;
    memory_release(memory, 0);
}

Test(memory, writing_past_the_end_is_found) {
    expect_ending(write_past_the_end, -SIGABRT, "past the end of \"x\" (100 bytes)");
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
