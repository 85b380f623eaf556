/**
 * @file 00_mistakes.h
 * @brief Judge of lab 00: right answers by formula, and what each known mistake would give.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_00_MISTAKES_H
#define GRADER_JUDGES_00_MISTAKES_H

#include "grader/judges/00_quiz.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

static inline MemoryUse params_right(const Shape *shape) {
    Param params[MODEL_PARAMS + 8 * BLOCK_PARAMS];
    size_t count = 0;
    CHECK(shape->config.L <= 8, "%d layers", shape->config.L);
    params_describe(params, &shape->config);
    for (int i = 0; i < params_count(&shape->config); i++) {
        count += params[i].count;
    }
    return one(count);
}

/* The right number and so many more. */
static inline MemoryUse params_and(const Shape *shape, long more) {
    return one(params_right(shape).bytes[0] + (size_t)more);
}

static inline MemoryUse params_untied(const Shape *s) {
    return params_and(s, (long)s->config.V * s->config.C);
}
static inline MemoryUse params_no_biases(const Shape *s) {
    return params_and(s, -9L * s->config.L * s->config.C);
}
static inline MemoryUse params_no_lnf(const Shape *s) {
    return params_and(s, -2L * s->config.C);
}
static inline MemoryUse params_half_norms(const Shape *s) {
    return params_and(s, -(2L * s->config.L + 1) * s->config.C);
}
static inline MemoryUse params_one_norm(const Shape *s) {
    return params_and(s, -2L * s->config.L * s->config.C);
}
static inline MemoryUse params_no_positions(const Shape *s) {
    return params_and(s, -(long)s->config.T * s->config.C);
}
static inline MemoryUse params_padded(const Shape *s) {
    return params_and(s, (64 - s->config.V % 64) * (long)s->config.C);
}
static inline MemoryUse params_head_bias(const Shape *s) {
    return params_and(s, s->config.V);
}
static inline MemoryUse params_matrices(const Shape *s) {
    return params_and(s, -(13L * s->config.L + 2) * s->config.C);
}
static inline MemoryUse params_no_proj(const Shape *s) {
    return params_and(s, -(long)s->config.L * (s->config.C + 1) * s->config.C);
}
static inline MemoryUse params_one_block(const Shape *s) {
    long L = s->config.L, C = s->config.C;
    return params_and(s, -(L - 1) * (12 * C + 13) * C);
}
static inline MemoryUse params_as_bytes(const Shape *s) {
    return one(params_right(s).bytes[0] * precision_bytes(s->config.precision));
}

static const Mistake params_mistakes[] = {
    {"the head counts as a matrix of its own; it is wte.weight once more (the weights are tied), "
     "so "
     "V * C counts once",
     params_untied},
    {"the biases of the four matrices of a block are missing: 9 C for each block",
     params_no_biases},
    {"the last layer norm, ln_f, is missing: 2 C", params_no_lnf},
    {"a layer norm has a scale and a bias: 2 C, not C", params_half_norms},
    {"a block has two layer norms, ln_1 and ln_2", params_one_norm},
    {"the positions, wpe.weight, are missing: T * C", params_no_positions},
    {"V counts as it is: this kit does not round the vocabulary up to a multiple of 64",
     params_padded},
    {"the head has no bias", params_head_bias},
    {"only matrices are counted: biases and layer norms are parameters too", params_matrices},
    {"attention's second matrix, attn.c_proj, is missing: C * C + C", params_no_proj},
    {"there are L blocks, not one", params_one_block},
    {"these are bytes; task 1 asks for numbers", params_as_bytes},
};

/* ---- task 2 ---------------------------------------------------------------------------------- */

/* 16 or 18 bytes for each of P parameters. */
static inline MemoryUse states_of(const Shape *shape, size_t P) {
    bool master = shape->config.precision != F32;
    MemoryUse use = {{0}};
    use.bytes[MEMORY_WEIGHTS] = P * precision_bytes(shape->config.precision);
    use.bytes[MEMORY_GRADIENTS] = P * 4;
    use.bytes[MEMORY_OPTIMIZER] = P * (master ? 12 : 8);
    return use;
}

static inline MemoryUse states_right(const Shape *shape) {
    return states_of(shape, params_right(shape).bytes[0]);
}

