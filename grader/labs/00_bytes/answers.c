#include "grader/labs/00_bytes/answers.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/judge_kit.h"

MemoryUse answer_one(size_t bytes) {
    return (MemoryUse){{bytes}};
}

/* ---- asking ---------------------------------------------------------------------------------- */

Shape shape_random(Check *check, Precision precision, Attention attention) {
    /* So many words that the head is the peak, whatever is mistaken in a block. */
    ModelConfig config = {.V = 64 * check_int(check, 6, 8) + check_int(check, 1, 63),
                          .T = check_int(check, 13, 40),
                          .L = check_int(check, 2, 4),
                          .NH = check_int(check, 3, 5),
                          .dropout = 0.1f,
                          .precision = precision,
                          .attention = attention};
    config.C = config.NH * check_int(check, 5, 10);
    int B = check_int(check, 2, 4), T;
    do {
        T = check_int(check, 5, config.T - 2);
    } while (2 * T == config.T); /* rows as long as they may be are not two rows */
    return (Shape){.config = config, .B = B, .T = T};
}

Shape shape_large(Check *check, Precision precision, Attention attention) {
    Shape shape = shape_random(check, precision, attention);
    shape.config.T = 1024;
    shape.T = 2 * check_int(check, 500, 511) + 1;
    shape.B = 2 * check_int(check, 4096, 4108) + 1; /* 8 million tokens of 540 channels or more */
    shape.config.C = shape.config.NH * (540 / shape.config.NH + check_int(check, 1, 10));
    return shape;
}

/* The workspace of the device: the probe has none. */
static void answers_give_scratch(const Quiz *quiz) {
    uint64_t scratch[QUIZ_SHAPES];
    Device *device = check_on_gpu() ? device_gpu_new(NULL) : judge_device(THREADS);
    CHECK(device != NULL, "there is no GPU");
    for (int i = 0; i < quiz->count; i++) {
        scratch[i] = device->workspace_bytes(device, &quiz->shape[i].config);
    }
    device_free(device);
    check_give(quiz->check, "scratch", WIRE_U64, scratch, (size_t)quiz->count);
}

static bool answers_ask(Quiz *quiz, const char *probe_case) {
    int32_t threads = check_on_gpu() ? 0 : THREADS;
    check_give(quiz->check, "threads", WIRE_I32, &threads, 1);
    answers_give_scratch(quiz);
    return quiz_run(quiz, probe_case, SECONDS);
}

bool shape_is_large(const Shape *shape) {
    return shape->config.T >= 1024;
}

/* ---- what is right, once --------------------------------------------------------------------- */

/* FNV-1a of a shape. */
static size_t shape_hash(const Shape *shape) {
    const unsigned char *byte = (const unsigned char *)shape;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof *shape; i++) {
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    }
    return (size_t)(hash ^ hash >> 32);
}

MemoryUse answer_once(answer_fn *work_out, const Shape *shape) {
    enum { ROOM = 1 << 14, WAYS = 4 };
    static struct Known {
        answer_fn *work_out;
        Shape shape;
        MemoryUse use;
    } known[ROOM];
    size_t first = shape_hash(shape) % (ROOM / WAYS) * WAYS, way = 0;
    for (; way < WAYS && known[first + way].work_out != NULL; way++) {
        struct Known *one = &known[first + way];
        if (one->work_out == work_out && memcmp(&one->shape, shape, sizeof *shape) == 0) {
            return one->use;
        }
    }
    MemoryUse use = work_out(shape); /* may ask for others */
    struct Known *new = &known[first + way % WAYS];
    new->work_out = work_out;
    memcpy(&new->shape, shape, sizeof *shape);
    new->use = use;
    return use;
}

/* ---- known mistakes -------------------------------------------------------------------------- */

enum { MOST_MISTAKES = 112, OF_OTHER_SHAPES = 3 };

/* The answers of all known mistakes of a task about one shape. */
typedef struct Wrong {
    const char *sentence[MOST_MISTAKES];
    uint64_t value[MOST_MISTAKES][MEMORY_KINDS];
    int count;
    bool large_only; /* every small shape has its right answer, and no overflow explains the rest */
} Wrong;

