/* Every op, called as the model calls it, at the shapes of a training step. Gradients that the
   model replaces in place are replaced in place here too. */
#include "tools/bench/cases.h"

#include <stdlib.h>
#include <string.h>

#include "common/watch.h"
#include "labs/07_optimizers/contract.h"

/* How each op is called: t are its tensors in the order of its parameters, s is the shape of the
   step, N are its tokens. */
#define RUN(op, ...)                                                                               \
    static void op(const Case *self, const CasePlace *place, void **t) {                           \
        OpShape s = place->shape;                                                                  \
        int N = s.B * s.T;                                                                         \
        size_t n = self->arguments[0].count;                                                       \
        Dropout dropout = {.p = self->p, .seed = 1};                                               \
        const Workspace *workspace = &place->workspace;                                            \
        (void)N, (void)n, (void)dropout, (void)workspace;                                          \
        place->ops->op(__VA_ARGS__);                                                               \
    }

static const AdamW HYPER = {
    .learning_rate = 3e-4f, .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

static const Codebooks *codebooks(void) {
    static Codebooks books;
    codebook_signed(books.m);
    codebook_unsigned(books.v);
    return &books;
}

/* A list of one tensor, whose entry is argument `number`. */
static TensorList list_of(const Case *self, void **t, int number) {
    size_t n = self->arguments[self->arguments[number].count].count;
    return (TensorList){t[number], 1, n, tensor_indices(n)};
}
#define LIST(number) list_of(self, t, number)

RUN(embedding_forward, t[0], t[1], t[2], t[3], s.B, s.T, s.C)
RUN(embedding_backward, t[0], t[1], t[2], t[3], s.B, s.T, s.C, s.V, workspace)
RUN(layernorm_forward, t[0], t[1], t[2], t[3], t[4], t[5], N, s.C)
RUN(layernorm_backward, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], N, s.C, workspace)
RUN(matmul_forward, t[0], t[1], t[2], t[3], N, self->C, self->OC, self->stride, workspace)
RUN(matmul_backward, t[0], t[1], t[2], t[3], t[4], t[5], N, self->C, self->OC, self->stride,
    workspace)
RUN(matmul_backward_first, t[0], t[1], t[2], t[3], t[4], t[5], N, self->C, self->OC, self->stride,
    workspace)
RUN(attention_forward, t[0], t[1], t[2], s.B, s.T, s.C, s.NH, workspace)
RUN(attention_backward, t[0], t[1], t[2], t[3], s.B, s.T, s.C, s.NH, workspace)
RUN(flash_forward, t[0], t[1], t[2], s.B, s.T, s.C, s.NH, workspace)
RUN(flash_backward, t[0], t[1], t[2], t[3], t[4], s.B, s.T, s.C, s.NH, workspace)
RUN(gelu_forward, t[0], t[1], t[2], N, 4 * s.C)
RUN(gelu_backward, t[0], t[0], t[1], N, 4 * s.C)
RUN(dropout_forward, t[0], t[0], n, dropout)
RUN(dropout_backward, t[0], t[0], n, dropout)
RUN(residual_forward, t[0], t[1], t[0], n, dropout)
RUN(residual_backward, NULL, t[0], t[1], n, dropout)
RUN(residual_norm_forward, t[0], t[1], t[2], t[3], t[4], t[0], t[5], t[6], N, s.C, dropout)
RUN(residual_norm_backward, t[0], t[1], t[2], t[3], t[1], t[4], t[5], t[6], t[7], N, s.C, dropout,
    workspace)
RUN(axpby, t[0], t[1], n, 2, 1)
RUN(crossentropy_forward, t[0], t[1], t[2], t[3], N, s.V, logits_stride(s.V))
RUN(crossentropy_backward, t[0], t[0], t[1], t[2], 1.0f / (float)N, N, s.V, logits_stride(s.V))
RUN(vocab_ids, t[0], t[1], 0, s.V, N)
RUN(vocab_max, t[0], t[1], N, s.V, logits_stride(s.V))
RUN(vocab_sum, t[0], t[1], t[2], t[3], t[4], N, s.V, logits_stride(s.V))
RUN(vocab_loss, t[0], t[1], t[2], t[3], t[4], t[5], N)
RUN(vocab_backward, t[0], t[1], t[2], 1.0f / (float)N, N, s.V, logits_stride(s.V))
RUN(cast_from_float, t[0], t[1], n)
RUN(cast_to_float, t[0], t[1], n)
RUN(adamw, LIST(4), LIST(5), LIST(6), LIST(7), HYPER, 10)
RUN(adam8, LIST(6), t[8], t[9], LIST(7), codebooks(), HYPER, 10)
RUN(adafactor, LIST(4), LIST(5), LIST(6), LIST(7),
    ((Adafactor){.learning_rate = 3e-4f, .epsilon = 1e-30f, .clip = 1, .power = 0.8f}), 10,
    workspace)
