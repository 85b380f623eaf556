#include "common/device.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "common/testkit/ending.h"
#include "common/testkit/fixture.h"

enum { UNIT = DEVICE_ALIGNMENT };

/* Eight tensors of a unit each fill the arena: there is no room for what is lost. */
static Device *device;
static char *data[8];

static void fill_device(void) {
    device = device_cpu_new(8 * UNIT);
    for (int i = 0; i < 8; i++) {
        data[i] = device_alloc(device, UNIT);
        cr_assert_eq(data[i], data[0] + (ptrdiff_t)i * UNIT);
    }
    cr_assert_null(device_alloc(device, 1));
}

static void release(int i) {
    device_release(device, data[i], UNIT);
}

Test(device, releases_in_any_order) {
    /* from below, from above, neighbours last, and in no order: each must end with one range */
    static const int orders[][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                    {7, 6, 5, 4, 3, 2, 1, 0},
                                    {0, 2, 4, 6, 1, 3, 5, 7},
                                    {6, 4, 2, 0, 7, 5, 3, 1},
                                    {3, 5, 4, 7, 6, 0, 2, 1}};
    fill_device();
    for (size_t order = 0; order < sizeof orders / sizeof *orders; order++) {
        for (int i = 0; i < 8; i++) {
            release(orders[order][i]);
        }
        char *all = device_alloc(device, 8 * UNIT);
        cr_assert_eq(all, data[0], "order %zu leaves no whole range", order);
        device_release(device, all, 8 * UNIT);
        for (int i = 0; i < 8; i++) {
            cr_assert_eq(device_alloc(device, UNIT), data[i]);
        }
    }
    device_free(device);
}

Test(device, fills_the_lowest_hole_that_is_large_enough) {
    fill_device();
    release(1);
    release(3);
    release(4);
    release(6);
    cr_assert_eq(device_alloc(device, 2 * UNIT), data[3]);
    cr_assert_null(device_alloc(device, 2 * UNIT), "two holes of a unit were taken for one of two");
    cr_assert_eq(device_alloc(device, 1), data[1]);
    cr_assert_eq(device_alloc(device, UNIT), data[6]);
    cr_assert_null(device_alloc(device, 1));
    device_free(device);
}

/* A stack's tensors lie where they would without holes: nothing is looked for. */
Test(device, what_is_released_newest_first_comes_again) {
    fill_device();
    for (int height = 7; height >= 0; height--) {
        release(height);
        cr_assert_eq(device_alloc(device, UNIT), data[height]);
        device_release(device, data[height], UNIT);
    }
    device_free(device);
}

static void release_twice(void) {
    device = device_cpu_new(8 * UNIT);
    for (int i = 0; i < 8; i++) {
        data[i] = device_alloc(device, UNIT);
    }
    release(3);
    release(2);
    release(3);
}

static void release_the_newest_twice(void) {
    device = device_cpu_new(8 * UNIT);
    data[0] = device_alloc(device, UNIT);
    release(0);
    release(0);
}

Test(device, what_is_not_there_cannot_be_released) {
    expect_ending(release_twice, -SIGABRT, "a tensor is released that is not there");
    expect_ending(release_the_newest_twice, -SIGABRT, "a tensor is released that is not there");
}

/* Three tensors, the second of which goes; what was written there, and above them, goes with it. */
Test(device, forgets_what_no_tensor_has) {
    enum { BYTES = 256 << 10, ALL = 4 * BYTES };
    size_t bytes;
    char *tensor[3];
    device = device_cpu_new(ALL);
    char *begin = device_cpu_range(device, &bytes);
    cr_assert_eq(bytes, ALL);
    for (int i = 0; i < 3; i++) {
        tensor[i] = device_alloc(device, BYTES);
        cr_assert(begin <= tensor[i] && tensor[i] + BYTES <= begin + bytes);
    }
    memset(begin, 7, ALL);
    device_release(device, tensor[1], BYTES);
    device_cpu_forget(device);
    for (size_t i = 0; i < ALL; i++) {
        bool kept = i < BYTES || (2 * BYTES <= i && i < 3 * BYTES);
        cr_assert_eq(begin[i], kept ? 7 : 0, "byte %zu is %d", i, begin[i]);
    }
    device_free(device);
}

/* From any address, and around the sizes from which threads share it and caches are left out. */
Test(device, fills_what_it_is_told_and_no_more) {
    enum { ALL = 3 << 20, LARGE = 1 << 20 };
    static const size_t sizes[] = {0, 1, 15, 40000, LARGE - 1, LARGE, 2 * LARGE + 32768 + 17};
    device = device_cpu_new(ALL);
    unsigned char *bytes = device_alloc(device, ALL);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t first = 0; first < 40; first += 13) {
            memset(bytes, 1, ALL);
            device_fill(device, bytes + first, 0xA5, sizes[s]);
            for (size_t i = 0; i < ALL; i++) {
                bool inside = first <= i && i < first + sizes[s];
                cr_assert_eq(bytes[i], inside ? 0xA5 : 1, "byte %zu of %zu from %zu", i, sizes[s],
                             first);
            }
        }
    }
    device_free(device);
}

Test(device, the_gpu_releases_in_any_order) {
    device = device_gpu_new(ops_gpu);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++) {
            data[i] = device_alloc(device, UNIT);
            device_fill(device, data[i], i, UNIT);
        }
        for (int i = 0; i < 8; i += 2) {
            release(i);
        }
        for (int i = 1; i < 8; i += 2) {
            unsigned char last;
            device_download(device, &last, data[i] + UNIT - 1, 1);
            cr_assert_eq(last, i);
            release(i);
        }
    }
    device_free(device);
    cr_assert_eq(fixture_problems(), 0);
}

/* CUDA reads it when it starts; a GPU says which launch has failed only if it does. */
Test(device, launches_of_a_gpu_can_be_waited_for) {
    unsetenv("CUDA_LAUNCH_BLOCKING");
    device_gpu_wait_for_launches();
    cr_assert_str_eq(getenv("CUDA_LAUNCH_BLOCKING"), "1");
}

Test(device, an_old_gpu_has_no_products_of_bf16) {
    const Device cpu = {.capability = 0}, t4 = {.capability = 75}, a100 = {.capability = 80};
    for (Precision precision = F32; precision <= BF16; precision++) {
        cr_assert_null(device_lacks(&cpu, precision));
        cr_assert_null(device_lacks(&a100, precision));
        cr_assert_eq(device_lacks(&t4, precision) == NULL, precision != BF16);
    }
    device = device_gpu_new(ops_gpu);
    cr_assert_gt(device->capability, 0);
    device_free(device);
}
