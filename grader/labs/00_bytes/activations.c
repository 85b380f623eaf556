#include "grader/labs/00_bytes/activations.h"

#include "grader/draws.h"
#include "grader/labs/00_bytes/block.h"
#include "grader/labs/00_bytes/states.h"

/* Tasks 4 and 5: what a step takes. */

/* Everything, as a step counts it. */
static MemoryUse step_counted(const Shape *shape) {
    Device *device = judge_device(THREADS);
    MemoryUse use;
    trainer_measure(&shape->config, (Checkpoint){0}, shape->B, shape->T, device, &use);
    device_free(device);
    if (check_on_gpu()) {
        use.bytes[MEMORY_WORKSPACE] = judge_gpu_workspace(&shape->config);
    }
    return use;
}

static MemoryUse activations_counted(const Shape *shape) {
    return answer_one(answer_once(step_counted, shape).bytes[MEMORY_ACTIVATIONS]);
}

/* Of rows of logits with their padding, and of few positions: neither makes activations larger. */
static MemoryUse activations_right(const Shape *shape) {
    Shape padded = *shape;
    padded.config.V = logits_stride(shape->config.V);
    padded.config.T = 2;
    return by_the_token(activations_counted, &padded);
}

static MemoryUse predict_right(const Shape *shape) {
    MemoryUse use = states_right(shape);
    Shape token = *shape;
    token.B = token.T = 1;           /* the workspace is the same whatever B and T are */
    bool drawn = draw_now() != NULL; /* for no probe: then any workspace will do */
    use.bytes[MEMORY_ACTIVATIONS] = activations_right(shape).bytes[0];
    use.bytes[MEMORY_WORKSPACE] =
        drawn ? 1 : answer_once(step_counted, &token).bytes[MEMORY_WORKSPACE];
    use.bytes[MEMORY_DATA] = 8 * (size_t)shape->B * (size_t)shape->T;
    return use;
}

