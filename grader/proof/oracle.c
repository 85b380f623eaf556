/* The kit's side of the outside oracle (oracle.py): loads a model folder as Hugging Face
   transformers writes it, runs one batch, and writes loss and gradients in the layout of the
   weights.

     oracle MODEL TOKENS OUT     TOKENS: B T, then B x (T + 1) ids, as text
     oracle --write FOLDER       writes a fresh model of the kit for the other direction */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/weights.h"

static ModelConfig config = {.V = 300, .T = 24, .L = 3, .NH = 3, .C = 48};

static int fail(const char *what) {
    fprintf(stderr, "oracle: %s\n", what);
    return 1;
}

/* Gradients travel as weights do: a model that has them in place of its weights is saved. */
static int save_gradients(Model *model, const char *path) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        memcpy(param->weight, param->grad, param->count * sizeof(float)); /* the CPU's memory */
    }
    return weights_save(model, path);
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

int main(int argc, char **argv) {
    bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (!write && argc != 4) {
        return fail("usage: oracle MODEL TOKENS OUT | oracle --write FOLDER");
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
