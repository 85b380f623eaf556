#include "kernels/tensors.h"

#include <criterion/criterion.h>

enum { COUNT = 7 };

/* Empty tensors first, between and last; one number; a whole block; a number more. */
static const size_t sizes[COUNT] = {0, 1, TENSOR_BLOCK, 0, TENSOR_BLOCK + 1, 1000, 0};

/* Every index there is, against a walk from tensor to tensor. */
Test(tensors, every_index_has_its_place) {
    static float data[COUNT][1024];
    TensorEntry entries[COUNT];
    for (int i = 0; i < COUNT; i++) {
        entries[i] = (TensorEntry){.data = data[i], .n = sizes[i]};
    }
    TensorList list = {.tensor = entries, .count = COUNT};
    list.length = tensors_index(entries, COUNT);
    cr_assert_eq(list.length % TENSOR_BLOCK, 0);
    size_t index = 0;
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(entries[i].first, index);
        for (size_t k = 0; k < tensor_indices(sizes[i]); k++, index++) {
            TensorPlace at = tensor_find(list, index);
            size_t left = k < sizes[i] ? sizes[i] - k : 0;
            cr_assert_eq(at.left, left, "index %zu: %zu left of %zu", index, at.left, sizes[i]);
            cr_assert(left == 0 || (at.tensor == i && at.offset == k), "index %zu: tensor %d, %zu",
                      index, at.tensor, at.offset);
            cr_assert(left == 0 || tensor_at(list, at) == &data[i][k]);
            cr_assert_eq(tensor_run(at), left < TENSOR_BLOCK ? left : TENSOR_BLOCK);
        }
    }
    cr_assert_eq(index, list.length);
    cr_assert_eq(tensor_find(list, index).left, 0);
    cr_assert_eq(tensor_find(list, index + 100000).left, 0);
}

Test(tensors, an_empty_list_has_no_index) {
    cr_assert_eq(tensors_index(NULL, 0), 0);
    TensorEntry empty[2] = {{.n = 0}, {.n = 0}};
    cr_assert_eq(tensors_index(empty, 2), 0);
    cr_assert_eq(tensor_indices(0), 0);
    cr_assert_eq(tensor_indices(1), TENSOR_BLOCK);
}
