/* Lab 07: runs the ops on the simulated GPU for some steps, and asks the formulas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "grader/labs/07_optimizers/protocol.h"
#include "grader/probe.h"
#include "grader/probe_holes.h"
#include "labs/06_fit/contract.h"
#include "labs/07_optimizers/contract.h"

/* ---- tensors end to end -------------------------------------------------------------------- */

enum { WEIGHT, M_CODE, M_ABSMAX, M_VALUE, V_CODE, V_ABSMAX, V_VALUE, EIGHT_KINDS };
enum { MOST_TENSORS = 80 };

/* The tables, and the device on which it is worked. */
typedef struct StepJob {
    const Wire *in;
    Wire *out;
    Device *device;
    Memory *memory;
    const int32_t *head, *flags;
} StepJob;

/* All tensors of one kind: codes, scales, weights. */
typedef struct StepKind {
    const char *name;
    WireType type;
    size_t size; /* of a number */
    size_t n[MOST_TENSORS];
    char *data[MOST_TENSORS]; /* device memory */
} StepKind;

static const void *given(const StepJob *s, const char *name, WireType type) {
    return wire_get(s->in, name, type, NULL);
}

static void *on_device(const StepJob *s, const void *values, size_t bytes) {
    void *data = memory_alloc(s->memory, MEMORY_OPTIMIZER, "probe", -1, bytes);
    device_upload(s->device, data, values, bytes);
    return data;
}

/* Uploads all tensors of a kind from one end to the other. */
static void kind_upload(const StepJob *s, StepKind *kind, const char *values) {
    for (int i = 0; i < s->head[HEAD_TENSORS]; i++) {
        kind->data[i] = on_device(s, values, kind->n[i] * kind->size);
        values += kind->n[i] * kind->size;
    }
}

static void kind_download(const StepJob *s, const StepKind *kind, int step) {
    char name[WIRE_NAME];
    step_name(name, kind->name, step);
    char *to = wire_get(s->out, name, kind->type, NULL);
    for (int i = 0; i < s->head[HEAD_TENSORS]; i++) {
        device_download(s->device, to, kind->data[i], kind->n[i] * kind->size);
        to += kind->n[i] * kind->size;
    }
}

/* Which tensors decay, the list of weights says; the others say the opposite. */
static TensorList kind_list(const StepJob *s, const StepKind *kind) {
    TensorEntry entry[MOST_TENSORS];
    int count = s->head[HEAD_TENSORS];
    bool weights = strcmp(kind->name, "weight") == 0;
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        entry[i] = (TensorEntry){.data = (float *)kind->data[i],
                                 .n = kind->n[i],
                                 .decays = ((s->flags[i] & FLAG_DECAYS) != 0) == weights};
        n += kind->n[i];
    }
    size_t length = tensors_index(entry, count);
    return (TensorList){on_device(s, entry, (size_t)count * sizeof *entry), count, n, length};
}

/* An op on states: one step of it. kinds[0] are the weights; grad is of their sizes. */
typedef void step_fn(const StepJob *s, StepKind *kinds, TensorList grad, int t);

/* One call, up to a hole. */
static void take_step(const StepJob *s, StepKind *kinds, step_fn *step, TensorList grad, int t) {
    if (setjmp(at_hole) == 0) {
        step(s, kinds, grad, t);
    }
}

static void take_steps(const StepJob *s, StepKind *kinds, int count, step_fn *step, int from,
                       int add) {
    StepKind grad = kinds[0];
    size_t all = 0;
    grad.name = "grad";
    for (int i = 0; i < s->head[HEAD_TENSORS]; i++) {
        all += grad.n[i];
    }
    const float *values = given(s, "grad", WIRE_F32);
    for (int k = from; k < s->head[HEAD_STEPS]; k++) {
        kind_upload(s, &grad, (const char *)(values + (size_t)k * all));
        take_step(s, kinds, step, kind_list(s, &grad), s->head[HEAD_T] + k);
        for (int i = 0; i < count && (add == 0 || k == s->head[HEAD_STEPS] - 1); i++) {
            kind_download(s, &kinds[i], k + add);
        }
        if (add == 0) {
            kind_download(s, &grad, k);
        }
    }
}

