/* The adapters of a run. The contract is in adapters.h; lab 10 does the work. */
#include "train/adapters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/weights.h"
#include "labs/10_lora/contract.h"
#include "train/techniques.h"

/* Names with commas between them. */
static int parse_targets(const char *names, unsigned *targets) {
    *targets = 0;
    for (const char *name = names; *names != '\0'; name = names) {
        char one[64];
        size_t length = strcspn(name, ",");
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one), name);
        unsigned found = adapter_targets(one);
        if (found == 0 || length >= sizeof one) {
            fprintf(stderr,
                    "train: --lora_target_modules: '%s' stands for no linear layer of a "
                    "block: c_attn, c_proj, c_fc, or with attn. or mlp. before it\n",
                    one);
            return -1;
        }
        *targets |= found;
        names += length + (name[length] == ',');
    }
    return 0;
}

static bool same_adapter(const Adapter *a, const Adapter *b) {
    return a->rank == b->rank && a->targets == b->targets &&
           !(a->alpha < b->alpha || a->alpha > b->alpha) &&
           !(a->dropout < b->dropout || a->dropout > b->dropout);
}

static bool has_adapter(const char *folder) {
    char *path = path_join(folder, "adapter_config.json");
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* A checkpoint tells by itself whether it has adapters; options that say otherwise are wrong. */
static int settle_resumed(TrainOptions *options, const char *folder) {
    Adapter *adapter = &options->config.adapter, saved = {0};
    if (has_adapter(folder) && adapter_load_config(&saved, folder) != 0) {
        return -1;
    }
    if (adapter->rank > 0 && !same_adapter(adapter, &saved)) {
        fprintf(stderr, "%s: was saved %s\n", folder,
                saved.rank > 0 ? "with another adapter: resume without --lora_r"
                               : "without an adapter: --model_name_or_path starts from it");
        return -1;
    }
    *adapter = saved;
    return 0;
}

/* An option whose bytes are known for a model that is trained as a whole; NULL for none. */
static const char *beside(const TrainOptions *options) {
    return options->offload      ? "--activation_offload"
           : options->fused_norm ? "--fused_norm"
           : options->fused_head ? "--fused_head"
           : options->cuda_graph ? "--cuda_graph"
                                 : NULL;
}

int adapters_settle(TrainOptions *options, const char *resumed) {
    Adapter *adapter = &options->config.adapter;
    char error[ERROR_BYTES];
    if (adapter->rank == 0) {
        *adapter = (Adapter){0}; /* defaults of the options */
    } else if (parse_targets(options->targets, &adapter->targets) != 0) {
        return -1;
    }
    if (options->adapter != NULL && adapter_load_config(adapter, options->adapter) != 0) {
        return -1;
    }
    if (resumed != NULL && settle_resumed(options, resumed) != 0) {
        return -1;
    }
    if (options->merge && adapter->rank == 0) {
        fprintf(stderr, "train: --merge: the checkpoint has no adapter\n");
        return -1;
    }
    if (adapter->rank > 0 && beside(options) != NULL) {
        fprintf(stderr, "train: %s: the checkpoint has adapters, and they exclude it\n",
                beside(options));
        return -1;
    }
    if (adapter_check(adapter, error) != 0) {
        fprintf(stderr, "train: --%s\n", error);
        return -1;
    }
    return 0;
}

/* Bytes of other rules than AdamW, as rules.h has them, and of masters. */
static size_t states_of(const ModelConfig *config, Optim optim) {
    int count = adapters_count(config);
    size_t bytes = 0;
    Param *params = calloc((size_t)count, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    adapters_describe(params, config);
    for (const Param *param = params; param < params + count; param++) {
        if (optim == OPTIM_ADAFACTOR) {
            bytes += sizeof(float) * (size_t)(param->rows + param->cols);
        } else if (param->count >= ADAM8_LEAST) {
            bytes += 2 * (param->count + sizeof(float) * adam8_blocks(param->count));
        } else {
            bytes += 2 * sizeof(float) * param->count;
        }
        bytes += config->precision != F32 ? sizeof(float) * param->count : 0;
    }
    free(params);
    return bytes;
}

void adapters_predict(const ModelConfig *config, int B, int T, Checkpoint checkpoint, Optim optim,
                      MemoryUse *use) {
    MemoryUse states = lora_states(config);
    use->bytes[MEMORY_WEIGHTS] = states.bytes[MEMORY_WEIGHTS];
    use->bytes[MEMORY_GRADIENTS] = states.bytes[MEMORY_GRADIENTS];
    use->bytes[MEMORY_OPTIMIZER] =
        optim == OPTIM_ADAMW ? states.bytes[MEMORY_OPTIMIZER] : states_of(config, optim);
    use->bytes[MEMORY_ACTIVATIONS] = lora_activations(config, B, T, checkpoint);
}

void adapters_begin(Model *model, uint64_t seed) {
    if (model->config.adapter.rank > 0) {
        lora_init(model, seed);
        adapters_attach(model);
    }
}

int adapters_load(Model *model, const char *folder) {
    return adapter_load(model, folder);
}

static int save_more(const Model *model, const char *folder) {
    return adapter_save(model, NULL, folder);
}

void adapters_save_with(Snapshot *snapshot) {
    if (snapshot->trainer->model->config.adapter.rank > 0) {
        snapshot->save_more = save_more;
        snapshot->load_more = adapter_load;
    }
}

void adapters_print(const ModelConfig *config) {
    if (config->adapter.rank > 0) {
        size_t all = run_elements(config), numbers = 0;
        Param *params = malloc((size_t)adapters_count(config) * sizeof *params);
        CHECK(params != NULL, "no memory for %d adapters", adapters_count(config));
        adapters_describe(params, config);
        for (int i = 0; i < adapters_count(config); i++) {
            numbers += params[i].count;
        }
        free(params);
        printf(
            "Adapters: rank %d, alpha %g, %d matrices: %zu numbers are trained, %.2f %% of all\n",
            config->adapter.rank, (double)config->adapter.alpha, adapters_count(config), numbers,
            100 * (double)numbers / (double)(all + numbers));
    }
}

static int write_merged(const Run *run) {
    char *folder = path_join(run->options.output_dir, "merged");
    char *config = path_join(folder, "config.json");
    char *weights = path_join(folder, "model.safetensors");
    const Model *model = run->trainer.model;
    int result = folder_make(folder);
    if (result == 0) {
        result = config_save(&model->config, config);
    }
    if (result == 0) {
        result = weights_save(model, weights);
    }
    free(folder);
    free(config);
    free(weights);
    return result;
}

int adapters_merge(Run *run, double loss) {
    Model *model = run->trainer.model;
    if (!run->options.merge) {
        return 0;
    }
    lora_merge(model, 1);
    model->linear_forward = NULL; /* the branch is in the weights now */
    double merged = run->way->evaluate(run);
    printf("Merged:          validation loss %.6f, beside its adapters %.6f; %s/merged\n", merged,
           loss, run->options.output_dir);
    return write_merged(run);
}
