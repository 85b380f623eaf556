/* Every op, called as the model calls it, at the shapes of a training step. Gradients that the
   model replaces in place are replaced in place here too. */
#include "common/bench/cases.h"

#include <stdlib.h>
#include <string.h>

/* How each op is called. The tensors stand in the order of its parameters. */

#define RUN(op) static void op(const Case *self, const Place *place, void **t)
#define TOKENS (place->shape.B * place->shape.T)

static Dropout mask(const Case *self) {
    return (Dropout){.p = self->p, .seed = 1};
}

RUN(embedding_forward) {
    (void)self;
    Shape s = place->shape;
    place->ops->embedding_forward(t[0], t[1], t[2], t[3], s.B, s.T, s.C);
}
RUN(embedding_backward) {
    (void)self;
    Shape s = place->shape;
    place->ops->embedding_backward(t[0], t[1], t[2], t[3], s.B, s.T, s.C, s.V, &place->workspace);
}
RUN(layernorm_forward) {
    (void)self;
    place->ops->layernorm_forward(t[0], t[1], t[2], t[3], t[4], t[5], TOKENS, place->shape.C);
}
RUN(layernorm_backward) {
    (void)self;
    place->ops->layernorm_backward(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], TOKENS,
                                   place->shape.C, &place->workspace);
}
RUN(gelu_forward) {
    (void)self;
    place->ops->gelu_forward(t[0], t[1], t[2], TOKENS, 4 * place->shape.C);
}
RUN(gelu_backward) {
    (void)self;
    place->ops->gelu_backward(t[0], t[0], t[1], TOKENS, 4 * place->shape.C);
}
RUN(dropout_forward) {
    place->ops->dropout_forward(t[0], t[0], self->arguments[0].count, mask(self));
}
RUN(dropout_backward) {
    place->ops->dropout_backward(t[0], t[0], self->arguments[0].count, mask(self));
}
RUN(residual_forward) {
    place->ops->residual_forward(t[0], t[1], t[0], self->arguments[0].count, mask(self));
}
RUN(residual_backward) {
    place->ops->residual_backward(NULL, t[0], t[1], self->arguments[0].count, mask(self));
}
RUN(crossentropy_forward) {
    (void)self;
    place->ops->crossentropy_forward(t[0], t[1], t[2], t[3], TOKENS, place->shape.V);
}
RUN(crossentropy_backward) {
    (void)self;
    float dloss = 1.0f / (float)TOKENS;
    place->ops->crossentropy_backward(t[0], t[0], t[1], t[2], dloss, TOKENS, place->shape.V);
}
RUN(cast_from_float) {
    place->ops->cast_from_float(t[0], t[1], self->arguments[0].count);
}
RUN(cast_to_float) {
    place->ops->cast_to_float(t[0], t[1], self->arguments[0].count);
}
RUN(adamw) {
    AdamW adamw = {.learning_rate = 3e-4f,
                   .beta1 = 0.9f,
                   .beta2 = 0.95f,
                   .epsilon = 1e-8f,
                   .weight_decay = 0.1f};
    place->ops->adamw(t[0], t[1], t[2], t[3], self->arguments[0].count, adamw, 10);
}
RUN(sumsq) {
    place->ops->sumsq(t[0], t[1], self->arguments[1].count, &place->workspace);
}
RUN(scale) {
    place->ops->scale(t[0], self->arguments[0].count, 0.999f);
}
RUN(unscale) {
    place->ops->unscale(t[0], self->arguments[0].count, 0.5f, t[1]);
}
RUN(matmul_forward) {
    place->ops->matmul_forward(t[0], t[1], t[2], t[3], TOKENS, self->C, self->OC,
                               &place->workspace);
}
RUN(matmul_backward) {
    place->ops->matmul_backward(t[0], t[1], t[2], t[3], t[4], t[5], TOKENS, self->C, self->OC,
                                &place->workspace);
}
RUN(attention_forward) {
    (void)self;
    Shape s = place->shape;
    place->ops->attention_forward(t[0], t[1], t[2], s.B, s.T, s.C, s.NH, &place->workspace);
}
RUN(attention_backward) {
    (void)self;
    Shape s = place->shape;
    place->ops->attention_backward(t[0], t[1], t[2], t[3], s.B, s.T, s.C, s.NH, &place->workspace);
}
RUN(flash_forward) {
    (void)self;
    Shape s = place->shape;
    place->ops->flash_forward(t[0], t[1], t[2], s.B, s.T, s.C, s.NH, &place->workspace);
}
RUN(flash_backward) {
    (void)self;
    Shape s = place->shape;
    place->ops->flash_backward(t[0], t[1], t[2], t[3], t[4], s.B, s.T, s.C, s.NH,
                               &place->workspace);
}

