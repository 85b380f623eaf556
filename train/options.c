/* The options of `train`: one table gives names, types, ranges and the help. The contract is in
   options.h; which options go together is said in options_rules.c. */
#include "train/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base.h"

typedef enum Kind {
    HEADING, /* a line of the help, no option */
    FLAG,    /* bool */
    INT,     /* int within [low, high] */
    SEED,    /* long long, not negative */
    FLOAT,   /* float within [low, high] */
    REAL,    /* double within [low, high] */
    BYTES,   /* size_t: a number with a unit */
    TEXT,    /* const char *, not empty */
    CHOICE,  /* int: index of one of the words in `value` */
} Kind;

typedef struct Option {
    Kind kind;
    const char *name;    /* without dashes; the text of a heading */
    size_t offset;       /* of the field in TrainOptions */
    const char *value;   /* what the help calls the value; the words of a CHOICE */
    const char *initial; /* default, as it would be typed; NULL where there is none */
    const char *help;
    double low, high;
} Option;

#define AT(field) offsetof(TrainOptions, field)
#define MANY 2147483647.0

static const Option options_table[] = {
    {HEADING, "Model", 0, NULL, NULL, NULL, 0, 0},
    {INT, "n_layer", AT(config.L), "L", "4", "blocks", 1, MANY},
    {INT, "n_head", AT(config.NH), "NH", "4", "attention heads", 1, MANY},
    {INT, "n_embd", AT(config.C), "C", "128", "channels, a multiple of n_head", 1, MANY},
    {INT, "n_positions", AT(config.T), "T", "128", "longest sequence", 1, MANY},
    {INT, "vocab_size", AT(config.V), "V", "256", "vocabulary; bytes are the ids", 256, MANY},
    {FLOAT, "dropout", AT(config.dropout), "P", "0", "after embedding and residual branches", 0, 1},
    {CHOICE, "attention", AT(config.attention), "plain|flash", "plain",
     "keep the (T, T) probabilities, or recompute them", 0, 0},
    {TEXT, "model_name_or_path", AT(model), "DIR", NULL,
     "start from config.json and model.safetensors there", 0, 0},

    {HEADING, "Data", 0, NULL, NULL, NULL, 0, 0},
    {TEXT, "data", AT(data), "FILE", "common/data/kit.txt", "text to train on", 0, 0},
    {INT, "block_size", AT(T), "T", NULL, "tokens per sequence (default: n_positions)", 1, MANY},
    {FLAG, "documents", AT(documents), NULL, NULL,
     "one document per sequence (they end at an empty line)", 0, 0},
    {REAL, "eval_fraction", AT(eval_fraction), "X", "0.1", "of the text, for validation", 0, 0.9},
    {INT, "dataloader_num_workers", AT(workers), "N", "0",
     "batches read and copied ahead, on the GPU (lab 08)", 0, 16},
    {CHOICE, "dataloader_pin_memory", AT(pin_memory), "false|true", "true",
     "these are copied from pinned memory", 0, 0},

    {HEADING, "Training", 0, NULL, NULL, NULL, 0, 0},
    {INT, "per_device_train_batch_size", AT(B), "B", "8", "sequences per micro-batch", 1, MANY},
    {INT, "gradient_accumulation_steps", AT(accumulation), "K", "1",
     "micro-batches per update (lab 03)", 1, MANY},
    {FLAG, "gradient_checkpointing", AT(checkpointing), NULL, NULL,
     "recompute blocks in backward (lab 04)", 0, 0},
    {INT, "checkpoint_segment", AT(checkpoint.segment), "N", NULL,
     "blocks between two kept inputs (default: 1)", 1, MANY},
    {FLAG, "checkpoint_attention", AT(checkpoint.attention_only), NULL, NULL,
     "recompute the attention's probabilities; alone, only these", 0, 0},
    {FLAG, "activation_offload", AT(offload), NULL, NULL,
     "kept inputs wait in host memory, on the GPU (lab 08)", 0, 0},
    {FLAG, "fp16", AT(fp16), NULL, NULL, "half precision with a loss scaler (lab 05)", 0, 0},
    {INT, "initial_scale_power", AT(scale_power), "P", NULL,
     "the loss scale begins at 2^P (default: 16)", 1, 120},
    {INT, "loss_scale_window", AT(scale_window), "N", NULL,
     "good steps until it grows (default: 2000)", 1, MANY},
    {FLAG, "bf16", AT(bf16), NULL, NULL, "bfloat16 (lab 05)", 0, 0},
    {FLAG, "fused_norm", AT(fused_norm), NULL, NULL,
     "residual and norm after attention in one pass (lab 09)", 0, 0},
    {FLAG, "fused_head", AT(fused_head), NULL, NULL, "logits and losses in chunks of rows (lab 09)",
     0, 0},
    {FLAG, "cuda_graph", AT(cuda_graph), NULL, NULL,
     "capture the training step, launch it whole (lab 09)", 0, 0},
    {INT, "lora_r", AT(config.adapter.rank), "R", NULL,
     "train adapters of this rank, nothing else (lab 10)", 1, 65536},
    {TEXT, "lora_target_modules", AT(targets), "NAMES", "c_attn",
     "which layers have one: c_attn,c_proj", 0, 0},
    {FLOAT, "lora_alpha", AT(config.adapter.alpha), "X", "8", "a branch counts X / R", 1e-6,
     16777216},
    {FLOAT, "lora_dropout", AT(config.adapter.dropout), "P", "0", "on the input of a branch", 0,
     0.999999},
    {TEXT, "adapter_name_or_path", AT(adapter), "DIR", NULL,
     "start from the adapter there, as peft writes it", 0, 0},
    {FLAG, "merge", AT(merge), NULL, NULL, "at the end, write the model with its adapters added in",
     0, 0},
    {CHOICE, "optim", AT(optim), "adamw|adafactor|adamw_8bit|auto", "adamw",
     "the optimizer (lab 07); auto: --fit chooses", 0, 0},
    {REAL, "learning_rate", AT(learning_rate), "LR", "0.001", "largest learning rate", 0, 1e6},
    {REAL, "weight_decay", AT(weight_decay), "X", "0.1", "on matrices", 0, 1e6},
    {REAL, "adam_beta1", AT(beta1), "X", "0.9", "decay of the first moment", 0, 0.999999},
    {REAL, "adam_beta2", AT(beta2), "X", "0.95", "decay of the second moment", 0, 0.999999},
    {REAL, "adam_epsilon", AT(epsilon), "X", "1e-8", "added to the denominator", 0, 1e6},
    {REAL, "max_grad_norm", AT(max_grad_norm), "X", "1", "clip to this norm; 0: never", 0, 1e30},
    {CHOICE, "lr_scheduler_type", AT(decay), "cosine|linear|constant", "cosine",
     "the rate after the warm-up", 0, 0},
    {INT, "warmup_steps", AT(warmup_steps), "N", "0", "steps of a linear rise", 0, MANY},
    {INT, "max_steps", AT(max_steps), "N", "0", "updates; 0: as many as the epochs have", 0, MANY},
    {INT, "num_train_epochs", AT(epochs), "N", "1", "passes over the text", 1, 1e6},
    {SEED, "seed", AT(seed), "N", "42", "of weights, masks, order and samples", 0, 0},

    {HEADING, "Machine", 0, NULL, NULL, NULL, 0, 0},
    {CHOICE, "device", AT(device), "cpu|gpu", "cpu", "where the ops run", 0, 0},
    {BYTES, "memory_budget", AT(budget), "MIB", NULL,
     "refuse to use more (MiB; or with a unit: 300M, 2G, 1048576B)", 0, 0},
    {BYTES, "fit", AT(fit), "MIB", NULL, "choose how to train within this memory (lab 06)", 0, 0},
    {INT, "effective_batch", AT(effective_batch), "N", "8", "sequences per update, for --fit", 1,
     1 << 20},
    {TEXT, "rates", AT(rates), "FILE", NULL, "rates.json of --profile, for --fit (measured)", 0, 0},
    {INT, "nproc_per_node", AT(ranks), "R", "1", "ranks, all in this process (MPI: docs/mpi.md)", 1,
     4096},
    {INT, "ddp_timeout", AT(timeout), "SECONDS", "1800", "a rank waits for others; 0: no limit", 0,
     1e6},
    {CHOICE, "deterministic", AT(deterministic), "false|true", "true",
     "ranks are summed in their order", 0, 0},
    {FLAG, "ddp", AT(ddp), NULL, NULL, "ranks share the batch, each with the whole model (lab 11)",
     0, 0},
    {BYTES, "ddp_bucket_cap_mb", AT(bucket), "MIB", "1",
     "gradients that are summed together, beside backward", 0, 0},
    {INT, "zero", AT(zero), "STAGE", NULL,
     "share states (1), gradients (2), weights (3) too (lab 12)", 1, 3},
    {FLAG, "zero_prefetch", AT(zero_prefetch), NULL, NULL,
     "with --zero 3: gather the next block while one runs", 0, 0},
    {FLAG, "offload_optimizer", AT(offload_optimizer), NULL, NULL,
     "with --zero: states in host memory, updated by the CPU", 0, 0},
    {INT, "pipeline", AT(pipeline), "P", "1", "share the blocks among P ranks (lab 13)", 1, 64},
    {INT, "tensor", AT(tensor), "T", "1", "share each block among T ranks (lab 14)", 1, 64},
    {FLAG, "check_memory", AT(check), NULL, NULL,
     "NaN in fresh and freed memory, guards between tensors", 0, 0},
    {FLAG, "check_launches", AT(check_launches), NULL, NULL,
     "wait for each launch, so that the op of a fault is named", 0, 0},
    {FLAG, "predict_only", AT(predict_only), NULL, NULL,
     "print the bytes that training would take, and stop", 0, 0},
    {FLAG, "measure_only", AT(measure_only), NULL, NULL,
     "print the bytes that one step takes, counted, and stop", 0, 0},

    {HEADING, "Output", 0, NULL, NULL, NULL, 0, 0},
    {TEXT, "output_dir", AT(output_dir), "DIR", NULL,
     "metrics, pictures and checkpoints (default: none of them)", 0, 0},
    {TEXT, "metrics", AT(metrics), "FILE", NULL,
     "progress and summary as JSON (default: metrics.jsonl there)", 0, 0},
    {INT, "logging_steps", AT(logging_steps), "N", "10", "updates between lines", 1, MANY},
    {INT, "eval_steps", AT(eval_steps), "N", "0", "updates between validations; 0: at the end", 0,
     MANY},
    {INT, "save_steps", AT(save_steps), "N", "0", "updates between checkpoints; 0: at the end", 0,
     MANY},
    {INT, "save_total_limit", AT(save_total_limit), "N", "0", "checkpoints to keep; 0: all", 0,
     MANY},
    {TEXT, "resume_from_checkpoint", AT(resume), "DIR", NULL,
     "resume from a checkpoint folder, or from the \"latest\" one", 0, 0},
    {FLAG, "profile", AT(profile), NULL, NULL, "show where the time goes, op by op", 0, 0},
    {INT, "generate", AT(generate), "N", "0", "bytes of text to sample at the end", 0, 1e6},
    {TEXT, "prompt", AT(prompt), "TEXT", "The ", "text that the sample continues", 0, 0},
    {REAL, "temperature", AT(temperature), "X", "0.8", "of the sample; 0: the likeliest byte", 0,
     1e6},
};