RUN(sumsq, t[0], LIST(2), workspace)
RUN(scale, LIST(1), 0.999f)
RUN(unscale, t[0], n, 0.5f, t[1])

typedef struct List {
    Case *cases;
    int count;
} List;

static void append(List *list, const Case *cases, size_t count) {
    list->cases = realloc(list->cases, ((size_t)list->count + count) * sizeof *cases);
    CHECK(list->cases != NULL, "no memory for a few bytes");
    memcpy(list->cases + list->count, cases, count * sizeof *cases);
    list->count += (int)count;
}

#define APPEND(list, cases) append(list, cases, sizeof(cases) / sizeof((cases)[0]))
#define CASE(name) .op = #name, .run = name

/* Those that read numbers, do little with each, and write numbers. */
static void append_streaming(List *list, OpShape s) {
    size_t N = (size_t)s.B * s.T, C = (size_t)s.C, n = N * C, table = C * s.V;
    Argument stream = {REALS, n}, wide = {REALS, 4 * n}, channel = {REALS, C}, ids = {IDS, N},
             wte = {REALS, table}, wpe = {REALS, (size_t)s.T * C}, row = {FLOATS, N},
             dchannel = {FLOATS, C}, dwte = {FLOATS, table}, dwpe = {FLOATS, (size_t)s.T * C},
             codes = {CODES, table}, scales = {FLOATS, adam8_blocks(table)},
             drow = {FLOATS, (size_t)s.V}, big = {REALS, N * (size_t)logits_stride(s.V)},
             one = {FLOATS, 1}, bias = {REALS, 4 * C};
    const Case cases[] = {
        {CASE(embedding_forward), .arguments = {stream, ids, wte, wpe}},
        {CASE(embedding_backward), .arguments = {dwte, dwpe, stream, ids}},
        {CASE(layernorm_forward), .arguments = {stream, row, row, stream, channel, channel}},
        {CASE(layernorm_backward),
         .arguments = {stream, dchannel, dchannel, stream, stream, row, row, channel}},
        {CASE(gelu_forward), .arguments = {wide, wide, bias}},
        {CASE(gelu_backward), .arguments = {wide, wide}},
        {CASE(dropout_forward), .p = 0.1f, .arguments = {stream}},
        {CASE(dropout_backward), .p = 0.1f, .arguments = {stream}},
        {CASE(residual_forward), .arguments = {stream, stream}},
        {CASE(residual_forward), .where = "p=0.1", .p = 0.1f, .arguments = {stream, stream}},
        {CASE(residual_backward), .arguments = {stream, stream}},
        {CASE(residual_backward), .where = "p=0.1", .p = 0.1f, .arguments = {stream, stream}},
        {CASE(residual_norm_forward), .p = 0.1f,
         .arguments = {stream, stream, row, row, stream, channel, channel}},
        {CASE(residual_norm_backward), .p = 0.1f,
         .arguments = {stream, stream, dchannel, dchannel, stream, row, row, channel}},
        {CASE(axpby), .arguments = {stream, stream}},
        {CASE(crossentropy_forward), .arguments = {row, row, big, ids}},
        {CASE(crossentropy_backward), .arguments = {big, row, ids}},
        {CASE(vocab_ids), .arguments = {ids, ids}},
        {CASE(vocab_max), .arguments = {row, big}},
        {CASE(vocab_sum), .arguments = {row, row, big, row, ids}},
        {CASE(vocab_loss), .arguments = {row, row, row, row, row, ids}},
        {CASE(vocab_backward), .arguments = {big, row, ids}},
        {CASE(cast_from_float), .where = "wte", .arguments = {wte, dwte}},
        {CASE(cast_to_float), .where = "wte", .arguments = {dwte, wte}},
        {CASE(adamw), .where = "wte", .is_float = true,
         .arguments = {dwte, dwte, dwte, dwte, {ENTRY, 0}, {ENTRY, 1}, {ENTRY, 2}, {ENTRY, 3}}},
        {CASE(adam8), .where = "wte", .is_float = true,
         .arguments = {dwte,
                       dwte,
                       codes,
                       scales,
                       codes,
                       scales,
                       {ENTRY, 0},
                       {ENTRY, 1},
                       {MOMENT, 2},
                       {MOMENT, 4}}},
        {CASE(adafactor), .where = "wte", .is_float = true,
         .arguments = {dwte, drow, dchannel, dwte, {ENTRY, 0}, {ENTRY, 1}, {ENTRY, 2}, {ENTRY, 3}}},
        {CASE(sumsq), .where = "wte", .is_float = true, .arguments = {one, dwte, {ENTRY, 1}}},
        {CASE(scale), .where = "wte", .is_float = true, .arguments = {dwte, {ENTRY, 0}}},
        {CASE(unscale), .where = "wte", .is_float = true, .arguments = {dwte, one}},
    };
    APPEND(list, cases);
}

