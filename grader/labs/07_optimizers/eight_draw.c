/* Draws runs of 8-bit AdamW. The contract is in eight.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/07_optimizers/eight.h"
#include "grader/labs/07_optimizers/term.h"

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

Codebooks eight_books(void) {
    Codebooks books;
    float *to[2] = {books.m, books.v};
    for (int k = 0; k < 2; k++) {
        int count = 0;
        for (int e = 0; e < 7; e++) {
            int parts = (k + 1) << e;
            for (int j = 0; j < parts; j++) {
                double low = 0.1 + 0.9 * j / parts, high = 0.1 + 0.9 * (j + 1) / parts;
                float value =
                    (float)(((1 - TERM_POINT_IS) * low + TERM_POINT_IS * high) * pow(10, e - 6));
                to[k][count++] = value;
                if (k == 0) {
                    to[k][count++] = -value;
                }
            }
        }
        to[k][count++] = 0;
        to[k][count++] = 1;
        CHECK(count == ADAM8_CODES, "%d values", count);
        qsort(to[k], ADAM8_CODES, sizeof(float), by_value);
    }
    return books;
}

static size_t blocks_of(int n) {
    return adam8_blocks((size_t)n);
}

/* Scales that differ from block to block by up to a factor of 10, and codes of all sizes. */
static EightMoment draw_moment(Eight *eight, bool fresh, bool first) {
    Check *check = eight->check;
    uint8_t *code = (uint8_t *)check_normal(check, eight->all / 4 + 1, 0, F32);
    float *absmax = check_normal(check, eight->blocks, 0, F32);
    float *value = check_normal(check, eight->all, 0.3, F32);
    memset(code, 0, eight->all);
    for (size_t i = 0; i < eight->all; i++) {
        code[i] = fresh ? 0 : (uint8_t)check_int(check, 0, 255);
        value[i] = fresh ? 0 : first ? value[i] : value[i] * value[i];
    }
    for (size_t b = 0; b < eight->blocks; b++) {
        float scale = (float)pow(10, check_int(check, -100, 100) / 100.0);
        absmax[b] = fresh ? 0 : first ? scale : scale * scale;
    }
    return (EightMoment){code, absmax, value};
}

/* The last block of a tensor of four has no gradient; in the middle of training, codes of 0 too. */
static void plant_zeros(Eight *eight, bool fresh) {
    size_t first = 3 * ADAM8_BLOCK;
    for (int k = 0; k < EIGHT_FOUR_BLOCKS; k++) {
        first += (size_t)eight->n[k];
    }
    for (int step = 0; step < eight->steps; step++) {
        float *grad = eight->grad + (size_t)step * eight->all + first;
        memset(grad, 0, ADAM8_BLOCK * sizeof *grad);
    }
    memset((uint8_t *)eight->start.m.code + first, fresh ? 0 : 127, ADAM8_BLOCK);
    memset((uint8_t *)eight->start.v.code + first, 0, ADAM8_BLOCK);
}

/* A tensor whose gradients and states are far below any number that might be added to a scale; its
   last block far below epsilon, too. */
static void shrink(Eight *eight) {
    size_t first = 0, block = 0, n = (size_t)eight->n[EIGHT_SMALL];
    for (int k = 0; k < EIGHT_SMALL; k++) {
        first += (size_t)eight->n[k];
        block += blocks_of(eight->n[k]);
    }
    for (size_t i = 0; i < n; i++) {
        for (int step = 0; step < eight->steps; step++) {
            eight->grad[(size_t)step * eight->all + first + i] *= i < ADAM8_BLOCK ? 1e-8f : 1e-13f;
        }
    }
    for (size_t b = 0; b < adam8_blocks(n); b++) {
        ((float *)eight->start.m.absmax)[block + b] *= b == 0 ? 1e-8f : 1e-13f;
        ((float *)eight->start.v.absmax)[block + b] *= b == 0 ? 1e-16f : 1e-26f;
    }
}

/* In each tensor: one number far larger than all others; and one whose first moment becomes
   negative, and too small for any code but that of 0. */
static void plant(Eight *eight, bool fresh) {
    float *grad = eight->grad;
    for (int step = 0; step < eight->steps; step++) {
        for (int k = 0; k < eight->tensors; grad += eight->n[k++]) {
            if (eight->n[k] > 40) {
                grad[40] *= 500;
                grad[7] = 0; /* its moments decay even so */
                grad[3] = fresh && step > 0 ? grad[3] : -1e-9f;
            }
        }
    }
    uint8_t *code = (uint8_t *)eight->start.m.code;
    for (int k = 0; k < eight->tensors && !fresh; code += eight->n[k++]) {
        if (eight->n[k] > 3) {
            code[3] = 127; /* 0 */
        }
    }
}

