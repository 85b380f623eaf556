/**
 * @file contract.h
 * @brief The holes of lab 10: a pair of thin matrices beside a frozen one.
 * @ingroup labs
 *
 *     y = x W^T + b + s * dropout(x) A^T B^T,     s = alpha / r
 *
 * W (OC, IC) and b are frozen; A (r, IC) and B (OC, r) are trained. The shape of the adapters is
 * in the model's config, `config.adapter`; their matrices are in model->params, which has nothing
 * else, and model_adapter() finds them. The parameters of the GPT-2 are in model->base.
 *
 * Sources: E. Hu et al., "LoRA: low-rank adaptation of large language models", arXiv 2106.09685,
 * section 4; names and files are those of Hugging Face's `peft`.
 */
#ifndef LABS_10_LORA_CONTRACT_H
#define LABS_10_LORA_CONTRACT_H

#include <jansson.h>

#include "common/linear.h"

/* ---- lora.c ---------------------------------------------------------------------------------- */

/**
 * Gives fresh adapters their start: each number of A, by itself, uniform in [-b, b),
 * b = 1 / sqrt(IC), which is what kaiming_uniform with a = sqrt(5) has; B zero. So the model still
 * computes what it did. Each number of A takes one rng_uniform() of the stream.
 *
 * @param model with adapters
 * @param seed  of the stream RNG_ADAPTERS
 */
void lora_init(Model *model, uint64_t seed);

/**
 * Forward of a linear layer with its adapter: model->linear_forward. Writes.
 *
 * Dropout is on the branch alone, with adapter.dropout, and while the model trains. Its mask is
 * drawn by pass_draw_mask() for the N * IC numbers of `in`, once for each run of the layer, and
 * goes into linear->mask. Each run writes that, {0} where no mask is drawn: an earlier run of the
 * same Linear may have left its own.
 *
 * Scratch, of kind activations, on top of the stack while the layer runs: the branch (N, OC),
 * u (N, r), and where a mask is drawn the input under it (N, IC); not more.
 *
 * @param[in,out] linear which; its mask is written
 * @param[out]    out    (N, OC)
 * @param[in]     in     (N, IC)
 */
void lora_forward(Linear *linear, Real *out, const Real *in);

/**
 * Its backward: model->linear_backward. Adds to din, and to the gradients of A and B.
 *
 * Scratch, as in forward: u and its gradient (N, r) each, and where a mask was drawn (N, IC) once;
 * not more.
 *
 * @param         linear which, with the mask that forward drew
 * @param[in,out] din    (N, IC), added to
 * @param[in]     dout   (N, OC)
 * @param[in]     in     (N, IC) as given to forward
 */
void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in);

/**
 * Adds sign * s * B A to the weight of each layer that has an adapter. The sums are in float or
 * wider and are rounded once, to the storage type. A and B stay.
 *
 * @param model with adapters
 * @param sign  1 to merge, -1 to take it out again
 */
void lora_merge(Model *model, float sign);

/* ---- adapter.c ------------------------------------------------------------------------------- */

enum { ADAPTER_NAME = 96 /**< bytes of a tensor's name, with its end */ };

/**
 * The layers that a name of `target_modules` stands for: 1 << LinearId for each. The modules of
 * block l are called
 *
 *     transformer.h.<l>.attn.c_attn    .attn.c_proj    .mlp.c_fc    .mlp.c_proj
 *
 * A name stands for a module if it is its whole name, or its end after a dot: "c_proj" for two of
 * each block, "mlp.c_proj" for one; "proj" for none. A name that stands for modules of some blocks
 * only, "h.0.attn.c_attn", is not supported.
 *
 * @return 0 where it stands for none in every block
 */
unsigned adapter_targets(const char *name);

/**
 * The name of a matrix of an adapter in adapter_model.safetensors:
 * "base_model.model.transformer.h.3.attn.c_attn.lora_A.weight".
 *
 * @param      param layer, and name: "attn.c_attn.lora_A.weight"
 * @param[out] text  (ADAPTER_NAME)
 * @return text
 */
const char *adapter_name(const Param *param, char *text);

/**
 * The content of adapter_config.json: peft_type "LORA", task_type "CAUSAL_LM",
 * base_model_name_or_path, r, lora_alpha, lora_dropout, target_modules (a list of names: each
 * target's name after "h.<l>."), fan_in_fan_out true (GPT-2's files have their matrices
 * transposed), bias "none".
 *
 * @param adapter with rank, targets, alpha, dropout
 * @param base    the name of the model, or NULL: null
 * @return to be given to json_decref()
 */
json_t *adapter_config_new(const Adapter *adapter, const char *base);

/**
 * Reads such a content, written here or by peft. Where they are absent, lora_alpha is 8 and
 * lora_dropout 0.
 *
 * @param      json    any JSON: it comes from outside
 * @param[out] adapter written where the result is NULL
 * @return NULL; or why it cannot be used, a constant text: another peft_type; an r that is missing,
 *         or not a whole number from 1 to 65536; an alpha that is not a number above 0, or is above
 *         16777216 (up to there a float has each whole number); a dropout that is not one in
 *         [0, 1); target_modules missing, not a list, or empty; a target that stands for nothing; a
 *         bias other than "none"; use_dora, use_rslora or lora_bias true; modules_to_save,
 *         layers_to_transform, rank_pattern or alpha_pattern with something in it
 */
const char *adapter_config_read(const json_t *json, Adapter *adapter);

/** Writes the two files into a folder that is there. @return 0, or -1 with a line on stderr */
int adapter_save(const Model *model, const char *base, const char *folder);

/** Reads adapter_config.json. @return 0, or -1 with a line on stderr */
int adapter_load_config(Adapter *adapter, const char *folder);

/**
 * Reads adapter_model.safetensors into the adapters of a model, whose shape must be the file's.
 *
 * @return 0, or -1 with a line on stderr, where the adapters are partly changed
 */
int adapter_load(Model *model, const char *folder);

/* ---- keep.c ---------------------------------------------------------------------------------- */

/**
 * The linear layers whose input no backward reads: for model->dropped.
 *
 * @param config the model, with adapters
 * @return 1 << LinearId for each
 */
unsigned lora_dropped(const ModelConfig *config);

/**
 * Bytes that stay for the whole run: weights, gradients, optimizer. The other kinds are 0.
 *
 * @param config the model, with adapters; AdamW, and with weights in half a master of what is
 *               trained
 */
MemoryUse lora_states(const ModelConfig *config);

/**
 * The most activation bytes at any one time of a step that keeps what lora_dropped() leaves, to the
 * byte.
 *
 * @param config     the model, with adapters
 * @param B          sequences
 * @param T          tokens per sequence
 * @param checkpoint what is run again, as in lab 04; {0} for nothing
 */
size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

#endif
