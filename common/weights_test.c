#include "common/weights.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/safetensors.h"
#include "common/testkit/scratch.h"
#include "kernels/half.h"

static const ModelConfig config = {.V = 260, .T = 7, .L = 2, .NH = 2, .C = 6, .dropout = 0.25f};
static Device *device;
static Memory *memory;

static Model *new_model(uint64_t seed, Precision precision) {
    ModelConfig shape = config;
    shape.precision = precision;
    return model_new(&shape, memory, seed);
}

static void open_device(void) {
    device = device_cpu_new(64 << 20);
    memory = memory_new(device, (MemoryOptions){.checked = true});
}

static void close_device(void) {
    memory_free(memory);
    device_free(device);
    scratch_remove();
}

static float weight(const Model *model, int param, size_t i) {
    float *values = malloc(model->params[param].count * sizeof *values);
    model_download_weight(model, &model->params[param], values);
    float value = values[i];
    free(values);
    return value;
}

/* Every weight is the other's, rounded. */
static void expect_rounded(const Model *got, const Model *want, Precision precision) {
    for (int i = 0; i < want->param_count; i++) {
        for (size_t j = 0; j < want->params[i].count; j++) {
            float x = weight(got, i, j), y = precision_round(precision, weight(want, i, j));
            cr_assert_eq(x, y, "%s[%zu]: %.9g, not %.9g", want->params[i].name, j, (double)x,
                         (double)y);
        }
    }
}

Test(weights, come_back, .init = open_device, .fini = close_device) {
    for (int precision = 0; precision < 3; precision++) {
        Model *a = new_model(1, (Precision)precision), *b = new_model(2, (Precision)precision);
        const char *path = scratch_path("model.safetensors");
        cr_assert_eq(weights_save(a, path), 0);
        cr_assert_eq(weights_load(b, path), 0);
        expect_rounded(b, a, F32);
        model_free(a);
        model_free(b);
    }
}

Test(weights, have_the_names_and_layout_of_gpt2, .init = open_device, .fini = close_device) {
    Model *model = new_model(1, F32);
    const char *path = scratch_path("model.safetensors");
    weights_save(model, path);
    SafeFile *file = safetensors_open(path);
    cr_assert_eq(safetensors_count(file), (size_t)model->param_count);
    cr_assert_str_eq(safetensors_metadata(file, "format"), "pt");
    const SafeTensor *wte = safetensors_find(file, "transformer.wte.weight");
    const SafeTensor *fc = safetensors_find(file, "transformer.h.1.mlp.c_fc.weight");
    const SafeTensor *bias = safetensors_find(file, "transformer.h.0.attn.c_attn.bias");
    cr_assert(wte && wte->rank == 2 && wte->shape[0] == 260 && wte->shape[1] == 6);
    cr_assert(fc && fc->rank == 2 && fc->shape[0] == 6 && fc->shape[1] == 24, "(input, output)");
    cr_assert(bias && bias->rank == 1 && bias->shape[0] == 18);
    float stored;
    memcpy(&stored, fc->data + 4 * (2 * 24 + 5), 4); /* input 2, output 5 */
    int id = MODEL_PARAMS + BLOCK_PARAMS + FC_WEIGHT;
    cr_assert_eq(stored, weight(model, id, 5 * 6 + 2));
    cr_assert_null(safetensors_find(file, "lm_head.weight"));
    safetensors_close(file);
    model_free(model);
}

/* Rewrites a saved file: without the prefix, in another type, with tensors more or less. */
typedef struct Rewrite {
    const char *dtype;     /* "F32", "F16", "BF16" or one that is none */
    bool prefix;           /* "transformer." before the names */
    const char *leave_out; /* a name, or NULL */
    const char *extra;     /* a tensor of one float more, or NULL */
    int head;              /* 1: lm_head as wte, 2: another lm_head */
    float poison;          /* put into ln_f.bias[3] unless 0 */
    bool flat;             /* a matrix as one row */
} Rewrite;