/* The right bytes, but for one kind: so many for each parameter. */
static inline MemoryUse states_but(const Shape *shape, MemoryKind kind, size_t bytes) {
    MemoryUse use = states_right(shape);
    use.bytes[kind] = params_right(shape).bytes[0] * bytes;
    return use;
}

static inline MemoryUse states_half_gradients(const Shape *s) {
    return states_but(s, MEMORY_GRADIENTS, 2);
}
static inline MemoryUse states_no_master(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, 8);
}
static inline MemoryUse states_always_master(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, 12);
}
static inline MemoryUse states_half_moments(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 8 : 4);
}
static inline MemoryUse states_half_moments_and_master(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 12 : 8);
}
static inline MemoryUse states_half_everything(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, 6);
}
static inline MemoryUse states_one_moment(const Shape *s) {
    return states_but(s, MEMORY_OPTIMIZER, s->config.precision == F32 ? 4 : 8);
}
static inline MemoryUse states_float_weights(const Shape *s) {
    return states_but(s, MEMORY_WEIGHTS, 4);
}
static inline MemoryUse states_half_weights(const Shape *s) {
    return states_but(s, MEMORY_WEIGHTS, 2);
}
static inline MemoryUse states_master_is_weight(const Shape *s) {
    MemoryUse use = states_but(s, MEMORY_WEIGHTS, 6);
    use.bytes[MEMORY_OPTIMIZER] = params_right(s).bytes[0] * 8;
    return use;
}
static inline MemoryUse states_no_bytes(const Shape *s) {
    MemoryUse use = states_right(s);
    size_t P = params_right(s).bytes[0];
    use.bytes[MEMORY_GRADIENTS] = P;
    use.bytes[MEMORY_OPTIMIZER] /= 4;
    use.bytes[MEMORY_WEIGHTS] = P;
    return use;
}

static const Mistake states_mistakes[] = {
    {"gradients of weights are floats, 4 bytes, whatever the precision", states_half_gradients},
    {"where weights are stored in half, the optimizer keeps a float master of each: 4 bytes more",
     states_no_master},
    {"float weights need no master: it is for weights stored in half", states_always_master},
    {"the moments m and v are floats, 4 bytes each, whatever the precision", states_half_moments},
    {"the moments m and v are floats, and the master is one more", states_half_moments_and_master},
    {"moments and master are floats, 4 bytes each, whatever the precision", states_half_everything},
    {"AdamW keeps two moments for each parameter, m and v", states_one_moment},
    {"weights are stored in the model's precision: precision_bytes()", states_float_weights},
    {"weights are stored in the model's precision: precision_bytes()", states_half_weights},
    {"the float master counts with the optimizer, not with the weights", states_master_is_weight},
    {"these are numbers; a float has 4 bytes", states_no_bytes},
};

/* ---- task 3 ---------------------------------------------------------------------------------- */

/* A device with room enough, for one measurement. */
static inline Device *open_device(void) {
    omp_set_num_threads(THREADS);
    Device *device = device_cpu_new(1 << 30);
    CHECK(device != NULL, "no address range of 1 GiB");
    omp_set_num_threads(1); /* the workspace is for THREADS; models this small need one */
    return device;
}

/* What block_alloc() puts on the stack. */
static inline MemoryUse block_right(const Shape *shape) {
    Device *device = open_device();
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&shape->config, memory, 0);
    int N = shape->B * shape->T;
    int32_t *ids = calloc((size_t)N, sizeof *ids);
    CHECK(ids != NULL, "no memory for %d ids", N);
    model_begin(model, &(Batch){shape->B, shape->T, ids, ids, N}, true);
    MemoryUse before = memory_now(memory);
    block_alloc(model, 0);
    MemoryUse after = memory_now(memory);
    model_end(model);
    model_free(model);
    memory_free(memory);
    device_free(device);
    free(ids);
    return one(memory_total(&after) - memory_total(&before));
}