enum { OPTIONS = sizeof options_table / sizeof *options_table };

static void *field(TrainOptions *options, const Option *option) {
    return (char *)options + option->offset;
}

/* Index of `word` among words separated by '|', or -1. */
static int choice_index(const char *words, const char *word) {
    size_t length = strlen(word);
    for (int index = 0;; index++) {
        size_t here = strcspn(words, "|");
        if (here == length && strncmp(words, word, length) == 0) {
            return index;
        }
        if (words[here] == '\0') {
            return -1;
        }
        words += here + 1;
    }
}

static bool parse_int(const char *text, double low, double high, long long *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && (double)*value >= low &&
           (double)*value <= high;
}

static bool parse_real(const char *text, double low, double high, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= low && *value <= high;
}

/* "300" and "300M" are MiB, "2G" is GiB, "1048576B" bytes. */
static bool parse_bytes(const char *text, size_t *bytes) {
    char *end;
    double number = strtod(text, &end);
    double unit = 1024 * 1024;
    if (end == text || !(number > 0)) {
        return false;
    }
    switch (*end) {
    case 'B':
        unit = 1;
        break;
    case 'K':
        unit = 1024;
        break;
    case 'G':
        unit = 1024.0 * 1024 * 1024;
        break;
    case 'M':
    case '\0':
        break;
    default:
        return false;
    }
    if ((*end != '\0' && end[1] != '\0') || !(number * unit < 9e18) || number * unit < 1) {
        return false;
    }
    *bytes = (size_t)(number * unit);
    return true;
}

