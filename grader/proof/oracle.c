/* The kit's side of the outside oracle (oracle.py): loads a model folder as Hugging Face
   transformers writes it, runs one batch, and writes loss and gradients in the layout of the
   weights.

     oracle MODEL TOKENS OUT     TOKENS: B T, then B x (T + 1) ids, as text
     oracle --write FOLDER       writes a fresh model of the kit for the other direction
     oracle --adapter MODEL ADAPTER TOKENS OUT MERGED
                                 the same with an adapter beside the model: OUT has the gradients of
                                 its matrices, MERGED becomes the model with the adapter in it
     oracle --write-adapter MODEL ADAPTER
                                 writes an adapter of the kit for that model */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/weights.h"
#include "labs/10_lora/contract.h"

static ModelConfig config = {.V = 300, .T = 24, .L = 3, .NH = 3, .C = 48};

static int fail(const char *what) {
    fprintf(stderr, "oracle: %s\n", what);
    return 1;
}

static int save_result(Model *model, const char *out) {
    return model->config.adapter.rank > 0
               ? params_save(model, model->params, model->param_count, adapter_name, out)
               : weights_save(model, out);
}

/* Gradients travel as weights do: a model that has them in place of its weights is saved. */
static int save_gradients(Model *model, const char *path) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        memcpy(param->weight, param->grad, param->count * sizeof(float)); /* the CPU's memory */
    }
    return save_result(model, path);
}

static int run(Model *model, const char *tokens_path, const char *out) {
    FILE *file = fopen(tokens_path, "r");
    int B, T;
    if (file == NULL || fscanf(file, "%d %d", &B, &T) != 2) {
        return fail("cannot read the tokens");
    }
    size_t N = (size_t)B * (size_t)T;
    int32_t *tokens = malloc(N * sizeof *tokens), *targets = malloc(N * sizeof *targets);
    for (int b = 0; b < B; b++) {
        for (int t = 0, before = 0; t <= T; t++) {
            int id;
            if (fscanf(file, "%d", &id) != 1) {
                return fail("the tokens end early");
            }
            if (t > 0) {
                tokens[b * T + t - 1] = before;
                targets[b * T + t - 1] = id;
            }
            before = id;
        }
    }
    fclose(file);
    Batch batch = {.B = B, .T = T, .tokens = tokens, .targets = targets, .valid = (int)N};
    double loss = model_forward(model, &batch) / (double)N;
    model_backward(model, 1.0f / (float)N);
    printf("%.9g\n", loss);
    free(tokens);
    free(targets);
    return save_gradients(model, out) == 0 ? 0 : 1;
}

static int write_fresh(Model *model, const char *folder) {
    char *config_path = path_join(folder, "config.json");
    char *weights_path = path_join(folder, "model.safetensors");
    int result = folder_make(folder) == 0 && config_save(&model->config, config_path) == 0 &&
                         weights_save(model, weights_path) == 0
                     ? 0
                     : 1;
    free(config_path);
    free(weights_path);
    return result;
}

static int load_base(Model *model, const char *folder) {
    char *path = path_join(folder, "model.safetensors");
    int result = weights_load(model, path);
    free(path);
    return result;
}

/* Merges first, for the gradients take the place of the weights. */
static int run_adapter(Model *model, char **argv) {
    if (load_base(model, argv[2]) != 0 || adapter_load(model, argv[3]) != 0) {
        return 1;
    }
    lora_merge(model, 1);
    if (write_fresh(model, argv[6]) != 0 || load_base(model, argv[2]) != 0) {
        return 1;
    }
    model->linear_forward = lora_forward;
    model->linear_backward = lora_backward;
    model->dropped = lora_dropped(&model->config);
    return run(model, argv[4], argv[5]);
}

/* B is not zero, so that all of it counts. */
static int write_adapter(Model *model, const char *folder) {
    Rng rng = rng_new(11, RNG_ADAPTERS);
    for (int i = 0; i < model->param_count; i++) {
        float *values = malloc(model->params[i].count * sizeof *values);
        rng_normal(&rng, values, model->params[i].count, 0.1f);
        model_upload_weight(model, &model->params[i], values);
        free(values);
    }
    return folder_make(folder) == 0 && adapter_save(model, NULL, folder) == 0 ? 0 : 1;
}

/* The two commands with an adapter. */
static int with_adapter(char **argv, bool write) {
    char *path = path_join(argv[2], "config.json");
    int result = config_load(&config, path);
    free(path);
    config.dropout = 0;
    config.adapter = (Adapter){.rank = 3, .targets = 7, .alpha = 7};
    if (result != 0 || (!write && adapter_load_config(&config.adapter, argv[3]) != 0)) {
        return 1;
    }
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(&config, memory, 3);
    result = write ? write_adapter(model, argv[3]) : run_adapter(model, argv);
    model_free(model);
    memory_free(memory);
    device_free(device);
    return result;
}

int main(int argc, char **argv) {
    if (argc == 7 && strcmp(argv[1], "--adapter") == 0) {
        return with_adapter(argv, false);
    }
    if (argc == 4 && strcmp(argv[1], "--write-adapter") == 0) {
        return with_adapter(argv, true);
    }
    bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (!write && argc != 4) {
        return fail(
            "usage: oracle MODEL TOKENS OUT | oracle --write FOLDER | oracle --adapter MODEL "
            "ADAPTER TOKENS OUT MERGED | oracle --write-adapter MODEL ADAPTER");
    }
    char *config_path = path_join(argv[1], "config.json");
    if (!write && config_load(&config, config_path) != 0) {
        return 1;
    }
    free(config_path);
    config.dropout = 0;
    Device *device = device_cpu_new(0);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(&config, memory, 3);
    int result;
    if (write) {
        result = write_fresh(model, argv[2]);
    } else {
        char *weights_path = path_join(argv[1], "model.safetensors");
        result = weights_load(model, weights_path) == 0 ? run(model, argv[2], argv[3]) : 1;
        free(weights_path);
    }
    model_free(model);
    memory_free(memory);
    device_free(device);
    return result;
}
