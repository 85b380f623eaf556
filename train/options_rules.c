/* The rules that concern several options of `train`: which one needs or excludes which. The
   contracts are in options.h. */
#include <stdio.h>
#include <string.h>

#include "train/options.h"

/* An option, the options it needs (one of them) or excludes, and why where that is not plain. Both
   are printed as they stand; a word of them counts where it begins with two dashes. */
typedef struct OptionRule {
    const char *option, *others, *why;
} OptionRule;

#define ADAPTERS "--lora_r or --adapter_name_or_path"

static const OptionRule needs[] = {
    {"--checkpoint_segment", "--gradient_checkpointing", NULL},
    {"--checkpoint_attention", "--gradient_checkpointing", NULL},
    {"--initial_scale_power", "--fp16 or --fit", "nothing else has a loss scaler"},
    {"--loss_scale_window", "--fp16 or --fit", "nothing else has a loss scaler"},
    {"--rates", "--fit", NULL},
    {"--dataloader_num_workers", "--device gpu", "on the CPU, host and device are one memory"},
    {"--dataloader_pin_memory false", "--dataloader_num_workers",
     "nothing is copied ahead without"},
    {"--activation_offload", "--device gpu", "on the CPU, host and device are one memory"},
    {"--activation_offload", "--gradient_checkpointing", "it moves the inputs that this keeps"},
    {"--cuda_graph", "--device gpu", "a CPU launches nothing"},
    {"--check_launches", "--device gpu", "a CPU launches nothing"},
    {"--offload_optimizer", "--zero", "it moves the states of a rank's shard"},
    {"--ddp_bucket_cap_mb", "--ddp or --nproc_per_node", NULL},
    {"--lora_target_modules", "--lora_r", NULL},
    {"--lora_alpha", "--lora_r", NULL},
    {"--lora_dropout", "--lora_r", NULL},
    {"--merge", ADAPTERS " or --resume_from_checkpoint", NULL},
    {"--merge", "--output_dir", NULL},
    {NULL, NULL, NULL},
};

static const OptionRule excludes[] = {
    {"--fp16", "--bf16", NULL},
    {"--predict_only", "--measure_only", NULL},
    {"--resume_from_checkpoint", "--model_name_or_path --adapter_name_or_path", NULL},
    {"--resume_from_checkpoint", "--initial_scale_power", "a run resumes with its own scale"},
    {"--lora_r", "--adapter_name_or_path", "the adapter has a rank"},
    {"--fit", "--resume_from_checkpoint", NULL},
    {"--fit", ADAPTERS, "a plan is one of full training"},
    {"--fit", "--dataloader_num_workers --activation_offload --fused_norm --fused_head",
     "a plan does not know of it"},
    {"--measure_only", "--dataloader_num_workers", "it counts a step without a loop"},
    {"--activation_offload", "--checkpoint_attention", NULL},
    {"--activation_offload", ADAPTERS, "it keeps what full training needs"},
    {"--fused_norm", ADAPTERS " --activation_offload", NULL},
    {"--fused_head", ADAPTERS " --activation_offload", NULL},
    {"--cuda_graph", "--check_memory --profile --measure_only --fit", NULL},
    {"--cuda_graph", "--check_launches", "what a graph launches does not wait"},
    {"--cuda_graph", "--dataloader_num_workers --activation_offload", "a graph copies nothing"},
    {"--cuda_graph", ADAPTERS, "a graph is one of full training"},
    {"--cuda_graph", "--optim", "no other rule reads its numbers from device memory"},
    {"--ddp", "--zero", "ZeRO shares the batch as well"},
    {"--ddp_bucket_cap_mb", "--zero", "its sums are those of a block"},
    {"--zero", "--pipeline --tensor", "shards are those of a whole model"},
    {"--zero", ADAPTERS, "adapters are small: each rank has them whole"},
    {"--zero", "--measure_only", "it counts a step of one rank"},
    {"--pipeline", "--tensor", NULL},
    {"--pipeline", ADAPTERS " --merge", "it trains whole stages"},
    {"--pipeline", "--dataloader_num_workers --activation_offload",
     "a window is read before it runs"},
    {"--pipeline", "--fused_head --measure_only --profile", "a rank has no whole step"},
    {"--pipeline", "--generate", "no rank has the whole model: resume without --pipeline"},
    {"--tensor", "--measure_only", "a rank by itself has nobody to sum with"},
    {"--tensor", ADAPTERS, "an adapter would stand beside a slice of a matrix"},
    {"--tensor", "--fused_norm --fused_head --activation_offload", NULL},
    {"--fit", "--ddp --zero --pipeline --tensor --nproc_per_node",
     "a plan is one of a single rank"},
    {"--cuda_graph", "--nproc_per_node", "what ranks send each other is not captured"},
    {NULL, NULL, NULL},
};

