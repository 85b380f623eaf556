#include "grader/picture.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CPU_BYTES = 64 << 20 };

/* The picture of `count` tensors, each larger than the one before, all gone at the end. */
static json_t *picture_of(int count) {
    static uint64_t numbers[PICTURE_NUMBERS];
    memset(numbers, WIRE_FILL, sizeof numbers);
    Device *device = device_cpu_new(CPU_BYTES);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    memory_record(memory, true);
    MemoryMark mark = memory_mark(memory);
    for (int i = 0; i < count; i++) {
        memory_alloc(memory, MEMORY_ACTIVATIONS, "x", i, 256 * (size_t)(i + 1));
    }
    memory_release(memory, mark);
    picture_give(memory, numbers);
    memory_free(memory);
    device_free(device);
    return picture_json(numbers, "title", 1000);
}

static double activations_at(json_t *picture, size_t i) {
    const json_t *moment = json_array_get(json_object_get(picture, "bytes"), i);
    return json_number_value(json_array_get(moment, MEMORY_ACTIVATIONS));
}

Test(picture, has_each_moment_of_a_short_step) {
    json_t *picture = picture_of(3);
    cr_assert_eq(json_array_size(json_object_get(picture, "bytes")), 6);
    cr_assert_eq(activations_at(picture, 0), 256);
    cr_assert_eq(activations_at(picture, 2), 256 * 6);
    cr_assert_eq(activations_at(picture, 5), 0);
    cr_assert_eq(json_array_size(json_object_get(picture, "kinds")), MEMORY_KINDS);
    cr_assert_eq(json_number_value(json_object_get(picture, "budget")), 1000);
    json_decref(picture);
}

Test(picture, never_loses_the_peak_of_a_long_step) {
    json_t *picture = picture_of(501);
    size_t moments = json_array_size(json_object_get(picture, "bytes"));
    double peak = 0;
    for (size_t i = 0; i < moments; i++) {
        double bytes = activations_at(picture, i);
        peak = bytes > peak ? bytes : peak;
    }
    cr_assert_eq(moments, PICTURE_MOMENTS);
    cr_assert_eq(peak, 256.0 * 501 * 502 / 2);
    json_decref(picture);
}

Test(picture, is_none_without_a_moment_and_ends_where_numbers_are_absurd) {
    uint64_t numbers[PICTURE_NUMBERS];
    memset(numbers, WIRE_FILL, sizeof numbers);
    cr_assert_null(picture_json(numbers, "title", 0));
    memset(numbers, 0, sizeof numbers);
    numbers[3 * MEMORY_KINDS + 2] = (uint64_t)1 << 60;
    json_t *picture = picture_json(numbers, "title", 0);
    cr_assert_eq(json_array_size(json_object_get(picture, "bytes")), 3);
    json_decref(picture);
}
