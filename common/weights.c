/* A model from and to the files of Hugging Face `transformers`: config.json and model.safetensors.
   The contract is in weights.h. */
#include "common/weights.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/safetensors.h"
#include "kernels/half.h"

enum { NAME_BYTES = PARAM_NAME };

/* "transformer.h.3.attn.c_attn.weight", with another prefix for moments. */
static void file_name(char name[NAME_BYTES], const char *prefix, const Param *param) {
    if (param->layer >= 0) {
        snprintf(name, NAME_BYTES, "%sh.%d.%s", prefix, param->layer, param->name);
    } else {
        snprintf(name, NAME_BYTES, "%s%s", prefix, param->name);
    }
}

static const char *model_name(const Param *param, char *text) {
    file_name(text, "transformer.", param);
    return text;
}

/* GPT-2's layers are stored (inputs, outputs); an adapter's matrices are as ours. */
static bool stored_transposed(const Param *param) {
    return param->layer >= 0 && param_is_matrix(param) && param->init != INIT_ADAPTER;
}

static float *host_floats(size_t count) {
    float *values = malloc(count * sizeof *values);
    CHECK(values != NULL, "no host memory for %zu floats", count);
    return values;
}

/* to (cols, rows) = from (rows, cols), transposed */
static void transpose(float *to, const float *from, int rows, int cols) {
    for (int row = 0; row < rows; row++) {
        for (int col = 0; col < cols; col++) {
            to[(size_t)col * (size_t)rows + (size_t)row] =
                from[(size_t)row * (size_t)cols + (size_t)col];
        }
    }
}

static SafeTensor entry_of(const Param *param, const char *name, bool transposed) {
    uint64_t rows = (uint64_t)param->rows, cols = (uint64_t)param->cols;
    SafeTensor entry = {.name = name, .dtype = "F32", .bytes = param->count * sizeof(float)};
    if (param_is_matrix(param)) {
        entry.rank = 2;
        entry.shape[0] = transposed ? cols : rows;
        entry.shape[1] = transposed ? rows : cols;
    } else {
        entry.rank = 1;
        entry.shape[0] = cols;
    }
    return entry;
}