/* What each op moves and computes. N tokens of C channels make n numbers; r is the size of a stored
   number, and 4 that of a float. A tensor that is added to is read and written. */

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

/* Those that a copy bounds: they read numbers, do little with each, and write numbers. */
static void append_streaming(List *list, Shape s, double r) {
    size_t N = (size_t)s.B * s.T, C = (size_t)s.C, n = N * C, logits = N * s.V, table = C * s.V;
    double rows = N < (size_t)s.V ? (double)N : s.V; /* of the table that the tokens meet */
    double dn = (double)n, dN = (double)N, dC = s.C, dt = (double)table, dl = (double)logits;
    double positions = (double)s.T * dC;
    Argument stream = {REALS, n}, wide = {REALS, 4 * n}, channel = {REALS, C}, ids = {IDS, N},
             wte = {REALS, table}, wpe = {REALS, (size_t)s.T * C}, row = {FLOATS, N},
             dchannel = {FLOATS, C}, dwte = {FLOATS, table}, dwpe = {FLOATS, (size_t)s.T * C},
             big = {REALS, logits}, one = {FLOATS, 1}, bias = {REALS, 4 * C};
    const Case cases[] = {
        {.op = "embedding_forward",
         .run = embedding_forward,
         .arguments = {stream, ids, wte, wpe},
         .bytes = (dn + rows * dC + positions) * r + 4 * dN,
         .flops = dn},
        {.op = "embedding_backward",
         .run = embedding_backward,
         .arguments = {dwte, dwpe, stream, ids},
         .bytes = dn * r + 8 * rows * dC + 8 * positions + 4 * dN,
         .flops = 2 * dn},
        {.op = "layernorm_forward",
         .run = layernorm_forward,
         .arguments = {stream, row, row, stream, channel, channel},
         .bytes = 2 * dn * r + 8 * dN + 2 * dC * r,
         .flops = 8 * dn},
        {.op = "layernorm_backward",
         .run = layernorm_backward,
         .arguments = {stream, dchannel, dchannel, stream, stream, row, row, channel},
         .bytes = 4 * dn * r + 8 * dN + 16 * dC + dC * r,
         .flops = 15 * dn},
        {.op = "gelu_forward",
         .run = gelu_forward,
         .arguments = {wide, wide, bias},
         .bytes = 12 * dn * r + 4 * dC * r,
         .flops = 4 * 10 * dn},
        {.op = "gelu_backward",
         .run = gelu_backward,
         .arguments = {wide, wide},
         .bytes = 12 * dn * r,
         .flops = 4 * 18 * dn},
        {.op = "dropout_forward",
         .run = dropout_forward,
         .p = 0.1f,
         .arguments = {stream},
         .bytes = 2 * dn * r,
         .flops = dn},
        {.op = "dropout_backward",
         .run = dropout_backward,
         .p = 0.1f,
         .arguments = {stream},
         .bytes = 2 * dn * r,
         .flops = dn},
        {.op = "residual_forward",
         .run = residual_forward,
         .arguments = {stream, stream},
         .bytes = 3 * dn * r,
         .flops = dn},
        {.op = "residual_forward",
         .where = "p=0.1",
         .run = residual_forward,
         .p = 0.1f,
         .arguments = {stream, stream},
         .bytes = 3 * dn * r,
         .flops = 2 * dn},
        {.op = "residual_backward",
         .run = residual_backward,
         .arguments = {stream, stream},
         .bytes = 3 * dn * r,
         .flops = dn},
        {.op = "residual_backward",
         .where = "p=0.1",
         .run = residual_backward,
         .p = 0.1f,
         .arguments = {stream, stream},
         .bytes = 3 * dn * r,
         .flops = 2 * dn},
        {.op = "crossentropy_forward",
         .run = crossentropy_forward,
         .arguments = {row, row, big, ids},
         .bytes = dl * r + 12 * dN,
         .flops = 4 * dl},
        {.op = "crossentropy_backward",
         .run = crossentropy_backward,
         .arguments = {big, row, ids},
         .bytes = 2 * dl * r + 8 * dN,
         .flops = 4 * dl},
        {.op = "cast_from_float",
         .where = "wte",
         .run = cast_from_float,
         .arguments = {wte, dwte},
         .bytes = (r + 4) * dt},
        {.op = "cast_to_float",
         .where = "wte",
         .run = cast_to_float,
         .arguments = {dwte, wte},
         .bytes = (r + 4) * dt},
        {.op = "adamw",
         .where = "wte",
         .run = adamw,
         .is_float = true,
         .arguments = {dwte, dwte, dwte, dwte},
         .bytes = 28 * dt,
         .flops = 15 * dt},
        {.op = "sumsq",
         .where = "wte",
         .run = sumsq,
         .is_float = true,
         .arguments = {one, dwte},
         .bytes = 4 * dt,
         .flops = 2 * dt},
        {.op = "scale",
         .where = "wte",
         .run = scale,
         .is_float = true,
         .arguments = {dwte},
         .bytes = 8 * dt,
         .flops = dt},
        {.op = "unscale",
         .where = "wte",
         .run = unscale,
         .is_float = true,
         .arguments = {dwte, one},
         .bytes = 8 * dt,
         .flops = 2 * dt},
    };
    APPEND(list, cases);
}

