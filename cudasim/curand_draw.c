#include "curand_draw.h"

#include "cudasim_random.h"
#include "sim.h"

/* NVIDIA's library has a fixed number of threads with a subsequence each, and they take turns: with
   XORWOW a turn is one number, or a pair of normal ones; with Philox it is four numbers of any
   kind. How many words of its subsequence a turn takes depends on the kind of numbers, so each
   thread is where its own turns have led it: cudasim/tests/foreign/curand_host.cu asks for that. */

enum {
    XORWOW_THREADS = 4096,
    PHILOX_THREADS = 65536,
    PHILOX_TURN = 4,  /* numbers */
    SUBSEQUENCE = 67, /* of XORWOW: words, as a power of two */
    MOST_WORDS = 8    /* of a turn */
};

typedef struct XorwowThread {
    unsigned d, v[5];
} XorwowThread;

struct Sequence {
    bool philox;
    bool ready; /* the threads are at `place` */
    uint64_t seed;
    uint64_t place; /* turns of XORWOW, numbers of Philox */
    XorwowThread *xorwow;
    uint64_t *block; /* of each thread of Philox: where its next four words are */
};

/* ---- distributions --------------------------------------------------------------------------- */

/* Numbers that are made at once. */
typedef struct NumberGroup {
    int words;   /* that it takes */
    int numbers; /* that it gives */
    size_t bytes;
} NumberGroup;

static const NumberGroup groups[] = {
    [WORDS] = {1, 1, sizeof(unsigned)},           [UNIFORM] = {1, 1, sizeof(float)},
    [UNIFORM_DOUBLE] = {2, 1, sizeof(double)},    [NORMAL] = {2, 2, sizeof(float)},
    [NORMAL_DOUBLE] = {4, 2, sizeof(double)},     [LOG_NORMAL] = {2, 2, sizeof(float)},
    [LOG_NORMAL_DOUBLE] = {4, 2, sizeof(double)}, [POISSON] = {1, 1, sizeof(unsigned)},
};

size_t law_bytes(const Law *law) {
    return groups[law->kind].bytes;
}

size_t law_numbers(const Law *law) {
    return (size_t)groups[law->kind].numbers;
}

/* The chance of each count and those below, as far as a word can tell it from 0 and 1. */
typedef struct Counts {
    unsigned first;
    size_t count;
    double *chance;
} Counts;

static Counts counts_of(double mean) {
    double spread = sqrt(mean), begin = floor(mean - 8 * spread);
    Counts counts = {.first = begin > 0 ? (unsigned)begin : 0};
    counts.count = (size_t)(mean + 9 * spread + 30) - counts.first;
    counts.chance = sim_realloc(NULL, counts.count * sizeof *counts.chance);
    double sum = 0;
    for (size_t i = 0; i < counts.count; i++) {
        double k = (double)(counts.first + i);
        sum += exp(k * log(mean) - mean - lgamma(k + 1));
        counts.chance[i] = sum;
    }
    return counts;
}

/* The least count that has at least the chance of a uniform number. */
static unsigned count_for(const Counts *counts, unsigned x) {
    double chance = (x + 0.5) * 0x1p-32;
    size_t first = 0, last = counts->count - 1;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (counts->chance[middle] < chance) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return counts->first + (unsigned)first;
}

static void normal_floats(const Law *law, const unsigned *x, float *to) {
    cudasim_normal(x, to);
    for (int i = 0; i < 2; i++) {
        to[i] = (float)law->mean + (float)law->deviation * to[i];
        to[i] = law->kind == LOG_NORMAL ? expf(to[i]) : to[i];
    }
}

static void normal_doubles(const Law *law, const unsigned *x, double *to) {
    cudasim_normal_double(x, to);
    for (int i = 0; i < 2; i++) {
        to[i] = law->mean + law->deviation * to[i];
        to[i] = law->kind == LOG_NORMAL_DOUBLE ? exp(to[i]) : to[i];
    }
}

/* One group of numbers; the memory fits any kind. */
static void convert(const Law *law, const Counts *counts, const unsigned *x, void *to) {
    switch (law->kind) {
    case WORDS:
        *(unsigned *)to = x[0];
        break;
    case UNIFORM:
        *(float *)to = cudasim_uniform(x[0]);
        break;
    case UNIFORM_DOUBLE:
        *(double *)to = cudasim_uniform_double(x[0], x[1]);
        break;
    case NORMAL:
    case LOG_NORMAL:
        normal_floats(law, x, to);
        break;
    case NORMAL_DOUBLE:
    case LOG_NORMAL_DOUBLE:
        normal_doubles(law, x, to);
        break;
    case POISSON:
        *(unsigned *)to = count_for(counts, x[0]);
        break;
    }
}