/* Copies the first option of `words` that is given to `name`, or "". */
static bool first_given(const TrainOptions *options, const char *words, char name[64]) {
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (strncmp(word, "--", 2) == 0 && options_changed(options, word)) {
            snprintf(name, 64, "%s", word);
            return true;
        }
    }
    return false;
}

static const char *reason(const OptionRule *rule, char text[ERROR_BYTES]) {
    snprintf(text, ERROR_BYTES, "%s%s", rule->why != NULL ? ": " : "",
             rule->why != NULL ? rule->why : "");
    return text;
}

/* Prints a line for the first rule that is not kept. */
static int check_rules(const TrainOptions *options, FILE *err) {
    char name[64], text[ERROR_BYTES];
    for (const OptionRule *rule = needs; rule->option != NULL; rule++) {
        if (first_given(options, rule->option, name) && !first_given(options, rule->others, name)) {
            fprintf(err, "train: %s needs %s%s\n", rule->option, rule->others, reason(rule, text));
            return -1;
        }
    }
    for (const OptionRule *rule = excludes; rule->option != NULL; rule++) {
        if (first_given(options, rule->option, name) && first_given(options, rule->others, name)) {
            fprintf(err, "train: %s and %s exclude each other%s\n", rule->option, name,
                    reason(rule, text));
            return -1;
        }
    }
    return 0;
}

/* Rules that look at an option's value. */
static int check_values(const TrainOptions *options, FILE *err) {
    char error[ERROR_BYTES];
    if (options->optim == OPTIM_AUTO && options->fit == 0) {
        fprintf(err, "train: --optim auto needs --fit\n");
        return -1;
    }
    if (options->zero > 0 && options->optim == OPTIM_ADAFACTOR) {
        fprintf(err, "train: --zero and --optim adafactor exclude each other: its states are sums "
                     "of rows and columns, which a shard does not have\n");
        return -1;
    }
    if (options->zero_prefetch && options->zero != 3) {
        fprintf(err, "train: --zero_prefetch needs --zero 3: up to stage 2 weights are whole\n");
        return -1;
    }
    if (options->resume != NULL && strcmp(options->resume, "latest") == 0 &&
        options->output_dir == NULL) {
        fprintf(err, "train: --resume_from_checkpoint latest needs --output_dir\n");
        return -1;
    }
    bool loaded = options->model != NULL || options->resume != NULL;
    if (!loaded && config_check(&options->config, error) != 0) {
        fprintf(err, "train: --%s\n", error);
        return -1;
    }
    return 0;
}

int options_check_together(TrainOptions *options, FILE *err) {
    Checkpoint *checkpoint = &options->checkpoint;
    if (options->fp16 || options->bf16) {
        options->config.precision = options->fp16 ? F16 : BF16;
    }
    if (options->checkpointing && !checkpoint->attention_only && checkpoint->segment == 0) {
        checkpoint->segment = 1;
    }
    return check_rules(options, err) == 0 && check_values(options, err) == 0 ? 0 : -1;
}

int options_check_model(const TrainOptions *options, char *error) {
    const ModelConfig *config = &options->config;
    const Checkpoint *checkpoint = &options->checkpoint;
    if (options->T > config->T) {
        snprintf(error, ERROR_BYTES, "--block_size: sequences are longer than n_positions");
    } else if ((double)options->B * options->T > 1 << 30) {
        snprintf(error, ERROR_BYTES,
                 "--per_device_train_batch_size: more than 2^30 tokens in a micro-batch");
    } else if (options->fit > 0 && (double)options->effective_batch * options->T > 1 << 30) {
        snprintf(error, ERROR_BYTES, "--effective_batch: more than 2^30 tokens in an update");
    } else if (checkpoint->segment > config->L) {
        snprintf(error, ERROR_BYTES, "--checkpoint_segment %d: the model has %d blocks",
                 checkpoint->segment, config->L);
    } else if (options->pipeline > config->L) {
        snprintf(error, ERROR_BYTES, "--pipeline %d: the model has %d blocks, each stage needs one",
                 options->pipeline, config->L);
    } else if (config->NH % options->tensor != 0) {
        snprintf(error, ERROR_BYTES, "--tensor %d: must divide n_head = %d", options->tensor,
                 config->NH);
    } else if (checkpoint->attention_only && config->attention == ATTENTION_FLASH) {
        snprintf(error, ERROR_BYTES,
                 "--checkpoint_attention: flash attention keeps no probabilities");
    } else {
        return 0;
    }
    return -1;
}