/* A linear layer from C to OC channels, forward and backward, with its bias added here (`bias`) and
   with the gradient of a bias (`dbias`). */
static void append_layer(List *list, Shape s, double r, const char *where, int C, int OC, bool bias,
                         bool dbias) {
    size_t N = (size_t)s.B * s.T, inputs = N * C, outputs = N * OC, weights = (size_t)C * OC;
    double in = (double)inputs, out = (double)outputs, w = (double)weights;
    Argument x = {REALS, inputs}, y = {REALS, outputs}, weight = {REALS, weights},
             dweight = {FLOATS, weights}, b = {bias ? REALS : NOTHING, (size_t)OC},
             db = {dbias ? FLOATS : NOTHING, (size_t)OC};
    const Case cases[] = {
        {.op = "matmul_forward",
         .run = matmul_forward,
         .arguments = {y, x, weight, b},
         .bytes = (in + out + w + (bias ? OC : 0)) * r,
         .flops = 2 * in * OC + (bias ? out : 0)},
        {.op = "matmul_backward",
         .run = matmul_backward,
         .arguments = {x, dweight, db, y, x, weight},
         .bytes = (3 * in + out + w) * r + 8 * w + (dbias ? 8 * OC : 0),
         .flops = 4 * in * OC + (dbias ? out : 0)},
    };
    for (int i = 0; i < 2; i++) {
        Case layer = cases[i];
        layer.where = where;
        layer.bound = MATMUL_RATE;
        layer.C = C;
        layer.OC = OC;
        append(list, &layer, 1);
    }
}

/* Attention, of which only the causal half of the products is counted: what else is computed is
   waste. `pass` is one such product for all heads. */
static void append_attention(List *list, Shape s, double r) {
    size_t n = (size_t)s.B * s.T * s.C, heads = (size_t)s.B * s.NH * s.T;
    double dn = (double)n, square = (double)heads * s.T, rows = (double)heads;
    double pass = dn * s.T;
    Argument stream = {REALS, n}, qkv = {REALS, 3 * n}, probs = {REALS, heads * s.T},
             lse = {FLOATS, heads};
    const Case cases[] = {
        {.op = "attention_forward",
         .where = "plain",
         .run = attention_forward,
         .bound = MATMUL_RATE,
         .arguments = {stream, probs, qkv},
         .bytes = (4 * dn + square) * r,
         .flops = 2 * pass},
        {.op = "attention_backward",
         .where = "plain",
         .run = attention_backward,
         .bound = MATMUL_RATE,
         .arguments = {qkv, stream, probs, qkv},
         .bytes = (10 * dn + square) * r,
         .flops = 4 * pass},
        {.op = "flash_forward",
         .run = flash_forward,
         .bound = MATMUL_RATE,
         .arguments = {stream, lse, qkv},
         .bytes = 4 * dn * r + 4 * rows,
         .flops = 2 * pass},
        {.op = "flash_backward",
         .run = flash_backward,
         .bound = MATMUL_RATE,
         .arguments = {qkv, stream, stream, lse, qkv},
         .bytes = 11 * dn * r + 4 * rows,
         .flops = 5 * pass},
    };
    APPEND(list, cases);
}

Case *cases_new(Shape shape, size_t element, int *count) {
    List list = {0};
    double r = (double)element;
    append_streaming(&list, shape, r);
    append_layer(&list, shape, r, "qkv", shape.C, 3 * shape.C, true, true);
    append_layer(&list, shape, r, "proj", shape.C, shape.C, true, true);
    append_layer(&list, shape, r, "fc", shape.C, 4 * shape.C, false, true);
    append_layer(&list, shape, r, "fcproj", 4 * shape.C, shape.C, true, true);
    append_layer(&list, shape, r, "head", shape.C, shape.V, false, false);
    append_attention(&list, shape, r);
    *count = list.count;
    return list.cases;
}
