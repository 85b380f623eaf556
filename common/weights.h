/**
 * @file weights.h
 * @brief A model in the two files that Hugging Face `transformers` reads and writes for GPT-2.
 * @ingroup common
 *
 * `config.json` has the shape, `model.safetensors` the weights in float, under GPT-2's names and in
 * its layout: the matrices of a block are stored (input, output), the transpose of ours. The head
 * is the token embedding and is not stored a second time.
 */
#ifndef COMMON_WEIGHTS_H
#define COMMON_WEIGHTS_H

#include "common/optimizer.h"

/** Writes the shape. @return 0, or -1 with a line on stderr */
int config_save(const ModelConfig *config, const char *path);

/**
 * Reads a shape.
 *
 * @param[in,out] config V, T, L, NH, C and dropout are set; precision and attention stay
 * @param         path   a config.json of a GPT-2
 * @return 0; -1 (and one line on stderr) where the file is not one, or is a model that we do not
 *         support: another activation, another epsilon, an untied head, scaled attention by layer
 */
int config_load(ModelConfig *config, const char *path);

/** Writes the weights. @return 0, or -1 with a line on stderr */
int weights_save(const Model *model, const char *path);

/**
 * Reads weights stored as F32, F16 or BF16, with or without "transformer." before the names.
 * Buffers of causal masks are ignored; any other tensor that the model does not have is an error,
 * and so are a missing one, a wrong shape, and a number that is not finite.
 *
 * @return 0; -1 (and one line on stderr), where the model's weights are partly changed
 */
int weights_load(Model *model, const char *path);

/** The name of a parameter in a file. `text` has room for PARAM_NAME bytes. @return text */
typedef const char *param_name_fn(const Param *param, char *text);

enum { PARAM_NAME = 96 /**< bytes of a name in a file, with its end */ };

/**
 * Writes some of a model's parameters, adapters for instance, in float, rows as they are in memory.
 *
 * @param model  the model
 * @param params (count) of that model
 * @param count  how many
 * @param name   gives each its name
 * @param path   a safetensors file
 * @return 0, or -1 with a line on stderr
 */
int params_save(const Model *model, const Param *params, int count, param_name_fn *name,
                const char *path);

/**
 * Reads such a file, stored as F32, F16 or BF16. It must have these tensors, in these shapes, and
 * no others.
 *
 * @return 0; -1 (and one line on stderr), where the parameters are partly changed
 */
int params_load(Model *model, Param *params, int count, param_name_fn *name, const char *path);

/** Writes all states, masters where there are any, the optimizer's name and step count. @return 0,
 * or -1 with a line on stderr */
int optimizer_save(const Optimizer *optimizer, const char *path);

/**
 * Reads what optimizer_save() wrote; the states of another optimizer are refused. Where there are
 * masters, the model's weights become their rounded copies.
 *
 * @return 0, or -1 with a line on stderr
 */
int optimizer_load(Optimizer *optimizer, const char *path);

#endif
