/* AdamW with moments of one byte, on the CPU. The contract, with the formula, is in adam8.h. */
#include "kernels/adam8.h"

#include <math.h>
#include <string.h>

/* ---- the nearest code ------------------------------------------------------------------------ */

/* The contract's definition is a search of eight steps, each of which waits for the one before. But
   floats with the same upper 16 bits, a cell, are so close together that at most one of them is a
   border between two codes. A table has for each cell

       (code of its smallest number) << 16  +  0xffff - (lower 16 bits of the border)

   and a number's own lower bits, added to it, carry into the code where they exceed the border's.
   Of a codebook that has two borders in a cell, the search finds the codes. */
enum {
    FIRST = 0x33ff, /* the cell below 2^-23; all that is smaller has its code */
    LAST = 0x3f80,  /* the cell of 1 */
    CELLS = LAST - FIRST + 1,
    LOWER = 0xffff,
};

typedef struct Finder {
    float border[ADAM8_CODES]; /* the largest x with this code */
    bool has_cells;
    uint32_t cell[2 * CELLS]; /* of the numbers from 0 up; of those below 0, by magnitude */
} Finder;

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint8_t search(const Finder *finder, float x) {
    int low = 0, high = ADAM8_CODES - 1;
    while (low < high) {
        int c = (low + high) / 2;
        if (x > finder->border[c]) {
            low = c + 1;
        } else {
            high = c;
        }
    }
    return (uint8_t)low;
}

/* The cells on one side of 0, from it outwards; code c is the one beside 0. Below 0 codes fall, a
   border has the code further out, and so the lower bits count from the far end of a cell. */
static bool fill_side(uint32_t *cell, const float *border, uint32_t c, bool below) {
    uint32_t end = below ? 0 : ADAM8_CODES - 1;
    int next = 0;
    for (; c != end; c = below ? c - 1 : c + 1) {
        uint32_t bits = bits_of(below ? -border[c - 1] : border[c]), lower = bits & LOWER;
        int at = (int)(bits >> 16) - FIRST;
        if (at <= 0 || at < next || at >= CELLS) {
            return false;
        }
        while (next < at) {
            cell[next++] = c << 16;
        }
        cell[next++] = below ? ((c - 1) << 16) + lower : (c << 16) + LOWER - lower;
    }
    while (next < CELLS) {
        cell[next++] = c << 16;
    }
    return true;
}

static void finder_init(Finder *finder, const float *book) {
    uint32_t zero = 0;
    for (uint32_t c = 0; c + 1 < ADAM8_CODES; c++) {
        /* no negative number becomes 0 */
        finder->border[c] = book[c + 1] == 0 ? -0x1p-149f : (book[c] + book[c + 1]) / 2;
        zero = book[c + 1] == 0 ? c + 1 : zero;
    }
    finder->border[ADAM8_CODES - 1] = INFINITY;
    uint32_t below = zero > 0 ? zero - 1 : 0;
    finder->has_cells = fill_side(finder->cell, finder->border, zero, false) &&
                        fill_side(finder->cell + CELLS, finder->border, below, true);
}

/* Codes of a block of numbers, divided by `divisor`. Cells are looked up in a loop of their own,
   one at a time: to gather them would take as long. */
static void find_codes(uint8_t *code, const float *x, float divisor, const Finder *finder) {
    if (!finder->has_cells) {
        for (int i = 0; i < ADAM8_BLOCK; i++) {
            code[i] = search(finder, x[i] / divisor);
        }
        return;
    }
    const uint32_t least = (uint32_t)FIRST << 16, most = ((uint32_t)LAST << 16) + LOWER;
    uint16_t at[ADAM8_BLOCK], lower[ADAM8_BLOCK];
#pragma omp simd
    for (int i = 0; i < ADAM8_BLOCK; i++) {
        float y = x[i] / divisor;
        uint32_t bits = bits_of(y) & 0x7fffffffu;
        bits = bits > least ? bits : least;
        bits = bits < most ? bits : most; /* NaN as well */
        at[i] = (uint16_t)((bits >> 16) - FIRST + (y < 0 ? CELLS : 0));
        lower[i] = (uint16_t)(y < 0 ? ~bits : bits);
    }
    for (int i = 0; i < ADAM8_BLOCK; i++) {
        code[i] = (uint8_t)((finder->cell[at[i]] + lower[i]) >> 16);
    }
}

/* ---- a block ------------------------------------------------------------------------------- */

static void load(float *x, const Moment8 *moment, size_t offset, size_t n, const float *book) {
    if (moment->value != NULL) {
        memcpy(x, moment->value + offset, n * sizeof *x);
        return;
    }
    float absmax = moment->absmax[offset / ADAM8_BLOCK];
    const uint8_t *code = moment->code + offset;
    for (size_t i = 0; i < n; i++) {
        x[i] = book[code[i]] * absmax;
    }
}

/* As whole numbers the bits of floats without a sign have the order of their values, with NaN above
   all: this maximum hides nothing. */
static float largest(const float *x) {
    uint32_t most = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < ADAM8_BLOCK; i++) {
        uint32_t bits = bits_of(x[i]) & 0x7fffffffu;
        most = bits > most ? bits : most;
    }
    return float_of(most);
}

/* Stores n numbers of a block, whose others are 0. */
static void store(const Moment8 *moment, size_t offset, const float *x, size_t n,
                  const Finder *finder) {
    if (moment->value != NULL) {
        memcpy(moment->value + offset, x, n * sizeof *x);
        return;
    }
    float absmax = largest(x), divisor = absmax == 0 ? 1 : absmax;
    uint8_t code[ADAM8_BLOCK];
    moment->absmax[offset / ADAM8_BLOCK] = absmax;
    find_codes(code, x, divisor, finder);
    memcpy(moment->code + offset, code, n);
}

void adam8_cpu(TensorList weight, const Moment8 *m_list, const Moment8 *v_list, TensorList grad,
               const Codebooks *codebooks, AdamW adamw, int t) {
    CHECK(t >= 1, "t = %d, steps count from 1", t);
    float correct1 = (float)(1 / (1 - pow((double)adamw.beta1, t)));
    float correct2 = (float)(1 / (1 - pow((double)adamw.beta2, t)));
    Finder find_m, find_v;
    finder_init(&find_m, codebooks->m);
    finder_init(&find_v, codebooks->v);
#pragma omp parallel for
    for (size_t index = 0; index < weight.length; index += TENSOR_BLOCK) {
        TensorPlace at = tensor_find(weight, index);
        float *w = tensor_at(weight, at), m[ADAM8_BLOCK] = {0}, v[ADAM8_BLOCK] = {0};
        const float *g = tensor_at(grad, at);
        float decay = weight.tensor[at.tensor].decays ? adamw.weight_decay : 0;
        size_t n = tensor_run(at);
        load(m, &m_list[at.tensor], at.offset, n, codebooks->m);
        load(v, &v_list[at.tensor], at.offset, n, codebooks->v);
#pragma omp simd
        for (size_t i = 0; i < n; i++) {
            m[i] = adamw.beta1 * m[i] + (1 - adamw.beta1) * g[i];
            v[i] = adamw.beta2 * v[i] + (1 - adamw.beta2) * g[i] * g[i];
            float step = m[i] * correct1 / (sqrtf(v[i] * correct2) + adamw.epsilon);
            w[i] -= adamw.learning_rate * (step + decay * w[i]);
        }
        store(&m_list[at.tensor], at.offset, m, n, &find_m);
        store(&v_list[at.tensor], at.offset, v, n, &find_v);
    }
}