/* Sets a field from text; on failure `expected` says what it should have been. */
static bool set(TrainOptions *options, const Option *option, const char *text, char *expected) {
    long long integer;
    double real;
    switch (option->kind) {
    case FLAG:
        *(bool *)field(options, option) = true;
        return true;
    case INT:
        snprintf(expected, ERROR_BYTES, "a whole number from %.0f to %.0f", option->low,
                 option->high);
        if (!parse_int(text, option->low, option->high, &integer)) {
            return false;
        }
        *(int *)field(options, option) = (int)integer;
        return true;
    case SEED:
        snprintf(expected, ERROR_BYTES, "a whole number, 0 or more");
        if (!parse_int(text, 0, 9.3e18, &integer)) {
            return false;
        }
        *(long long *)field(options, option) = integer;
        return true;
    case FLOAT:
    case REAL:
        snprintf(expected, ERROR_BYTES, "a number from %g to %g", option->low, option->high);
        if (!parse_real(text, option->low, option->high, &real)) {
            return false;
        }
        if (option->kind == FLOAT) {
            *(float *)field(options, option) = (float)real;
        } else {
            *(double *)field(options, option) = real;
        }
        return true;
    case BYTES:
        snprintf(expected, ERROR_BYTES, "a size such as 300, 300M, 2G or 1048576B");
        return parse_bytes(text, field(options, option));
    case TEXT:
        *(const char **)field(options, option) = text;
        return true;
    case CHOICE:
        snprintf(expected, ERROR_BYTES, "%s", option->value);
        integer = choice_index(option->value, text);
        *(int *)field(options, option) = (int)integer;
        return integer >= 0;
    default:
        return false;
    }
}