static const char *rewrite(const Model *model, Rewrite change) {
    static const char *const metadata[] = {"format", "pt", NULL};
    const char *from = scratch_path("from"), *to = scratch_path("to");
    SafeTensor entries[64];
    char names[64][80];
    float values[64][2000];
    size_t count = 0, element = strcmp(change.dtype, "F32") == 0 ? 4 : 2;
    weights_save(model, from);
    SafeFile *file = safetensors_open(from);
    for (size_t i = 0; i < safetensors_count(file); i++) {
        SafeTensor tensor = *safetensors_at(file, i);
        const char *name = tensor.name + (change.prefix ? 0 : strlen("transformer."));
        if (change.leave_out != NULL && strstr(tensor.name, change.leave_out)) {
            continue;
        }
        strcpy(names[count], name);
        memcpy(values[count], tensor.data, tensor.bytes);
        if (change.poison != 0 && strstr(name, "ln_f.bias")) {
            values[count][3] = change.poison;
        }
        if (change.flat && strstr(name, "wpe")) {
            tensor.rank = 1;
            tensor.shape[0] *= tensor.shape[1];
        }
        tensor.name = names[count];
        entries[count++] = tensor;
    }
    if (change.head != 0) {
        entries[count] = *safetensors_find(file, "transformer.wte.weight");
        memcpy(values[count], entries[count].data, entries[count].bytes);
        values[count][0] += change.head == 2;
        entries[count++].name = "lm_head.weight";
    }
    if (change.extra != NULL) {
        entries[count] = (SafeTensor){.name = change.extra, .rank = 1, .shape = {1}, .bytes = 4};
        values[count++][0] = 1;
    }
    FILE *out = fopen(to, "wb");
    for (size_t i = 0; i < count; i++) {
        entries[i].dtype = change.dtype;
        entries[i].bytes = entries[i].bytes / 4 * element;
    }
    safetensors_write_header(out, entries, count, metadata);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < entries[i].bytes / element; j++) {
            uint16_t half = change.dtype[0] == 'B' ? bf16_from_float(values[i][j])
                                                   : half_from_float(values[i][j]);
            fwrite(element == 4 ? (void *)&values[i][j] : (void *)&half, element, 1, out);
        }
    }
    fclose(out);
    safetensors_close(file);
    return to;
}

Test(weights, are_read_in_the_forms_they_come_in, .init = open_device, .fini = close_device) {
    Model *a = new_model(1, F32);
    static const Rewrite forms[] = {
        {.dtype = "F32"},
        {.dtype = "F32", .prefix = true, .head = 1},
        {.dtype = "F32", .extra = "h.0.attn.bias"},
        {.dtype = "F32", .prefix = true, .extra = "transformer.h.1.attn.masked_bias"},
        {.dtype = "F16"},
        {.dtype = "BF16"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *dtype = forms[i].dtype;
        Model *b = new_model(2 + i, F32);
        cr_assert_eq(weights_load(b, rewrite(a, forms[i])), 0, "form %zu", i);
        expect_rounded(b, a, *dtype == 'B' ? BF16 : strcmp(dtype, "F16") == 0 ? F16 : F32);
        model_free(b);
    }
    model_free(a);
}

typedef struct Refused {
    Rewrite change;
    const char *want;
} Refused;

static const Refused refused[] = {
    {{.dtype = "F32", .leave_out = "h.1.ln_2.weight"}, "h.1.ln_2.weight\": is missing"},
    {{.dtype = "F32", .extra = "h.2.ln_1.weight"}, "a tensor that the model does not have"},
    {{.dtype = "F32", .head = 2}, "a tensor that the model does not have"},
    {{.dtype = "F32", .flat = true}, "wpe.weight\": differs in shape"},
    {{.dtype = "I16"}, "is not stored as F32, F16 or BF16"},
    {{.dtype = "F32", .poison = NAN}, "ln_f.bias\": has a number that is not finite"},
    {{.dtype = "F32", .poison = INFINITY}, "ln_f.bias\": has a number that is not finite"},
};

static void open_redirected(void) {
    cr_redirect_stderr();
    open_device();
}

Test(weights, are_refused_with_a_reason, .init = open_redirected, .fini = close_device) {
    char line[512];
    FILE *messages = NULL;
    Model *a = new_model(1, F32), *b = new_model(2, F32);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cr_assert_eq(weights_load(b, rewrite(a, refused[i].change)), -1, "%s", refused[i].want);
        fflush(stderr);
        messages = messages != NULL ? messages : cr_get_redirected_stderr();
        cr_assert_not_null(fgets(line, sizeof line, messages));
        cr_assert_not_null(strstr(line, refused[i].want), "%s", line);
    }
    model_free(a);
    model_free(b);
}