/* ---- sequences ------------------------------------------------------------------------------- */

Sequence *sequence_new(bool philox) {
    Sequence *sequence = sim_realloc(NULL, sizeof *sequence);
    *sequence = (Sequence){.philox = philox};
    return sequence;
}

void sequence_free(Sequence *sequence) {
    if (sequence != NULL) {
        free(sequence->xorwow);
        free(sequence->block);
        free(sequence);
    }
}

void sequence_seed(Sequence *sequence, uint64_t seed) {
    sequence->seed = seed;
    sequence->ready = false;
}

void sequence_offset(Sequence *sequence, uint64_t offset) {
    sequence->place = offset;
    sequence->ready = false;
}

static unsigned next_word(XorwowThread *thread) {
    cudasim_xorwow_step(thread->v);
    thread->d += CUDASIM_WEYL;
    return thread->v[4] + thread->d;
}

static void place_xorwow(Sequence *s) {
    s->xorwow = sim_realloc(s->xorwow, XORWOW_THREADS * sizeof *s->xorwow);
    XorwowThread at;
    cudasim_xorwow_seed(s->seed, &at.d, at.v);
    cudasim_xorwow_skip(at.v, s->place / XORWOW_THREADS, 0);
    at.d += CUDASIM_WEYL * (unsigned)(s->place / XORWOW_THREADS);
    for (unsigned i = 0; i < XORWOW_THREADS; i++) {
        s->xorwow[i] = at;
        if (i < s->place % XORWOW_THREADS) {
            next_word(&s->xorwow[i]);
        }
        cudasim_xorwow_skip(at.v, 1, SUBSEQUENCE);
    }
}

static void place_philox(Sequence *s) {
    s->block = sim_realloc(s->block, PHILOX_THREADS * sizeof *s->block);
    uint64_t turns = s->place / PHILOX_TURN;
    for (unsigned i = 0; i < PHILOX_THREADS; i++) {
        s->block[i] = turns / PHILOX_THREADS + (i < turns % PHILOX_THREADS);
    }
}

static void draw_xorwow(Sequence *s, const Law *law, const Counts *counts, char *to, size_t count) {
    const NumberGroup *group = &groups[law->kind];
    for (size_t i = 0; i < count; i += (size_t)group->numbers) {
        XorwowThread *thread = &s->xorwow[s->place++ % XORWOW_THREADS];
        unsigned x[MOST_WORDS];
        for (int k = 0; k < group->words; k++) {
            x[k] = next_word(thread);
        }
        convert(law, counts, x, to + i * group->bytes);
    }
}

/* The words of a turn of a thread. */
static void philox_words(const Sequence *s, unsigned thread, int blocks, unsigned *x) {
    for (int i = 0; i < blocks; i++, x += 4) {
        uint64_t block = s->block[thread] + (unsigned)i;
        x[0] = (unsigned)block;
        x[1] = (unsigned)(block >> 32);
        x[2] = thread;
        x[3] = 0;
        cudasim_philox_block(x, (unsigned)s->seed, (unsigned)(s->seed >> 32));
    }
}

static void draw_philox(Sequence *s, const Law *law, const Counts *counts, char *to, size_t count) {
    const NumberGroup *group = &groups[law->kind];
    int words = PHILOX_TURN / group->numbers * group->words;
    while (count > 0) {
        unsigned thread = (unsigned)(s->place / PHILOX_TURN % PHILOX_THREADS);
        unsigned x[MOST_WORDS];
        double turn[PHILOX_TURN];
        philox_words(s, thread, words / 4, x);
        for (int i = 0; i < PHILOX_TURN; i += group->numbers) {
            const unsigned *from = x + i / group->numbers * group->words;
            convert(law, counts, from, (char *)turn + (size_t)i * group->bytes);
        }
        size_t begin = s->place % PHILOX_TURN, left = PHILOX_TURN - begin;
        size_t taken = left < count ? left : count;
        memcpy(to, (char *)turn + begin * group->bytes, taken * group->bytes);
        to += taken * group->bytes;
        count -= taken;
        s->place += taken;
        s->block[thread] += taken == left ? (unsigned)words / 4 : 0;
    }
}

void sequence_draw(Sequence *s, const Law *law, void *output, size_t count) {
    Counts counts = {0};
    if (law->kind == POISSON) {
        counts = counts_of(law->mean);
    }
    if (!s->ready) {
        (s->philox ? place_philox : place_xorwow)(s);
        s->ready = true;
    }
    (s->philox ? draw_philox : draw_xorwow)(s, law, &counts, output, count);
    free(counts.chance);
}