static bool same_shape(const SafeTensor *a, const SafeTensor *b) {
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* ---- config.json ----------------------------------------------------------------------------- */

int config_save(const ModelConfig *config, const char *path) {
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    double dropout = (double)config->dropout;
    json_t *json = json_pack(
        "{s:[s], s:s, s:i, s:i, s:i, s:i, s:i, s:n, s:s, s:f, s:f, s:f, s:f, s:b, s:i, s:i}",
        "architectures", "GPT2LMHeadModel", "model_type", "gpt2", "vocab_size", config->V,
        "n_positions", config->T, "n_layer", config->L, "n_head", config->NH, "n_embd", config->C,
        "n_inner", "activation_function", "gelu_new", "embd_pdrop", dropout, "resid_pdrop", dropout,
        "attn_pdrop", 0.0, "layer_norm_epsilon", 1e-5, "tie_word_embeddings", 1, "bos_token_id", 10,
        "eos_token_id", 10);
    CHECK(json != NULL, "no memory for a config");
    int failed = json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(json);
    fputc('\n', file);
    (void)failed; /* the stream remembers */
    return file_end(file, path, true);
}

static int refuse(const char *path, const char *what) {
    fprintf(stderr, "%s: %s\n", path, what);
    return -1;
}

/* A number of the shape; where it is missing or no int, the check of the shape will say so. */
static int shape_number(const json_t *json, const char *key) {
    json_int_t value = json_integer_value(json_object_get(json, key));
    return value > 0 && value <= INT32_MAX ? (int)value : 0;
}

/* Whether `key` is absent or a number equal to `value`. */
static bool number_is(const json_t *json, const char *key, double value) {
    const json_t *entry = json_object_get(json, key);
    return entry == NULL || (json_is_number(entry) && json_number_value(entry) == value);
}

static const char *unsupported(const json_t *json, int C) {
    const char *model = json_string_value(json_object_get(json, "model_type"));
    const char *activation = json_string_value(json_object_get(json, "activation_function"));
    const json_t *inner = json_object_get(json, "n_inner");
    if (model == NULL || strcmp(model, "gpt2") != 0) {
        return "model_type is not \"gpt2\"";
    }
    if (activation != NULL && strcmp(activation, "gelu_new") != 0) {
        return "activation_function is not \"gelu_new\"";
    }
    if (inner != NULL && !json_is_null(inner) && !number_is(json, "n_inner", 4.0 * C)) {
        return "n_inner is not 4 * n_embd";
    }
    if (!number_is(json, "layer_norm_epsilon", 1e-5)) {
        return "layer_norm_epsilon is not 1e-5";
    }
    if (json_is_false(json_object_get(json, "tie_word_embeddings")) ||
        json_is_false(json_object_get(json, "scale_attn_weights")) ||
        json_is_true(json_object_get(json, "scale_attn_by_inverse_layer_idx")) ||
        json_is_true(json_object_get(json, "add_cross_attention"))) {
        return "a variant of GPT-2 that this kit does not support (untied head, other attention)";
    }
    return NULL;
}

int config_load(ModelConfig *config, const char *path) {
    json_t *json = file_load_json(path);
    if (json == NULL) {
        return -1;
    }
    ModelConfig read = *config;
    read.V = shape_number(json, "vocab_size");
    read.T = shape_number(json, "n_positions");
    read.L = shape_number(json, "n_layer");
    read.NH = shape_number(json, "n_head");
    read.C = shape_number(json, "n_embd");
    const json_t *dropout = json_object_get(json, "resid_pdrop");
    read.dropout = dropout == NULL ? 0 : (float)json_number_value(dropout);
    const char *why = unsupported(json, read.C);
    char wrong[ERROR_BYTES];
    if (why == NULL && config_check(&read, wrong) != 0) {
        why = wrong;
    }
    json_decref(json);
    if (why != NULL) {
        return refuse(path, why);
    }
    *config = read;
    return 0;
}

/* ---- model.safetensors ----------------------------------------------------------------------- */

int weights_save(const Model *model, const char *path) {
    return params_save(model, model->base, model->base_count, model_name, path);
}

int params_save(const Model *model, const Param *params, int number, param_name_fn *name,
                const char *path) {
    static const char *const metadata[] = {"format", "pt", NULL};
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    size_t count = (size_t)number;
    char(*names)[NAME_BYTES] = malloc(count * sizeof *names);
    SafeTensor *entries = malloc(count * sizeof *entries);
    CHECK(names && entries, "no memory for %zu entries", count);
    for (size_t i = 0; i < count; i++) {
        name(&params[i], names[i]);
        entries[i] = entry_of(&params[i], names[i], stored_transposed(&params[i]));
    }
    int result = safetensors_write_header(file, entries, count, metadata);
    for (size_t i = 0; i < count && result == 0; i++) {
        const Param *param = &params[i];
        float *values = host_floats(param->count), *stored = values;
        model_download_weight(model, param, values);
        if (stored_transposed(param)) {
            stored = host_floats(param->count);
            transpose(stored, values, param->rows, param->cols);
            free(values);
        }
        result = fwrite(stored, sizeof(float), param->count, file) == param->count ? 0 : -1;
        free(stored);
    }
    free(names);
    free(entries);
    return file_end(file, path, true); /* the stream remembers a write that failed */
}

/* Element i of a stored tensor as a float. */
static float stored_float(const SafeTensor *tensor, size_t i) {
    if (strcmp(tensor->dtype, "F32") == 0) {
        float value;
        memcpy(&value, tensor->data + 4 * i, sizeof value);
        return value;
    }
    uint16_t bits;
    memcpy(&bits, tensor->data + 2 * i, sizeof bits);
    return strcmp(tensor->dtype, "F16") == 0 ? half_to_float(bits) : bf16_to_float(bits);
}

static bool is_float(const SafeTensor *tensor) {
    return strcmp(tensor->dtype, "F32") == 0 || strcmp(tensor->dtype, "F16") == 0 ||
           strcmp(tensor->dtype, "BF16") == 0;
}

static int refuse_tensor(const char *path, const char *name, const char *what) {
    fprintf(stderr, "%s: tensor \"%s\": %s\n", path, name, what);
    return -1;
}

static const SafeTensor *find(const SafeFile *file, const char *name) {
    const SafeTensor *tensor = safetensors_find(file, name);
    return tensor != NULL ? tensor : safetensors_find(file, name + strlen("transformer."));
}

static int load_param(Model *model, Param *param, const char *name, const SafeTensor *tensor,
                      const char *path) {
    if (tensor == NULL) {
        return refuse_tensor(path, name, "is missing");
    }
    bool transposed = stored_transposed(param);
    SafeTensor wanted = entry_of(param, name, transposed);
    if (!same_shape(tensor, &wanted)) {
        return refuse_tensor(path, name, "differs in shape from the model");
    }
    if (!is_float(tensor)) {
        return refuse_tensor(path, name, "is not stored as F32, F16 or BF16");
    }
    float *values = host_floats(param->count);
    bool finite = true;
    for (size_t i = 0; i < param->count; i++) {
        values[i] = stored_float(tensor, i);
        finite = finite && isfinite(values[i]);
    }
    if (finite && transposed) {
        float *ours = host_floats(param->count);
        transpose(ours, values, param->cols, param->rows);
        free(values);
        values = ours;
    }
    if (finite) {
        model_upload_weight(model, param, values);
    }
    free(values);
    return finite ? 0 : refuse_tensor(path, name, "has a number that is not finite");
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* A tensor that is not a parameter: a mask buffer, or the head where it repeats the embedding. */
static bool may_be_ignored(const SafeFile *file, const SafeTensor *tensor) {
    if (ends_with(tensor->name, ".attn.bias") || ends_with(tensor->name, ".attn.masked_bias")) {
        return true;
    }
    const SafeTensor *wte = find(file, "transformer.wte.weight");
    return strcmp(tensor->name, "lm_head.weight") == 0 && wte != NULL &&
           tensor->bytes == wte->bytes && memcmp(tensor->data, wte->data, wte->bytes) == 0;
}

static bool is_param(const Model *model, const char *name) {
    const char *prefix = "transformer.";
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
        name += strlen(prefix);
    }
    for (int i = 0; i < model->base_count; i++) {
        char ours[NAME_BYTES];
        file_name(ours, "", &model->base[i]);
        if (strcmp(ours, name) == 0) {
            return true;
        }
    }
    return false;
}

int weights_load(Model *model, const char *path) {
    SafeFile *file = safetensors_open(path);
    if (file == NULL) {
        return -1;
    }
    int result = 0;
    for (size_t i = 0; i < safetensors_count(file) && result == 0; i++) {
        const SafeTensor *tensor = safetensors_at(file, i);
        if (!is_param(model, tensor->name) && !may_be_ignored(file, tensor)) {
            result = refuse(path, "has a tensor that the model does not have");
        }
    }
    for (int i = 0; i < model->base_count && result == 0; i++) {
        char name[NAME_BYTES];
        file_name(name, "transformer.", &model->base[i]);
        result = load_param(model, &model->base[i], name, find(file, name), path);
    }
    safetensors_close(file);
    return result;
}

int params_load(Model *model, Param *params, int count, param_name_fn *name, const char *path) {
    SafeFile *file = safetensors_open(path);
    if (file == NULL) {
        return -1;
    }
    int result = 0;
    for (int i = 0; i < count && result == 0; i++) {
        char text[NAME_BYTES];
        const SafeTensor *tensor = safetensors_find(file, name(&params[i], text));
        result = load_param(model, &params[i], text, tensor, path);
    }
    if (result == 0 && safetensors_count(file) != (size_t)count) {
        result = refuse(path, "has a tensor that the model does not have");
    }
    safetensors_close(file);
    return result;
}

/* ---- optimizer.safetensors ------------------------------------------------------------------- */

/* "m.h.3.attn.c_attn.weight" */
static void state_name(char name[NAME_BYTES], const OptimizerState *state, const Param *param) {
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%.14s.", state->name);
    file_name(name, prefix, param);
}

/* A state has the parameter's shape where it has as many numbers; else it is a row. */
static SafeTensor entry_of_state(const OptimizerState *state, const Param *param,
                                 const char *name) {
    SafeTensor entry = entry_of(param, name, false);
    if (state->count != param->count) {
        entry.rank = 1;
        entry.shape[0] = state->count;
    }
    entry.dtype = state->size == sizeof(float) ? "F32" : "U8";
    entry.bytes = state->count * state->size;
    return entry;
}

static const Param *param_of(const Optimizer *optimizer, const OptimizerState *state) {
    return &optimizer->model->params[state->param];
}

int optimizer_save(const Optimizer *optimizer, const char *path) {
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    char t[16];
    snprintf(t, sizeof t, "%d", optimizer->t);
    const char *const metadata[] = {"t", t, "optim", optimizer->rule.name, NULL};
    size_t all = (size_t)optimizer->state_count;
    char(*names)[NAME_BYTES] = malloc(all * sizeof *names);
    SafeTensor *entries = malloc(all * sizeof *entries);
    CHECK(names && entries, "no memory for %zu entries", all);
    for (size_t i = 0; i < all; i++) {
        const OptimizerState *state = &optimizer->states[i];
        state_name(names[i], state, param_of(optimizer, state));
        entries[i] = entry_of_state(state, param_of(optimizer, state), names[i]);
    }
    int result = safetensors_write_header(file, entries, all, metadata);
    for (size_t i = 0; i < all && result == 0; i++) {
        const OptimizerState *state = &optimizer->states[i];
        void *values = malloc(entries[i].bytes);
        CHECK(values != NULL, "no host memory for %zu bytes", entries[i].bytes);
        device_download(optimizer->model->device, values, state->data, entries[i].bytes);
        result = fwrite(values, state->size, state->count, file) == state->count ? 0 : -1;
        free(values);
    }
    free(names);
    free(entries);
    return file_end(file, path, true); /* the stream remembers a write that failed */
}

/* A master has been read: the weight is its rounded copy. */
static void follow_master(Optimizer *optimizer, const OptimizerState *state,
                          const SafeTensor *tensor) {
    Model *model = optimizer->model;
    float *values = host_floats(state->count);
    memcpy(values, tensor->data, tensor->bytes);
    model_upload_weight(model, &model->params[state->param], values);
    free(values);
}

static int load_state(Optimizer *optimizer, const OptimizerState *state, const SafeFile *file,
                      const char *path) {
    char name[NAME_BYTES];
    const Param *param = param_of(optimizer, state);
    state_name(name, state, param);
    const SafeTensor *tensor = safetensors_find(file, name);
    SafeTensor wanted = entry_of_state(state, param, name);
    if (tensor == NULL) {
        return refuse_tensor(path, name, "is missing");
    }
    if (!same_shape(tensor, &wanted) || strcmp(tensor->dtype, wanted.dtype) != 0) {
        return refuse_tensor(path, name, "differs in shape or type from the model");
    }
    device_upload(optimizer->model->device, state->data, tensor->data, tensor->bytes);
    if (optimizer->master != NULL && state->data == optimizer->master[state->param]) {
        follow_master(optimizer, state, tensor);
    }
    return 0;
}

/* Files of former releases are AdamW's, and do not say so. */
static int check_optim(const Optimizer *optimizer, const SafeFile *file, const char *path) {
    const char *optim = safetensors_metadata(file, "optim");
    bool same = strcmp(optim != NULL ? optim : "adamw", optimizer->rule.name) == 0;
    if (same) {
        return 0;
    }
    fprintf(stderr, "%s: was saved by another optimizer: %s there, %s here\n", path,
            optim != NULL ? optim : "adamw", optimizer->rule.name);
    return -1;
}

int optimizer_load(Optimizer *optimizer, const char *path) {
    SafeFile *file = safetensors_open(path);
    if (file == NULL) {
        return -1;
    }
    const char *t = safetensors_metadata(file, "t");
    int result = t != NULL && atoi(t) >= 0 ? 0 : refuse(path, "no step count in its metadata");
    if (result == 0) {
        result = check_optim(optimizer, file, path);
    }
    for (int i = 0; i < optimizer->state_count && result == 0; i++) {
        result = load_state(optimizer, &optimizer->states[i], file, path);
    }
    if (result == 0) {
        optimizer->t = atoi(t);
    }
    safetensors_close(file);
    return result;
}