/* So many more numbers, floats and bytes for each token. */
static inline MemoryUse block_and(const Shape *s, long numbers, long floats, long bytes) {
    long number = (long)precision_bytes(s->config.precision);
    long more = numbers * number + floats * 4 + bytes;
    return one(block_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}

/* Numbers of the probabilities, for each token; 0 with flash attention. */
static inline long probs_of(const Shape *s) {
    return s->config.attention == ATTENTION_PLAIN ? (long)s->config.NH * s->T : 0;
}
static inline long lse_of(const Shape *s) {
    return s->config.attention == ATTENTION_FLASH ? s->config.NH : 0;
}

static inline MemoryUse block_half_statistics(const Shape *s) {
    return block_and(s, 0, 0, -4 * 2);
}
static inline MemoryUse block_half_floats(const Shape *s) {
    return block_and(s, 0, 0, -2 * (4 + lse_of(s)));
}
static inline MemoryUse block_half_lse(const Shape *s) {
    return block_and(s, 0, 0, -2 * lse_of(s));
}
static inline MemoryUse block_no_statistics(const Shape *s) {
    return block_and(s, 0, -4, 0);
}
static inline MemoryUse block_half_of_statistics(const Shape *s) {
    return block_and(s, 0, -2, 0);
}
static inline MemoryUse block_no_probs(const Shape *s) {
    return block_and(s, -probs_of(s), 0, 0);
}
static inline MemoryUse block_float_probs(const Shape *s) {
    return block_and(s, -probs_of(s), probs_of(s), 0);
}
static inline MemoryUse block_one_head(const Shape *s) {
    return block_and(s, s->T - probs_of(s), 0, 0);
}
static inline MemoryUse block_scores_too(const Shape *s) {
    return block_and(s, probs_of(s), 0, 0);
}
static inline MemoryUse block_longest_rows(const Shape *s) {
    return block_and(s, (long)s->config.NH * (s->config.T - s->T), 0, 0);
}
static inline MemoryUse block_always_plain(const Shape *s) {
    return block_and(s, (long)s->config.NH * s->T, -lse_of(s), 0);
}
static inline MemoryUse block_plain_and_flash(const Shape *s) {
    return block_and(s, lse_of(s) ? (long)s->config.NH * s->T : 0, 0, 0);
}
static inline MemoryUse block_lse_always(const Shape *s) {
    return block_and(s, 0, s->config.NH - lse_of(s), 0);
}
static inline MemoryUse block_no_lse(const Shape *s) {
    return block_and(s, 0, -lse_of(s), 0);
}
static inline MemoryUse block_one_lse(const Shape *s) {
    return block_and(s, 0, 1 - lse_of(s), 0);
}
static inline MemoryUse block_one_sequence(const Shape *s) {
    return block_right(&(Shape){s->config, 1, s->T});
}
static inline MemoryUse block_longest(const Shape *s) {
    return block_right(&(Shape){s->config, s->B, s->config.T});
}
static inline MemoryUse block_masks(const Shape *s) {
    return block_and(s, 2L * s->config.C, 0, 0);
}
static inline MemoryUse block_byte_masks(const Shape *s) {
    return block_and(s, 0, 0, 2L * s->config.C);
}
static inline MemoryUse block_no_gelu(const Shape *s) {
    return block_and(s, -4L * s->config.C, 0, 0);
}
static inline MemoryUse block_and_input(const Shape *s) {
    return block_and(s, s->config.C, 0, 0);
}
static inline MemoryUse block_minus_one(const Shape *s) {
    return block_and(s, -(long)s->config.C, 0, 0);
}
static inline MemoryUse block_no_qkv(const Shape *s) {
    return block_and(s, -2L * s->config.C, 0, 0);
}
static inline MemoryUse block_all_blocks(const Shape *s) {
    return one(block_right(s).bytes[0] * (size_t)s->config.L);
}

static const Mistake block_mistakes[] = {
    {"mean and rstd of the layer norms are floats: 4 bytes, in half too", block_half_statistics},
    {"mean, rstd and the log-sums are floats: 4 bytes, in half too", block_half_floats},
    {"the log-sums of flash attention are floats: 4 bytes, in half too", block_half_lse},
    {"mean and rstd of the two layer norms are missing: 4 floats a token", block_no_statistics},
    {"each of the two layer norms keeps mean and rstd: 4 floats a token", block_half_of_statistics},
    {"the (T, T) probabilities of plain attention are missing: B * NH * T * T numbers",
     block_no_probs},
    {"the probabilities are stored in the model's precision, not in float", block_float_probs},
    {"there is a (T, T) matrix of probabilities for each of the NH heads", block_one_head},
    {"the scores before the softmax are not kept, only the probabilities", block_scores_too},
    {"the rows of probabilities are as long as the sequences of the batch (T), not as long as they "
     "may be (config->T)",
     block_longest_rows},
    {"flash attention keeps no probabilities: one float for each row of each head",
     block_always_plain},
    {"with flash attention the (T, T) probabilities are not kept", block_plain_and_flash},
    {"the log-sums belong to flash attention; plain attention keeps probabilities instead",
     block_lse_always},
    {"flash attention keeps the log-sum of each row: B * NH * T floats", block_no_lse},
    {"flash attention keeps a log-sum for each of the NH heads", block_one_lse},
    {"this is for T tokens; a micro-batch has B * T", block_one_sequence},
    {"the sequences have T tokens (the argument); config->T is only the longest that they may have",
     block_longest},
    {"dropout masks are never stored: they are drawn again", block_masks},
    {"dropout masks are never stored: they are drawn again", block_byte_masks},
    {"both fc and gelu are kept: 4 C numbers each", block_no_gelu},
    {"input and output of a block are not counted here (task 4 has them)", block_and_input},
    {"one tensor of C numbers a token is missing: ln1, attention, mid and ln2 are all kept",
     block_minus_one},
    {"queries, keys and values are kept: 3 C numbers, not C", block_no_qkv},
    {"this is for all blocks; task 3 asks for one", block_all_blocks},
};

/* ---- tasks 4 and 5 --------------------------------------------------------------------------- */

/* Everything, as a step counts it. */
static inline MemoryUse predict_right(const Shape *shape) {
    Device *device = open_device();
    MemoryUse use;
    trainer_measure(&shape->config, (Checkpoint){0}, shape->B, shape->T, device, &use);
    device_free(device);
    return use;
}

static inline MemoryUse activations_right(const Shape *shape) {
    return one(predict_right(shape).bytes[MEMORY_ACTIVATIONS]);
}

static inline MemoryUse activations_and(const Shape *s, long numbers, long floats) {
    long more = numbers * (long)precision_bytes(s->config.precision) + floats * 4;
    return one(activations_right(s).bytes[0] + (size_t)(more * s->B * s->T));
}

/* By how many bytes a token the head's backward needs more than the last block's; negative where it
   needs less. */
static inline long head_minus_block(const Shape *s) {
    long number = (long)precision_bytes(s->config.precision);
    return (s->config.V - 3L * s->config.C) * number + 16;
}

static inline MemoryUse activations_other_peak(const Shape *s) {
    long more = -labs(head_minus_block(s)) * s->B * s->T;
    return one(activations_right(s).bytes[0] + (size_t)more);
}
static inline MemoryUse activations_both(const Shape *s) {
    long C = s->config.C, V = s->config.V;
    return head_minus_block(s) > 0 ? activations_and(s, 5 * C, 0)
                                   : activations_and(s, 2 * C + V, 4);
}
static inline MemoryUse activations_no_logits(const Shape *s) {
    return activations_and(s, -(long)s->config.V, 0);
}
static inline MemoryUse activations_dlogits(const Shape *s) {
    return activations_and(s, s->config.V, 0);
}
static inline MemoryUse activations_float_logits(const Shape *s) {
    return activations_and(s, -(long)s->config.V, s->config.V);
}
static inline MemoryUse activations_two_floats(const Shape *s) {
    return activations_and(s, 0, -2);
}
static inline MemoryUse activations_no_floats(const Shape *s) {
    return activations_and(s, 0, -4);
}
static inline MemoryUse activations_half_floats(const Shape *s) {
    return activations_and(s, 4, -4);
}
static inline MemoryUse activations_one_stream_less(const Shape *s) {
    return activations_and(s, -(long)s->config.C, 0);
}
static inline MemoryUse activations_two_streams_less(const Shape *s) {
    return activations_and(s, -2L * s->config.C, 0);
}
static inline MemoryUse activations_no_boundaries(const Shape *s) {
    return activations_and(s, -(long)s->config.L * s->config.C, 0);
}
static inline MemoryUse activations_one_block_more(const Shape *s) {
    size_t stream = (size_t)s->B * (size_t)s->T * (size_t)s->config.C;
    return one(activations_right(s).bytes[0] + block_right(s).bytes[0] +
               stream * precision_bytes(s->config.precision));
}
static inline MemoryUse activations_forward_only(const Shape *s) {
    long C = s->config.C;
    return activations_and(s, head_minus_block(s) > 0 ? -C : s->config.V - 4 * C,
                           head_minus_block(s) > 0 ? 0 : 4);
}
static inline MemoryUse activations_longest(const Shape *s) {
    return activations_right(&(Shape){s->config, s->B, s->config.T});
}
static inline MemoryUse activations_one_sequence(const Shape *s) {
    return activations_right(&(Shape){s->config, 1, s->T});
}

static const Mistake activations_mistakes[] = {
    {"the peak is the larger of two moments, the head's backward and the last block's: which is "
     "larger depends on V and C",
     activations_other_peak},
    {"the head and the last block do not run backward at the same time: the larger counts, not the "
     "sum",
     activations_both},
    {"the logits are missing: B * T * V numbers", activations_no_logits},
    {"logits are stored in the model's precision, not in float", activations_float_logits},
    {"the gradient of the logits takes no memory of its own: it replaces the logits",
     activations_dlogits},
    {"the head keeps four floats a token: mean, rstd, loss and log-sum", activations_two_floats},
    {"the head keeps four floats a token: mean, rstd, loss and log-sum", activations_no_floats},
    {"mean, rstd, losses and log-sums are floats: 4 bytes, in half too", activations_half_floats},
    {"one tensor of the residual stream (B, T, C) is missing: look for the embedding's output, the "
     "gradient dx, ln_f's output and the gradient of that",
     activations_one_stream_less},
    {"two tensors of the residual stream (B, T, C) are missing: look for the embedding's output, "
     "the "
     "gradient dx, ln_f's output and the gradient of that",
     activations_two_streams_less},
    {"the output of each block is kept too: it is the next one's input", activations_no_boundaries},
    {"there are L blocks; the embedding and the head are none", activations_one_block_more},
    {"this is the peak of forward; backward needs gradients of activations on top",
     activations_forward_only},
    {"the sequences have T tokens (the argument); config->T is only the longest that they may have",
     activations_longest},
    {"this is for T tokens; a micro-batch has B * T", activations_one_sequence},
};

static inline MemoryUse activations_with_block(const Shape *shape, size_t block) {
    size_t more = (size_t)shape->config.L * (block - block_right(shape).bytes[0]);
    return one(activations_right(shape).bytes[0] + more);
}

static inline MemoryUse predict_but(const Shape *s, MemoryKind kind, size_t bytes) {
    MemoryUse use = predict_right(s);
    use.bytes[kind] = bytes;
    return use;
}

static inline MemoryUse predict_no_workspace(const Shape *s) {
    return predict_but(s, MEMORY_WORKSPACE, 0);
}
static inline MemoryUse predict_no_data(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 0);
}
static inline MemoryUse predict_no_targets(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 4 * (size_t)s->B * (size_t)s->T);
}
static inline MemoryUse predict_wide_ids(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 16 * (size_t)s->B * (size_t)s->T);
}
static inline MemoryUse predict_half_ids(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 4 * (size_t)s->B * (size_t)s->T);
}
static inline MemoryUse predict_longest_data(const Shape *s) {
    return predict_but(s, MEMORY_DATA, 8 * (size_t)s->B * (size_t)s->config.T);
}
static inline MemoryUse predict_no_states(const Shape *s) {
    MemoryUse use = predict_right(s);
    use.bytes[MEMORY_WEIGHTS] = use.bytes[MEMORY_GRADIENTS] = use.bytes[MEMORY_OPTIMIZER] = 0;
    return use;
}
static inline MemoryUse predict_longest(const Shape *s) {
    return predict_right(&(Shape){s->config, s->B, s->config.T});
}

static const Mistake predict_mistakes[] = {
    {"the workspace is missing: workspace_bytes() tells how much", predict_no_workspace},
    {"the data is missing: a token and a target of 4 bytes each", predict_no_data},
    {"data is a token and a target: 2 * 4 bytes for each of the B * T", predict_no_targets},
    {"tokens and targets are int32_t: 4 bytes, not 8", predict_wide_ids},
    {"tokens and targets are int32_t: 4 bytes, whatever the precision", predict_half_ids},
    {"the sequences have T tokens (the argument), not config->T", predict_longest_data},
    {"weights, gradients and states are missing: begin with bytes_states()", predict_no_states},
    {"the sequences have T tokens (the argument), not config->T", predict_longest},
};

#endif
