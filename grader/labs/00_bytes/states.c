#include "grader/labs/00_bytes/states.h"

#include <stdlib.h>

/* ---- task 1 ---------------------------------------------------------------------------------- */

MemoryUse params_right(const Shape *shape) {
    size_t count = 0;
    int n = params_count(&shape->config);
    Param *params = calloc((size_t)n, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", n);
    params_describe(params, &shape->config);
    for (int i = 0; i < n; i++) {
        count += params[i].count;
    }
    free(params);
    return answer_one(count);
}

/* The right number plus `more`. */
static MemoryUse params_and(const Shape *shape, long more) {
    return answer_one(params_right(shape).bytes[0] + (size_t)more);
}

static MemoryUse params_untied(const Shape *s) {
    return params_and(s, (long)s->config.V * s->config.C);
}
static MemoryUse params_no_biases(const Shape *s) {
    return params_and(s, -9L * s->config.L * s->config.C);
}
static MemoryUse params_no_lnf(const Shape *s) {
    return params_and(s, -2L * s->config.C);
}
static MemoryUse params_half_norms(const Shape *s) {
    return params_and(s, -(2L * s->config.L + 1) * s->config.C);
}
static MemoryUse params_one_norm(const Shape *s) {
    return params_and(s, -2L * s->config.L * s->config.C);
}
static MemoryUse params_no_positions(const Shape *s) {
    return params_and(s, -(long)s->config.T * s->config.C);
}
static MemoryUse params_padded(const Shape *s) {
    return params_and(s, (64 - s->config.V % 64) * (long)s->config.C);
}
static MemoryUse params_head_bias(const Shape *s) {
    return params_and(s, s->config.V);
}
static MemoryUse params_matrices(const Shape *s) {
    return params_and(s, -(13L * s->config.L + 2) * s->config.C);
}
static MemoryUse params_no_proj(const Shape *s) {
    return params_and(s, -(long)s->config.L * (s->config.C + 1) * s->config.C);
}
static MemoryUse params_one_block(const Shape *s) {
    long L = s->config.L, C = s->config.C;
    return params_and(s, -(L - 1) * (12 * C + 13) * C);
}
static MemoryUse params_bias_for_each(const Shape *s) {
    return params_and(s, (long)s->config.L * s->config.C);
}
static MemoryUse params_no_mlp_back(const Shape *s) {
    return params_and(s, -(4L * s->config.C + 1) * s->config.C * s->config.L);
}
static MemoryUse params_as_bytes(const Shape *s) {
    return answer_one(params_right(s).bytes[0] * precision_bytes(s->config.precision));
}

static const Mistake params_list[] = {
    {"the head counts as a matrix of its own; it is wte.weight once more (the weights are tied), "
     "so "
     "V * C counts once",
     params_untied},
    {"the biases of the four matrices of a block are missing: 9 C for each block",
     params_no_biases},
    {"the last layer norm, ln_f, is missing: 2 C", params_no_lnf},
    {"a layer norm has a scale and a bias: 2 C, not C", params_half_norms},
    {"2 C are missing in each block: it has two layer norms, ln_1 and ln_2, and the bias of "
     "attn.c_attn has 3 C numbers",
     params_one_norm},
    {"the positions, wpe.weight, are missing: T * C", params_no_positions},
    {"V counts as it is: this kit does not round the vocabulary up to a multiple of 64",
     params_padded},
    {"the head has no bias", params_head_bias},
    {"only matrices are counted: biases and layer norms are parameters too", params_matrices},
    {"attention's second matrix, attn.c_proj, is missing: C * C + C", params_no_proj},
    {"there are L blocks, not one", params_one_block},
    {"a block has C biases too many: three matrices end in C numbers, one in 4 C, and layer norms "
     "have theirs",
     params_bias_for_each},
    {"the way back from 4 C to C, mlp.c_proj, is missing: 4 C * C + C", params_no_mlp_back},
    {"these are bytes; task 1 asks for elements", params_as_bytes},
};

Mistakes params_mistakes(lift_fn *lift, lift_fn *then) {
    return MISTAKES(params_list, lift, then);
}

const Task *task_params(void) {
    static Task task = {.probe_case = "params", .numbers = 1, .right = params_right};
    task.lists[0] = params_mistakes(NULL, NULL);
    task.list_count = 1;
    return &task;
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

/* 16 or 18 bytes for each of P parameters. */
MemoryUse states_of(const Shape *shape, MemoryUse params) {
    size_t P = params.bytes[0];
    bool master = shape->config.precision != F32;
    MemoryUse use = {{0}};
    use.bytes[MEMORY_WEIGHTS] = P * precision_bytes(shape->config.precision);
    use.bytes[MEMORY_GRADIENTS] = P * 4;
    use.bytes[MEMORY_OPTIMIZER] = P * (master ? 12 : 8);
    return use;
}

MemoryUse states_right(const Shape *shape) {
    return states_of(shape, params_right(shape));
}

/* The right bytes, except for one kind: `bytes` for each parameter. */
static MemoryUse states_but(const Shape *shape, MemoryKind kind, size_t bytes) {
    MemoryUse use = states_right(shape);
    use.bytes[kind] = params_right(shape).bytes[0] * bytes;
    return use;
}

static MemoryUse states_half_gradients(const Shape *s) {
    return states_but(s, MEMORY_GRADIENTS, precision_bytes(s->config.precision));
}
static MemoryUse states_no_master(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, 8);
}
static MemoryUse states_always_master(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, 12);
}
static MemoryUse states_half_moments(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 8 : 4);
}
static MemoryUse states_half_everything(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 8 : 6);
}
static MemoryUse states_one_moment(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 4 : 8);
}
static MemoryUse states_float_weights(const Shape *s) {
    return states_but(s, MEMORY_WEIGHTS, 4);
}
static MemoryUse states_half_weights(const Shape *s) {
    return states_but(s, MEMORY_WEIGHTS, 2);
}
static MemoryUse states_master_is_weight(const Shape *s) {
    if (s->config.precision == F32) {
        return states_right(s);
    }
    MemoryUse use = states_but(s, MEMORY_WEIGHTS, 6);
    use.bytes[MEMORY_OPTIMIZER] = params_right(s).bytes[0] * 8;
    return use;
}
Shape shape_of_wide_bf16(const Shape *shape) {
    Shape wide = *shape;
    wide.config.precision = wide.config.precision == BF16 ? F32 : wide.config.precision;
    return wide;
}