/* An empty list: nothing to do, and no launch of 0 blocks. */
static void take_no_step(const StepJob *s, StepKind *kinds, step_fn *step) {
    const int32_t head[HEAD_NUMBERS] = {0};
    StepJob none = *s;
    none.head = head;
    const int32_t *first = given(s, "head", WIRE_I32);
    take_step(&none, kinds, step, kind_list(&none, &kinds[0]), first[HEAD_T]);
}

/* A step of the second tensor by itself, which is a vector, in memory of its own: nothing of
   another list may be left in the steps that count. */
static void take_short_step(const StepJob *s, const StepKind *kinds, int count, step_fn *step) {
    const int32_t head[HEAD_NUMBERS] = {[HEAD_TENSORS] = 1};
    StepKind one[EIGHT_KINDS];
    StepJob single = *s;
    single.head = head;
    single.flags = s->flags + 1;
    for (int i = 0; i < count; i++) {
        const char *values = given(s, kinds[i].name, kinds[i].type);
        one[i] = kinds[i];
        one[i].n[0] = kinds[i].n[1];
        kind_upload(&single, &one[i], values + kinds[i].n[0] * kinds[i].size);
    }
    StepKind grad = one[0];
    grad.name = "grad";
    kind_upload(&single, &grad,
                (const char *)given(s, "grad", WIRE_F32) + kinds[0].n[0] * kinds[0].size);
    take_step(&single, one, step, kind_list(&single, &grad), s->head[HEAD_T]);
}

/* From what is given, all steps; then perhaps from the states after some of them once more, in
   other memory: whatever an op has kept for itself is then of another step. */
static void run_steps(const StepJob *s, StepKind *kinds, int count, step_fn *step) {
    char name[WIRE_NAME];
    int resume = s->head[HEAD_RESUME];
    later_task = s->head[HEAD_UNTIL];
    if (resume > 0) {
        take_short_step(s, kinds, count, step);
    }
    for (int i = 0; i < count; i++) {
        kind_upload(s, &kinds[i], given(s, kinds[i].name, kinds[i].type));
    }
    take_steps(s, kinds, count, step, 0, 0);
    for (int i = 0; resume > 0 && i < count; i++) {
        step_name(name, kinds[i].name, resume - 1);
        kind_upload(s, &kinds[i], wire_get(s->out, name, kinds[i].type, NULL));
    }
    if (resume > 0) {
        take_steps(s, kinds, count, step, resume, STEP_AGAIN);
        take_no_step(s, kinds, step);
    }
}

static void with_gpu(const Wire *in, Wire *out, void (*run)(StepJob *s)) {
    Device *device = device_gpu_new(ops_gpu);
    CHECK(device != NULL, "there is no GPU");
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    StepJob s = {.in = in, .out = out, .device = device, .memory = memory};
    s.head = given(&s, "head", WIRE_I32);
    s.flags = given(&s, "flags", WIRE_I32);
    run(&s);
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
}

/* ---- adam8 ----------------------------------------------------------------------------------- */

static Moment8 *moments_of(const StepJob *s, const StepKind *kinds, int code) {
    Moment8 moment[MOST_TENSORS];
    int count = s->head[HEAD_TENSORS];
    for (int i = 0; i < count; i++) {
        bool bytes = (s->flags[i] & FLAG_BYTES) != 0;
        moment[i] = (Moment8){
            .code = bytes ? (uint8_t *)kinds[code].data[i] : NULL,
            .absmax = bytes ? (float *)kinds[code + 1].data[i] : NULL,
            .value = bytes ? NULL : (float *)kinds[code + 2].data[i],
        };
    }
    return on_device(s, moment, (size_t)count * sizeof *moment);
}

/* The learning rate of step t. */
static float rate_of_step(const StepJob *s, int t) {
    const int32_t *head = given(s, "head", WIRE_I32);
    return ((const float *)given(s, "rates", WIRE_F32))[t - head[HEAD_T]];
}