enum { HELP_COLUMN = 36 };

static void print_help(FILE *out) {
    fprintf(out, "Usage: train [options]\n\n"
                 "Trains a byte-level GPT-2 on a text file, on CPU or GPU, in counted memory.\n"
                 "Options have the names of Hugging Face's TrainingArguments where one exists.\n");
    for (int i = 0; i < OPTIONS; i++) {
        const Option *option = &options_table[i];
        if (option->kind == HEADING) {
            fprintf(out, "\n%s:\n", option->name);
            continue;
        }
        char left[96];
        snprintf(left, sizeof left, "--%s%s%s", option->name, option->value != NULL ? " " : "",
                 option->value != NULL ? option->value : "");
        fprintf(out, "  %-*s ", HELP_COLUMN, left);
        if (strlen(left) > HELP_COLUMN) {
            fprintf(out, "\n  %-*s ", HELP_COLUMN, "");
        }
        fputs(option->help, out);
        if (option->initial != NULL) {
            fprintf(out, " (%s)", option->initial);
        }
        fputc('\n', out);
    }
    fprintf(out, "\nExit status: 0 done; 1 failed while running; 2 cannot be done as asked; "
                 "77 reached a hole\nof a lab that is not filled in yet.\n");
}

static void set_defaults(TrainOptions *options) {
    char expected[ERROR_BYTES];
    memset(options, 0, sizeof *options);
    for (int i = 0; i < OPTIONS; i++) {
        if (options_table[i].initial != NULL) {
            set(options, &options_table[i], options_table[i].initial, expected);
        }
    }
}

bool options_changed(const TrainOptions *options, const char *name) {
    static const size_t sizes[] = {
        [FLAG] = sizeof(bool),   [INT] = sizeof(int),     [SEED] = sizeof(long long),
        [FLOAT] = sizeof(float), [REAL] = sizeof(double), [BYTES] = sizeof(size_t),
        [TEXT] = sizeof(char *), [CHOICE] = sizeof(int)};
    TrainOptions initial;
    set_defaults(&initial);
    for (int i = 0; i < OPTIONS; i++) {
        const Option *option = &options_table[i];
        if (option->kind != HEADING && strncmp(name, "--", 2) == 0 &&
            strcmp(name + 2, option->name) == 0) {
            return memcmp((const char *)options + option->offset,
                          (const char *)&initial + option->offset, sizes[option->kind]) != 0;
        }
    }
    CHECK(false, "there is no option %s", name);
    return false;
}

/* Prints one line; the result is what to return. */
__attribute__((format(printf, 2, 3))) static ParseResult wrong(FILE *err, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(err, "train: ");
    vfprintf(err, format, values);
    fputc('\n', err);
    va_end(values);
    return PARSE_ERROR;
}

ParseResult options_parse(int argc, char **argv, TrainOptions *options, FILE *out, FILE *err) {
    struct option names[OPTIONS + 2];
    int count = 0;
    char expected[ERROR_BYTES];
    set_defaults(options);
    memset(names, 0, sizeof names);
    for (int i = 0; i < OPTIONS; i++) {
        const Option *option = &options_table[i];
        if (option->kind == HEADING) {
            continue;
        }
        names[count++] = (struct option){
            option->name, option->kind == FLAG ? no_argument : required_argument, NULL, 256 + i};
    }
    names[count] = (struct option){"help", no_argument, NULL, 'h'};

    opterr = 0;
    optind = 0; /* starts getopt afresh: tests parse many command lines */
    for (int found; (found = getopt_long(argc, argv, ":h", names, NULL)) != -1;) {
        const char *word = argv[optind - 1];
        if (found == 'h') {
            print_help(out);
            return PARSE_HELP;
        }
        if (found == ':') {
            return wrong(err, "%s needs a value (see train --help)", word);
        }
        if (found == '?') {
            return wrong(err, "unknown or ambiguous option %s (see train --help)", word);
        }
        const Option *option = &options_table[found - 256];
        if (optarg != NULL && *optarg == '\0') {
            return wrong(err, "--%s must not be empty", option->name);
        }
        if (!set(options, option, optarg, expected)) {
            return wrong(err, "--%s: '%s' is not %s", option->name, optarg, expected);
        }
    }
    if (optind < argc) {
        return wrong(err, "unexpected argument '%s' (see train --help)", argv[optind]);
    }
    return options_check_together(options, err) == 0 ? PARSE_RUN : PARSE_ERROR;
}