Test(weights, optimizer_comes_back, .init = open_device, .fini = close_device) {
    AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f};
    Model *model = new_model(1, F32);
    Optimizer *a = optimizer_new(model, adamw), *b = optimizer_new(model, adamw);
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            a->m[i][j] = (float)(i + 1) / (float)(j + 3);
            a->v[i][j] = (float)(j + 1) / (float)(i + 3);
        }
    }
    a->t = 77;
    const char *path = scratch_path("optimizer.safetensors");
    cr_assert_eq(optimizer_save(a, path), 0);
    cr_assert_eq(optimizer_load(b, path), 0);
    cr_assert_eq(b->t, 77);
    for (int i = 0; i < model->param_count; i++) {
        cr_assert_arr_eq(a->m[i], b->m[i], model->params[i].count * sizeof(float));
        cr_assert_arr_eq(a->v[i], b->v[i], model->params[i].count * sizeof(float));
    }
    optimizer_free(a);
    optimizer_free(b);
    model_free(model);
}

Test(config, comes_back) {
    const char *path = scratch_path("config.json");
    ModelConfig read = {.precision = F16, .attention = ATTENTION_FLASH};
    cr_assert_eq(config_save(&config, path), 0);
    cr_assert_eq(config_load(&read, path), 0);
    cr_assert(read.V == 260 && read.T == 7 && read.L == 2 && read.NH == 2 && read.C == 6);
    cr_assert_eq(read.dropout, 0.25f);
    cr_assert(read.precision == F16 && read.attention == ATTENTION_FLASH);
    scratch_remove();
}

#define SHAPE "\"n_positions\":7,\"n_layer\":2,\"n_head\":2,\"n_embd\":6"
#define GPT2 "\"model_type\":\"gpt2\",\"vocab_size\":260," SHAPE

static const char *const configs[][2] = {
    {"", "not a JSON object"},
    {"[1]", "not a JSON object"},
    {"{" GPT2, "not a JSON object"},
    {"{\"vocab_size\":260," SHAPE "}", "model_type is not"},
    {"{\"model_type\":\"llama\",\"vocab_size\":260," SHAPE "}", "model_type is not"},
    {"{" GPT2 ",\"activation_function\":\"relu\"}", "activation_function is not"},
    {"{" GPT2 ",\"n_inner\":25}", "n_inner is not"},
    {"{" GPT2 ",\"layer_norm_epsilon\":1e-6}", "layer_norm_epsilon is not"},
    {"{" GPT2 ",\"tie_word_embeddings\":false}", "a variant of GPT-2"},
    {"{" GPT2 ",\"scale_attn_by_inverse_layer_idx\":true}", "a variant of GPT-2"},
    {"{" GPT2 ",\"resid_pdrop\":1.5}", "dropout = 1.5"},
    {"{\"model_type\":\"gpt2\",\"vocab_size\":255," SHAPE "}", "vocab_size = 255"},
    {"{\"model_type\":\"gpt2\",\"vocab_size\":99999999999," SHAPE "}", "vocab_size = 0"},
    {"{\"model_type\":\"gpt2\",\"vocab_size\":\"260\"," SHAPE "}", "vocab_size = 0"},
    {"{\"model_type\":\"gpt2\",\"vocab_size\":260}", "n_positions = 0"},
};

Test(config, what_we_do_not_have_is_refused, .init = cr_redirect_stderr) {
    char line[512];
    FILE *messages = NULL;
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        ModelConfig read = config;
        const char *path = scratch_file("config.json", configs[i][0], strlen(configs[i][0]));
        cr_assert_eq(config_load(&read, path), -1, "%s", configs[i][0]);
        cr_assert_eq(read.V, config.V, "changed by a config that was refused");
        fflush(stderr);
        messages = messages != NULL ? messages : cr_get_redirected_stderr();
        cr_assert_not_null(fgets(line, sizeof line, messages));
        cr_assert_not_null(strstr(line, configs[i][1]), "%s: %s", configs[i][0], line);
    }
    scratch_remove();
}