static void adam8_once(const StepJob *s, StepKind *kinds, TensorList grad, int t) {
    const int32_t *head = given(s, "head", WIRE_I32);
    Codebooks books[BOOKS], now;
    AdamW adamw;
    memcpy(books, given(s, "books", WIRE_F32), sizeof books);
    now = books[(t - head[HEAD_T]) % BOOKS];
    memcpy(&adamw, given(s, "numbers", WIRE_F32), sizeof adamw);
    adamw.learning_rate = rate_of_step(s, t);
    s->device->ops[F32].adam8(kind_list(s, &kinds[WEIGHT]), moments_of(s, kinds, M_CODE),
                              moments_of(s, kinds, V_CODE), grad, &now, adamw, t);
}

static void adam8_run(StepJob *s) {
    const int32_t *sizes = given(s, "sizes", WIRE_I32);
    StepKind kinds[EIGHT_KINDS] = {
        [WEIGHT] = {"weight", WIRE_F32, sizeof(float), {0}, {0}},
        [M_CODE] = {"m_code", WIRE_BYTES, 1, {0}, {0}},
        [M_ABSMAX] = {"m_absmax", WIRE_F32, sizeof(float), {0}, {0}},
        [M_VALUE] = {"m_value", WIRE_F32, sizeof(float), {0}, {0}},
        [V_CODE] = {"v_code", WIRE_BYTES, 1, {0}, {0}},
        [V_ABSMAX] = {"v_absmax", WIRE_F32, sizeof(float), {0}, {0}},
        [V_VALUE] = {"v_value", WIRE_F32, sizeof(float), {0}, {0}},
    };
    for (int k = 0; k < EIGHT_KINDS; k++) {
        for (int i = 0; i < s->head[HEAD_TENSORS]; i++) {
            size_t n = (size_t)sizes[i];
            kinds[k].n[i] = k == M_ABSMAX || k == V_ABSMAX ? adam8_blocks(n) : n;
        }
    }
    run_steps(s, kinds, EIGHT_KINDS, adam8_once);
}

static void adam8(const Wire *in, Wire *out) {
    with_gpu(in, out, adam8_run);
}

/* Device memory that is not set. */
static float *not_set(const StepJob *s, size_t n) {
    return memory_alloc(s->memory, MEMORY_OPTIMIZER, "probe", -1, n * sizeof(float));
}

static TensorList list_of_one(const StepJob *s, TensorEntry *entry) {
    size_t length = tensors_index(entry, 1);
    return (TensorList){on_device(s, entry, sizeof *entry), 1, entry->n, length};
}

/* One tensor with moments in floats, which are not set: of its launch a few blocks run, or none. */
static void adam8_many_run(StepJob *s) {
    size_t n = *(const uint64_t *)given(s, "many", WIRE_U64);
    float *data[4];
    for (int i = 0; i < 4; i++) {
        data[i] = not_set(s, n);
    }
    TensorEntry weight = {.data = data[0], .n = n, .decays = true};
    TensorEntry grad = {.data = data[1], .n = n};
    Moment8 moment[] = {{.value = data[2]}, {.value = data[3]}};
    Moment8 *moments = on_device(s, moment, sizeof moment);
    Codebooks books = {.m = {0}};
    AdamW adamw = {.learning_rate = 0.1f, .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f};
    s->device->ops[F32].adam8(list_of_one(s, &weight), &moments[0], &moments[1],
                              list_of_one(s, &grad), &books, adamw, 1);
}

static void adam8_many(const Wire *in, Wire *out) {
    with_gpu(in, out, adam8_many_run);
}

/* ---- adafactor ------------------------------------------------------------------------------- */

enum { ROW = 1, COL, FACTOR_KINDS };

static void adafactor_once(const StepJob *s, StepKind *kinds, TensorList grad, int t) {
    Adafactor numbers;
    memcpy(&numbers, given(s, "numbers", WIRE_F32), sizeof numbers);
    numbers.learning_rate = rate_of_step(s, t);
    TensorList weight = kind_list(s, &kinds[WEIGHT]);
    size_t bytes = adafactor_scratch(weight.length);
    Workspace workspace = {.data =
                               memory_alloc(s->memory, MEMORY_WORKSPACE, "probe", -1, bytes + 1),
                           .bytes = bytes,
                           .threads = s->device->threads,
                           .blas = s->device->blas};
    s->device->ops[F32].adafactor(weight, kind_list(s, &kinds[ROW]), kind_list(s, &kinds[COL]),
                                  grad, numbers, t, &workspace);
}