static Eight *eight_draw(Eight *eight, bool fresh) {
    Check *check = eight->check;
    for (int k = 0; k < eight->tensors; k++) {
        eight->all += (size_t)eight->n[k];
        eight->blocks += blocks_of(eight->n[k]);
    }
    eight->books[0] = eight->books[1] = eight_books();
    /* Other numbers than the usual ones, which a program might have by heart. */
    eight->adamw = (AdamW){.learning_rate = (float)check_int(check, 5, 15) / 100,
                           .beta1 = (float)check_int(check, 80, 88) / 100,
                           .beta2 = check_int(check, 0, 1) ? 0.95f : 0.99f,
                           .epsilon = (float)check_int(check, 2, 9) * 1e-8f,
                           .weight_decay = (float)check_int(check, 3, 7) / 10};
    for (int step = 0; step < EIGHT_STEPS; step++) {
        eight->rate[step] = eight->adamw.learning_rate * (1 + 0.125f * (float)step);
    }
    /* In step 2 the corrections of step 1 look like none at all. */
    eight->t = fresh ? 1 : check_int(check, 3, 40);
    eight->start.weight = check_normal(check, eight->all, 1, F32);
    eight->start.m = draw_moment(eight, fresh, true);
    eight->start.v = draw_moment(eight, fresh, false);
    eight->grad = check_normal(check, (size_t)eight->steps * eight->all, 1, F32);
    for (size_t i = 0; i < (size_t)eight->steps * eight->all; i++) {
        eight->grad[i] *= (float)pow(10, check_int(check, -50, 50) / 100.0);
    }
    plant(eight, fresh);
    return eight;
}

static Eight *eight_empty(Check *check) {
    static Eight eight;
    memset(&eight, 0, sizeof eight);
    eight.check = check;
    return &eight;
}

Eight *eight_new(Check *check, int steps, bool fresh) {
    Eight *eight = eight_empty(check);
    const int n[] = {257, 1,    check_int(check, 300, 500), 0,
                     31,  1024, check_int(check, 41, 255),  33};
    for (int k = 0; k < EIGHT_TENSORS; k++) {
        eight->n[k] = n[k];
        eight->flags[k] = (k % 3 != 1 ? FLAG_DECAYS : 0) | (k < 6 ? FLAG_BYTES : 0);
    }
    eight->tensors = EIGHT_TENSORS;
    eight->steps = steps;
    eight_draw(eight, fresh);
    plant_zeros(eight, fresh);
    shrink(eight);
    return eight;
}

Eight *eight_new_of(Check *check, int n) {
    Eight *eight = eight_empty(check);
    eight->n[0] = n;
    eight->flags[0] = FLAG_DECAYS | FLAG_BYTES;
    eight->tensors = eight->steps = 1;
    return eight_draw(eight, false);
}

Eight *eight_new_large(Check *check) {
    Eight *eight = eight_empty(check);
    eight->n[0] = 4095 * ADAM8_BLOCK;
    eight->n[1] = 2 * ADAM8_BLOCK + 1;
    eight->flags[0] = FLAG_DECAYS;
    eight->flags[1] = FLAG_DECAYS | FLAG_BYTES;
    for (int k = 2; k < EIGHT_MOST; k++) { /* many tensors: a model has some for each block */
        eight->n[k] = 1;
        eight->flags[k] = FLAG_BYTES * (k % 2);
    }
    eight->tensors = EIGHT_MOST;
    eight->steps = 1;
    return eight_draw(eight, false);
}

/* Makes a number the middle between two values of a codebook. */
static void plant_middle(float *book, float middle) {
    int above = 0;
    while (book[above] < middle) {
        above++;
    }
    book[above - 1] = middle - 1.0f / 512;
    book[above] = middle + 1.0f / 512;
}

void eight_plant_tie(Eight *eight, uint8_t zero) {
    enum { BLOCK = 2 * ADAM8_BLOCK };
    size_t first = BLOCK;
    for (int k = 0; k < EIGHT_FOUR_BLOCKS; k++) {
        first += (size_t)eight->n[k];
    }
    plant_middle(eight->books[0].m, 0.5f);
    plant_middle(eight->books[0].v, 0.25f);
    memset((uint8_t *)eight->start.m.code + first, zero, ADAM8_BLOCK);
    memset((uint8_t *)eight->start.v.code + first, 0, ADAM8_BLOCK);
    memset(eight->grad + first, 0, ADAM8_BLOCK * sizeof *eight->grad);
    eight->adamw.beta1 = 1 - 1.0f / 8; /* both scales are 1 */
    eight->adamw.beta2 = 1 - 1.0f / 64;
    eight->grad[first] = 8;
    eight->grad[first + 1] = 4;
    eight->tie = first + 1;
}