/* A linear layer from C to OC channels, forward and backward, with its bias added here (`bias`) and
   with the gradient of a bias (`dbias`). */
static void append_layer(List *list, OpShape s, const char *where, int C, int OC, int stride,
                         bool bias, bool dbias) {
    size_t N = (size_t)s.B * s.T, weights = (size_t)C * OC;
    Argument x = {REALS, N * C}, y = {REALS, N * (size_t)stride}, weight = {REALS, weights},
             dweight = {FLOATS, weights}, b = {bias ? REALS : NOTHING, (size_t)OC},
             db = {dbias ? FLOATS : NOTHING, (size_t)OC};
    const Case cases[] = {
        {CASE(matmul_forward), .where = where, .C = C, .OC = OC, .stride = stride,
         .arguments = {y, x, weight, b}},
        {CASE(matmul_backward_first), .where = where, .C = C, .OC = OC, .stride = stride,
         .arguments = {x, dweight, db, y, x, weight}},
        {CASE(matmul_backward), .where = where, .C = C, .OC = OC, .stride = stride,
         .arguments = {x, dweight, db, y, x, weight}},
    };
    APPEND(list, cases);
}

static void append_attention(List *list, OpShape s) {
    size_t n = (size_t)s.B * s.T * s.C, heads = (size_t)s.B * s.NH * s.T;
    Argument stream = {REALS, n}, qkv = {REALS, 3 * n}, probs = {REALS, heads * s.T},
             lse = {FLOATS, heads};
    const Case cases[] = {
        {CASE(attention_forward), .where = "plain", .arguments = {stream, probs, qkv}},
        {CASE(attention_backward), .where = "plain", .arguments = {qkv, stream, probs, qkv}},
        {CASE(flash_forward), .arguments = {stream, lse, qkv}},
        {CASE(flash_backward), .arguments = {qkv, stream, stream, lse, qkv}},
    };
    APPEND(list, cases);
}

static void keep(void *context, const char *op, Cost cost) {
    (void)op;
    *(Cost *)context = cost;
}

/* Nothing runs: of the tensors it is only asked which are there, and which are the same. */
static Cost cost_of(const Case *item, OpShape shape, Precision precision) {
    static char tensor[CASE_ARGUMENTS];
    void *t[CASE_ARGUMENTS];
    for (int i = 0; i < CASE_ARGUMENTS; i++) {
        t[i] = item->arguments[i].content == NOTHING ? NULL : &tensor[i];
    }
    Cost cost;
    Watch watch = {.precision = precision, .after = keep, .context = &cost};
    CasePlace place = {.ops = ops_watch(watch), .shape = shape};
    item->run(item, &place, t);
    return cost;
}

Case *cases_new(OpShape shape, Precision precision, int *count) {
    List list = {0};
    append_streaming(&list, shape);
    append_layer(&list, shape, "qkv", shape.C, 3 * shape.C, 3 * shape.C, true, true);
    append_layer(&list, shape, "proj", shape.C, shape.C, shape.C, true, true);
    append_layer(&list, shape, "fc", shape.C, 4 * shape.C, 4 * shape.C, false, true);
    append_layer(&list, shape, "fcproj", 4 * shape.C, shape.C, shape.C, true, true);
    append_layer(&list, shape, "head", shape.C, shape.V, logits_stride(shape.V), false, false);
    append_attention(&list, shape);
    for (int i = 0; i < list.count; i++) {
        list.cases[i].cost = cost_of(&list.cases[i], shape, precision);
    }
    *count = list.count;
    return list.cases;
}