static void answer_numbers(uint64_t *numbers, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        numbers[kind] = use.bytes[kind];
    }
}

static Wrong wrong_of(const Task *task, const Shape *shape) {
    Wrong wrong = {.count = 0};
    for (int k = 0; k < task->list_count; k++) {
        const Mistakes *mistakes = &task->lists[k];
        for (int j = 0; j < mistakes->count; j++) {
            CHECK(wrong.count < MOST_MISTAKES, "more than %d mistakes", MOST_MISTAKES);
            MemoryUse use = mistakes->list[j].answer(shape);
            use = mistakes->lift != NULL ? mistakes->lift(shape, use) : use;
            use = mistakes->then != NULL ? mistakes->then(shape, use) : use;
            wrong.sentence[wrong.count] = mistakes->list[j].sentence;
            answer_numbers(wrong.value[wrong.count++], use);
        }
    }
    return wrong;
}

/* Whether a mistake's answers are those of another one, or right ones, for all shapes. */
static bool same_everywhere(const Quiz *quiz, const Wrong *wrong, int shapes, int a, int b) {
    for (int i = 0; i < shapes; i++) {
        if (memcmp(wrong[i].value[a], wrong[i].value[b], quiz->numbers * sizeof(uint64_t)) != 0) {
            return false;
        }
    }
    return true;
}

static bool right_everywhere(const Quiz *quiz, const Task *task, const Wrong *wrong, int shapes,
                             int a) {
    uint64_t want[MEMORY_KINDS];
    for (int i = 0; i < shapes; i++) {
        answer_numbers(want, task->right(&quiz->shape[i]));
        if (memcmp(wrong[i].value[a], want, quiz->numbers * sizeof *want) != 0) {
            return false;
        }
    }
    return true;
}

/* Pairs of known mistakes that these shapes do not tell apart. */
static int coincidences(const Quiz *quiz, const Task *task) {
    static Wrong wrong[QUIZ_SHAPES];
    int found = 0, small = 0;
    while (small < quiz->count && !shape_is_large(&quiz->shape[small])) {
        small++; /* those that are large come last, and tell nothing apart */
    }
    for (int i = 0; i < small; i++) {
        wrong[i] = wrong_of(task, &quiz->shape[i]);
    }
    for (int a = 0; a < wrong[0].count; a++) {
        if (right_everywhere(quiz, task, wrong, small, a)) {
            continue;
        }
        for (int b = 0; b < a; b++) {
            bool same = strcmp(wrong[0].sentence[a], wrong[0].sentence[b]) == 0;
            found += !same && same_everywhere(quiz, wrong, small, a, b);
        }
    }
    return found;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const char OVERFLOWS[] = "small shapes are right, and large ones are not: an int overflows "
                                "at 2^31, a float loses digits from 2^24 on. Multiply as size_t";
/* Neither whole 2^32 nor the last digits are missing: it may be anything. */
static const char LARGE_ONLY[] = "small shapes are right, and large ones are not: perhaps an int "
                                 "overflows, or something else is special of a large one";
static const char REMEMBERED[] = "this is right of a shape before, and not of this one: is an "
                                 "answer remembered, in a `static`, by fewer numbers than it "
                                 "depends on?";

/* The right answer: counted, where the shape is small enough to be run, and a probe is asked. */
static MemoryUse answer_counted(const Shape *shape, const Task *task) {
    MemoryUse right = task->right(shape);
    if (task->counted == NULL || shape_is_large(shape) || draw_now() != NULL) {
        return right;
    }
    MemoryUse counted = answer_once(task->counted, shape);
    CHECK(memcmp(&counted, &right, sizeof right) == 0,
          "what %s counts is not what its tokens add up to", task->probe_case);
    return counted;
}

static const char *label_kind(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "%s", memory_kind_name((MemoryKind)i));
    return text;
}