static MemoryUse activations_and(const Shape *s, long numbers, long floats) {
    long more = numbers * (long)precision_bytes(s->config.precision) + floats * 4;
    return answer_one(activations_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}

/* Numbers of a row of logits, padding included. */
static long row_of_logits(const Shape *s) {
    return logits_stride(s->config.V);
}

long activations_head_minus_block(const Shape *s) {
    long number = (long)precision_bytes(s->config.precision);
    return (row_of_logits(s) - 3L * s->config.C) * number + 16;
}

static MemoryUse activations_head_only(const Shape *s) {
    long more = activations_head_minus_block(s) * s->B * s->T;
    return answer_one(activations_right(s).bytes[0] + (size_t)(more < 0 ? more : 0));
}
static MemoryUse activations_block_only(const Shape *s) {
    long less = activations_head_minus_block(s) * s->B * s->T;
    return answer_one(activations_right(s).bytes[0] - (size_t)(less > 0 ? less : 0));
}
static MemoryUse activations_both(const Shape *s) {
    long C = s->config.C, V = row_of_logits(s);
    return activations_head_minus_block(s) > 0 ? activations_and(s, 5 * C, 0)
                                               : activations_and(s, 2 * C + V, 4);
}
static MemoryUse activations_no_logits(const Shape *s) {
    return activations_and(s, -row_of_logits(s), 0);
}
/* The head's backward with that much more a token: the block's may then be the larger of both. */
static MemoryUse activations_head_and(const Shape *s, long numbers, long floats) {
    long more = numbers * (long)precision_bytes(s->config.precision) + floats * 4;
    long head = activations_head_minus_block(s), other = head + more;
    more = (other > 0 ? other : 0) - (head > 0 ? head : 0);
    return answer_one(activations_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}
static MemoryUse activations_unpadded(const Shape *s) {
    return activations_head_and(s, s->config.V - row_of_logits(s), 0);
}
static MemoryUse activations_dlogits(const Shape *s) {
    return activations_head_and(s, row_of_logits(s), 0);
}
static MemoryUse activations_float_logits(const Shape *s) {
    return activations_head_and(s, -row_of_logits(s), row_of_logits(s));
}
static MemoryUse activations_three_floats(const Shape *s) {
    return activations_head_and(s, 0, -1);
}
static MemoryUse activations_two_floats(const Shape *s) {
    return activations_head_and(s, 0, -2);
}
static MemoryUse activations_no_floats(const Shape *s) {
    return activations_head_and(s, 0, -4);
}
static MemoryUse activations_half_floats(const Shape *s) {
    return activations_head_and(s, 4, -4);
}
static MemoryUse activations_one_stream_less(const Shape *s) {
    return activations_and(s, -(long)s->config.C, 0);
}
static MemoryUse activations_two_streams_less(const Shape *s) {
    return activations_and(s, -2L * s->config.C, 0);
}
static MemoryUse activations_no_boundaries(const Shape *s) {
    return activations_and(s, -(long)s->config.L * s->config.C, 0);
}
static MemoryUse activations_one_block_more(const Shape *s) {
    size_t stream = (size_t)s->B * (size_t)s->T * (size_t)s->config.C;
    return answer_one(activations_right(s).bytes[0] + block_right(s).bytes[0] +
                      stream * precision_bytes(s->config.precision));
}
static MemoryUse activations_forward_only(const Shape *s) {
    long C = s->config.C;
    return activations_and(s, activations_head_minus_block(s) > 0 ? -C : row_of_logits(s) - 4 * C,
                           activations_head_minus_block(s) > 0 ? 0 : 4);
}
/* The block's backward with that many tensors of C numbers a token in place of 5. */
static MemoryUse activations_block_of(const Shape *s, long tensors) {
    long number = (long)precision_bytes(s->config.precision);
    long head = activations_head_minus_block(s), other = (tensors - 5) * s->config.C * number;
    long more = (head > other ? head : other) - (head > 0 ? head : 0);
    return answer_one(activations_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}
static MemoryUse activations_block_of_four(const Shape *s) {
    return activations_block_of(s, 4);
}
static MemoryUse activations_block_of_eight(const Shape *s) {
    return activations_block_of(s, 8);
}
static MemoryUse activations_block_of_ten(const Shape *s) {
    return activations_block_of(s, 10);
}
static MemoryUse activations_longest(const Shape *s) {
    return activations_right(&(Shape){.config = s->config, .B = s->B, .T = s->config.T});
}
static MemoryUse activations_one_sequence(const Shape *s) {
    return activations_right(&(Shape){.config = s->config, .B = 1, .T = s->T});
}

static MemoryUse activations_wide_bf16(const Shape *s) {
    Shape wide = shape_of_wide_bf16(s);
    return activations_right(&wide);
}

static const Mistake activations_list[] = {
    {"the peak is the larger of two moments, the head's backward and the last block's: which is "
     "larger depends on V and C",
     activations_head_only},
    {"the peak is the larger of two moments, the head's backward and the last block's: which is "
     "larger depends on V and C",
     activations_block_only},
    {"the head and the last block do not run backward at the same time: the larger counts, not the "
     "sum",
     activations_both},
    {"the logits are missing: B * T rows of logits_stride(V) numbers", activations_no_logits},
    {"a row of logits takes V numbers rounded up to a multiple of 64: logits_stride(V)",
     activations_unpadded},
    {"logits are stored in the model's precision, not in float", activations_float_logits},
    {"the gradient of the logits takes no memory of its own: it replaces the logits",
     activations_dlogits},
    {"the head keeps four floats a token: mean, rstd, loss and log-sum", activations_three_floats},
    {"the head keeps four floats a token: mean, rstd, loss and log-sum", activations_two_floats},
    {"the head keeps four floats a token: mean, rstd, loss and log-sum", activations_no_floats},
    {"mean, rstd, losses and log-sums are floats: 4 bytes, in half too", activations_half_floats},
    {"one tensor of the residual stream (B, T, C) is missing: look for the embedding's output, the "
     "gradient dx, ln_f's output and its gradient",
     activations_one_stream_less},
    {"two tensors of the residual stream (B, T, C) are missing: look for the embedding's output, "
     "the gradient dx, ln_f's output and its gradient",
     activations_two_streams_less},
    {block_stream, activations_no_boundaries},
    {"there are L blocks; the embedding and the head are not blocks", activations_one_block_more},
    {"this is the peak of forward; backward needs gradients of activations on top",
     activations_forward_only},
    {"backward of the MLP needs the gradient of one branch (C) beside that of fc (4 C)",
     activations_block_of_four},
    {"backward of the MLP and of attention take turns: 4 C and one branch, or 3 C and two, are "
     "there "
     "at a time, not 8 C",
     activations_block_of_eight},
    {"backward of the MLP and of attention take turns: the larger of both counts, not the sum",
     activations_block_of_ten},
    {"the sequences have T tokens (the argument); config->T is only the longest that they may have",
     activations_longest},
    {"this is for T tokens; a micro-batch has B * T", activations_one_sequence},
    {BF16_IS_HALF, activations_wide_bf16},
};

static MemoryUse activations_with_block(const Shape *shape, MemoryUse block) {
    size_t more = (size_t)shape->config.L * (block.bytes[0] - block_right(shape).bytes[0]);
    return answer_one(activations_right(shape).bytes[0] + more);
}

const Task *task_activations(void) {
    static Task task = {.probe_case = "activations",
                        .numbers = 1,
                        .right = activations_right,
                        .counted = activations_counted};
    task.lists[0] = MISTAKES(activations_list, NULL, NULL);
    task.lists[1] = block_mistakes(activations_with_block, NULL);
    task.list_count = 2;
    return &task;
}

static MemoryUse predict_but(const Shape *s, MemoryKind kind, size_t bytes) {
    MemoryUse use = predict_right(s);
    use.bytes[kind] = bytes;
    return use;
}

static MemoryUse predict_no_workspace(const Shape *s) {
    return predict_but(s, MEMORY_WORKSPACE, 0);
}
static MemoryUse predict_no_data(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 0);
}
static MemoryUse predict_no_targets(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 4 * (size_t)s->B * (size_t)s->T);
}
static MemoryUse predict_wide_ids(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 16 * (size_t)s->B * (size_t)s->T);
}
static MemoryUse predict_longest_data(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 8 * (size_t)s->B * (size_t)s->config.T);
}
static MemoryUse predict_no_states(const Shape *s) {
    MemoryUse use = predict_right(s);
    use.bytes[MEMORY_WEIGHTS] = use.bytes[MEMORY_GRADIENTS] = use.bytes[MEMORY_OPTIMIZER] = 0;
    return use;
}
static const Mistake predict_list[] = {
    {"the workspace is missing: workspace_bytes() gives its size", predict_no_workspace},
    {"the data is missing: a token and a target of 4 bytes each", predict_no_data},
    {"data is a token and a target: 2 * 4 bytes for each of the B * T", predict_no_targets},
    {"tokens and targets are int32_t: 4 bytes, not 8", predict_wide_ids},
    {"a micro-batch has B * T tokens, T the argument: config->T is not in the data",
     predict_longest_data},
    {"weights, gradients and states are missing: begin with bytes_states()", predict_no_states},
};

static MemoryUse predict_with_activations(const Shape *s, MemoryUse activations) {
    return predict_but(s, MEMORY_ACTIVATIONS, activations.bytes[0]);
}

static MemoryUse predict_with_states(const Shape *s, MemoryUse states) {
    MemoryUse use = predict_right(s);
    memcpy(use.bytes, states.bytes, sizeof use.bytes[0] * (MEMORY_OPTIMIZER + 1));
    return use;
}

/* The mistakes of earlier tasks are mistakes here too. */
const Task *task_predict(void) {
    static Task task = {.probe_case = "predict",
                        .numbers = MEMORY_KINDS,
                        .right = predict_right,
                        .counted = step_counted};
    task.lists[0] = MISTAKES(predict_list, NULL, NULL);
    task.lists[1] = params_mistakes(states_of, predict_with_states);
    task.lists[2] = states_mistakes(predict_with_states);
    task.lists[3] = MISTAKES(activations_list, predict_with_activations, NULL);
    task.lists[4] = block_mistakes(activations_with_block, predict_with_activations);
    task.list_count = 5;
    return &task;
}