static void adafactor_run(StepJob *s) {
    const int32_t *rows = given(s, "rows", WIRE_I32), *cols = given(s, "cols", WIRE_I32);
    StepKind kinds[FACTOR_KINDS] = {
        [WEIGHT] = {"weight", WIRE_F32, sizeof(float), {0}, {0}},
        [ROW] = {"row", WIRE_F32, sizeof(float), {0}, {0}},
        [COL] = {"col", WIRE_F32, sizeof(float), {0}, {0}},
    };
    for (int i = 0; i < s->head[HEAD_TENSORS]; i++) {
        kinds[WEIGHT].n[i] = (size_t)rows[i] * (size_t)cols[i];
        kinds[ROW].n[i] = s->flags[i] & FLAG_MATRIX ? (size_t)rows[i] : 0;
        kinds[COL].n[i] = (size_t)cols[i];
    }
    run_steps(s, kinds, FACTOR_KINDS, adafactor_once);
}

/* One matrix of that many rows, which are not set: none of its launches runs. */
static void adafactor_many_run(StepJob *s) {
    size_t rows = *(const uint64_t *)given(s, "many", WIRE_U64), n = rows * MANY_COLS;
    TensorEntry weight = {.data = not_set(s, n), .n = n, .decays = true};
    TensorEntry row = {.data = not_set(s, rows), .n = rows};
    TensorEntry col = {.data = not_set(s, MANY_COLS), .n = MANY_COLS};
    TensorEntry grad = {.data = not_set(s, n), .n = n};
    TensorList weights = list_of_one(s, &weight);
    size_t bytes = adafactor_scratch(weights.length);
    Workspace workspace = {.data = not_set(s, bytes / sizeof(float) + 1),
                           .bytes = bytes,
                           .threads = s->device->threads,
                           .blas = s->device->blas};
    Adafactor numbers = {.learning_rate = 0.1f, .epsilon = 1e-30f, .clip = 1, .power = 0.8f};
    s->device->ops[F32].adafactor(weights, list_of_one(s, &row), list_of_one(s, &col),
                                  list_of_one(s, &grad), numbers, 1, &workspace);
}

static void adafactor(const Wire *in, Wire *out) {
    with_gpu(in, out, adafactor_run);
}

static void adafactor_many(const Wire *in, Wire *out) {
    with_gpu(in, out, adafactor_many_run);
}

/* ---- formulas -------------------------------------------------------------------------------- */

/* Both are asked before: nothing of them may be left in the one that counts. */
static void ask_before(void) {
    float values[ADAM8_CODES];
    codebook_signed(values);
    codebook_unsigned(values);
}

static void run_codebook_signed(const Wire *in, Wire *out) {
    (void)in;
    ask_before();
    codebook_signed(wire_get(out, "values", WIRE_F32, NULL));
}

static void run_codebook_unsigned(const Wire *in, Wire *out) {
    (void)in;
    ask_before();
    codebook_unsigned(wire_get(out, "values", WIRE_F32, NULL));
}

static void run_bytes(const Wire *in, Wire *out) {
    size_t count;
    const int32_t *n = wire_get(in, "models", WIRE_I32, &count);
    uint64_t *bytes = wire_get(out, "bytes", WIRE_U64, NULL);
    for (size_t i = 0; i < count / BYTES_NUMBERS; i++, n += BYTES_NUMBERS) {
        ModelConfig config = {.V = n[0], .T = n[1], .L = n[2], .NH = n[3], .C = n[4]};
        config.precision = (Precision)n[5];
        bytes[i] = optim_bytes(&config, (Optim)n[6]);
    }
}

/* The probe's own plan_choose(): exact, of the few plans that are asked about, and it sees what it
   is given. Defined here, so that no lab 06 is linked. */
static struct ChooseSeen {
    const char *scratch; /* what optim_choose() was given */
    size_t bytes;
    bool within; /* and has passed on: enough, in it, and aligned */
    size_t calls;
} seen;

static size_t most_of(size_t a, size_t b) {
    return a < b ? b : a;
}

/* As backward goes: from the head down. */
size_t plan_peak(const PlanOption *o, const unsigned char *way) {
    size_t all = o->bytes, most;
    for (int b = o->blocks; b-- > 0;) {
        all += o->block[b].kept[way[b]];
    }
    most = all + o->head;
    for (int b = o->blocks; b-- > 0;) {
        all -= o->block[b].kept[way[b]];
        most = most_of(most, all + o->block[b].working[way[b]]);
    }
    return most;
}