/* Whether a wrong answer is the right one but for whole 2^32, or for what a float drops. */
static bool answer_overflows(const Quiz *quiz, int i, const uint64_t *want) {
    bool overflows = true;
    for (size_t k = 0; overflows && k < quiz->numbers; k++) {
        uint64_t got = quiz_answer(quiz, i)[k];
        double off = fabs((double)got - (double)want[k]);
        overflows = (uint32_t)got == (uint32_t)want[k] || off <= 0x1p-22 * (double)want[k];
    }
    return overflows;
}

/* Whether all that is wrong in an answer is right of a shape that was asked about before. */
static bool answer_repeats(const Quiz *quiz, int i, const Task *task, const uint64_t *want) {
    const uint64_t *got = quiz_answer(quiz, i);
    bool repeats = false;
    for (int before = 0; before < i && !repeats; before++) {
        uint64_t other[MEMORY_KINDS];
        answer_numbers(other, task->right(&quiz->shape[before]));
        repeats = true;
        for (size_t k = 0; k < quiz->numbers; k++) {
            repeats = repeats && (got[k] == want[k] || got[k] == other[k]);
        }
    }
    return repeats;
}

/* Compares one answer. */
static bool answer_expect(const Quiz *quiz, int i, const Task *task, const Wrong *wrong) {
    ExactSuspect suspects[MOST_MISTAKES + OF_OTHER_SHAPES];
    uint64_t want[MEMORY_KINDS];
    int count = 0;
    answer_numbers(want, answer_counted(&quiz->shape[i], task));
    for (size_t k = 0; k < quiz->numbers && shape_is_large(&quiz->shape[i]); k++) {
        check_size(quiz->check, "an answer beyond 2^32", want[k] > UINT32_MAX);
    }
    for (; wrong != NULL && count < wrong->count; count++) {
        suspects[count] = (ExactSuspect){wrong->sentence[count], wrong->value[count]};
    }
    if (wrong != NULL && draw_now() == NULL) {
        bool large = shape_is_large(&quiz->shape[i]);
        bool overflows = large && answer_overflows(quiz, i, want);
        bool otherwise = large && wrong->large_only;
        bool repeats = answer_repeats(quiz, i, task, want);
        const uint64_t *got = quiz_answer(quiz, i);
        suspects[count++] = (ExactSuspect){OVERFLOWS, overflows ? got : want};
        suspects[count++] = (ExactSuspect){LARGE_ONLY, otherwise ? got : want};
        suspects[count++] = (ExactSuspect){REMEMBERED, repeats ? got : want};
    }
    return check_equal_of(quiz->check, quiz->name[i],
                          quiz->numbers == MEMORY_KINDS ? label_kind : NULL, want, quiz->numbers,
                          suspects, count);
}

static void answers_expect(const Quiz *quiz, const Task *task) {
    bool right = true, small_right = true, overflow = true;
    for (int i = 0; i < quiz->count; i++) {
        uint64_t want[MEMORY_KINDS];
        answer_numbers(want, answer_counted(&quiz->shape[i], task));
        bool is_right = memcmp(quiz_answer(quiz, i), want, quiz->numbers * sizeof *want) == 0;
        right &= is_right;
        small_right &= is_right || shape_is_large(&quiz->shape[i]);
        overflow &= is_right || answer_overflows(quiz, i, want);
    }
    for (int i = 0; i < quiz->count; i++) {
        Wrong wrong = {.count = 0};
        if (!right) {
            wrong = wrong_of(task, &quiz->shape[i]);
            wrong.large_only = small_right && !overflow;
        }
        answer_expect(quiz, i, task, right ? NULL : &wrong);
    }
}

void answers_grade(Check *check, draw_fn *draw, const Task *task) {
    enum { TRIES = 2 };
    Quiz best = {.count = 0};
    int fewest = INT_MAX;
    for (int i = 0; i < TRIES && fewest > 0; i++) {
        Quiz quiz = {.check = check, .numbers = task->numbers};
        draw(&quiz);
        int found = coincidences(&quiz, task);
        if (found < fewest) {
            fewest = found;
            best = quiz;
        }
    }
    if (answers_ask(&best, task->probe_case)) {
        answers_expect(&best, task);
    }
}
