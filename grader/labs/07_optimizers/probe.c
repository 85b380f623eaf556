/* Lab 07: runs the ops on the simulated GPU for some steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "grader/labs/07_optimizers/part_formulas.h"
#include "grader/labs/07_optimizers/protocol.h"
#include "grader/probe.h"
#include "grader/probe_holes.h"
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

/* One tensor with moments in floats: of its launch a few blocks run, or none. All four share memory
   that is not set, number by number: four times as much would take a second to clear. */
static void adam8_many_run(StepJob *s) {
    size_t n = *(const uint64_t *)given(s, "many", WIRE_U64);
    float *data = not_set(s, n);
    TensorEntry weight = {.data = data, .n = n, .decays = true};
    TensorEntry grad = {.data = data, .n = n};
    Moment8 moment[] = {{.value = data}, {.value = data}};
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

const ProbeCase probe_cases[] = {{"codebook_signed", formula_codebook_signed},
                                 {"codebook_unsigned", formula_codebook_unsigned},
                                 {"adam8", adam8},
                                 {"adam8_many", adam8_many},
                                 {"adafactor", adafactor},
                                 {"adafactor_many", adafactor_many},
                                 {"bytes", formula_bytes},
                                 {"choose", formula_choose},
                                 {NULL, NULL}};