/* The next way of all blocks; false after the last one. */
static bool next_ways(const PlanOption *option, unsigned char *way) {
    int i = 0;
    while (i < option->blocks && ++way[i] == PLAN_WAYS) {
        way[i++] = 0;
    }
    return i < option->blocks;
}

int plan_choose(const PlanOption *options, int count, size_t budget, void *scratch, size_t bytes,
                PlanChoice *choice) {
    const char *at = scratch;
    bool found = false;
    double least = 0;
    size_t least_peak = 0;
    seen.calls++;
    seen.within = seen.within && at >= seen.scratch && bytes >= PLAN_SCRATCH &&
                  at + bytes <= seen.scratch + seen.bytes && (uintptr_t)at % 16 == 0;
    for (int i = 0; i < count; i++) {
        PlanChoice one = {.option = i};
        do {
            double seconds = options[i].seconds;
            size_t peak = plan_peak(&options[i], one.way);
            for (int b = 0; b < options[i].blocks; b++) {
                seconds += options[i].block[b].seconds[one.way[b]];
            }
            if (peak <= budget &&
                (!found || seconds < least || (seconds == least && peak < least_peak))) {
                *choice = one;
                found = true;
                least = seconds;
                least_peak = peak;
            }
        } while (next_ways(&options[i], one.way));
    }
    memset(scratch, 0x5A, bytes < PLAN_SCRATCH ? 0 : 4096); /* it is the callee's until then */
    return found ? 0 : -1;
}

static void run_choose(const Wire *in, Wire *out) {
    size_t bytes, count;
    ChooseOption *given_options = wire_get(in, "options", WIRE_BYTES, &bytes);
    count = bytes / sizeof *given_options;
    PlanOption *options = calloc(count, sizeof *options);
    PlanBlock *blocks = calloc(count * PLAN_BLOCKS, sizeof *blocks);
    void *scratch = malloc(PLAN_SCRATCH + 4096);
    CHECK(options != NULL && blocks != NULL && scratch != NULL, "no host memory");
    for (size_t i = 0; i < count; i++) {
        options[i] = given_options[i].option;
        memcpy(blocks + i * PLAN_BLOCKS, given_options[i].block, sizeof given_options[i].block);
        options[i].block = blocks + i * PLAN_BLOCKS;
    }
    const ChooseAsk *asks = wire_get(in, "asks", WIRE_BYTES, &bytes);
    uint64_t *answer = wire_get(out, "answers", WIRE_U64, NULL);
    for (size_t i = 0; i < bytes / sizeof *asks; i++, answer += ANSWER_NUMBERS) {
        Optim optims[3] = {(Optim)asks[i].optim[0], (Optim)asks[i].optim[1],
                           (Optim)asks[i].optim[2]};
        OptimChoice choice;
        size_t scratch_bytes = PLAN_SCRATCH + (i % 2) * 4096;
        seen = (struct ChooseSeen){scratch, scratch_bytes, true, 0};
        memset(&choice, 0xFF, sizeof choice);
        answer[0] = (uint64_t)(int64_t)optim_choose(&asks[i].config, optims, asks[i].optims,
                                                    options, (int)count, asks[i].budget, scratch,
                                                    scratch_bytes, &choice);
        answer[1] = (uint64_t)choice.optim;
        answer[2] = (uint64_t)(int64_t)choice.plan.option;
        for (int b = 0; b < PLAN_BLOCKS; b++) {
            answer[3 + b] = choice.plan.way[b];
        }
        answer[3 + PLAN_BLOCKS] = seen.within;
    }
    free(scratch);
    free(blocks);
    free(options);
}

const ProbeCase probe_cases[] = {{"codebook_signed", run_codebook_signed},
                                 {"codebook_unsigned", run_codebook_unsigned},
                                 {"adam8", adam8},
                                 {"adam8_many", adam8_many},
                                 {"adafactor", adafactor},
                                 {"adafactor_many", adafactor_many},
                                 {"bytes", run_bytes},
                                 {"choose", run_choose},
                                 {NULL, NULL}};