const char BF16_IS_HALF[] = "bf16 is stored in half, as f16 is: only f32 takes 4 bytes a number";

static MemoryUse states_wide_bf16(const Shape *s) {
    Shape wide = shape_of_wide_bf16(s);
    return states_right(&wide);
}
static MemoryUse states_master_of_f16(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F16 ? 12 : 8);
}
static MemoryUse states_no_bytes(const Shape *s) {
    MemoryUse use = states_right(s);
    size_t P = params_right(s).bytes[0];
    use.bytes[MEMORY_GRADIENTS] = P;
    use.bytes[MEMORY_OPTIMIZER] /= 4;
    use.bytes[MEMORY_WEIGHTS] = P;
    return use;
}

static const Mistake states_list[] = {
    {"gradients of weights are floats, 4 bytes, whatever the precision", states_half_gradients},
    {"where weights are stored in half, the optimizer keeps a float master of each: 4 bytes more, "
     "beside m and v, which are floats too",
     states_no_master},
    {"float weights need no master: it is for weights stored in half", states_always_master},
    {"the moments m and v are floats, 4 bytes each, whatever the precision", states_half_moments},
    {"moments and master are floats, 4 bytes each, whatever the precision", states_half_everything},
    {"AdamW keeps two moments for each parameter, m and v", states_one_moment},
    {"weights are stored in the model's precision: precision_bytes()", states_float_weights},
    {"weights are stored in the model's precision: precision_bytes()", states_half_weights},
    {"the float master counts with the optimizer, not with the weights", states_master_is_weight},
    {"these are numbers; a float has 4 bytes", states_no_bytes},
    {BF16_IS_HALF, states_wide_bf16},
    {"bf16 is stored in half, as f16 is: its weights have float masters too", states_master_of_f16},
};

Mistakes states_mistakes(lift_fn *lift) {
    return MISTAKES(states_list, lift, NULL);
}

const Task *task_states(void) {
    static Task task = {.probe_case = "states", .numbers = MEMORY_KINDS, .right = states_right};
    task.lists[0] = states_mistakes(NULL);
    task.lists[1] = params_mistakes(states_of, NULL);
    task.list_count = 2;
    return &task;
}
