/**
 * @file options.h
 * @brief The options of `train`, under the names of Hugging Face's TrainingArguments.
 * @ingroup train
 */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stdio.h>

#include "common/config.h"
#include "common/rules.h"

/** Where ops run. */
typedef enum DeviceChoice {
    DEVICE_CPU, /**< the CPU device */
    DEVICE_GPU, /**< the GPU device: simulated, unless the build says BACKEND=cuda */
} DeviceChoice;

/** `--optim auto`: the Optim that makes room for the fastest plan. */
enum { OPTIM_AUTO = OPTIM_ADAMW_8BIT + 1 };

/** All options, with what they were set to. Strings are the command line's. */
typedef struct TrainOptions {
    ModelConfig config;     /**< --vocab_size ... --attention, --lora_r ...; its adapter's targets
                                 are set by the run */
    const char *model;      /**< --model_name_or_path, or NULL */
    const char *data;       /**< --data */
    int T;                  /**< --block_size; 0 until defaulted to n_positions */
    bool documents;         /**< --documents */
    double eval_fraction;   /**< --eval_fraction */
    int workers;            /**< --dataloader_num_workers */
    int pin_memory;         /**< --dataloader_pin_memory: whether host memory of copies is pinned */
    int B;                  /**< --per_device_train_batch_size */
    int accumulation;       /**< --gradient_accumulation_steps */
    bool checkpointing;     /**< --gradient_checkpointing */
    Checkpoint checkpoint;  /**< --checkpoint_segment, --checkpoint_attention, or both; {0} for
                                 neither unless `checkpointing`, and then never {0} */
    bool offload;           /**< --activation_offload */
    const char *targets;    /**< --lora_target_modules */
    const char *adapter;    /**< --adapter_name_or_path, or NULL */
    bool merge;             /**< --merge */
    bool fp16;              /**< --fp16 */
    int scale_power;        /**< --initial_scale_power; 0 for what scaler_init() says */
    int scale_window;       /**< --loss_scale_window; 0 for what scaler_init() says */
    bool bf16;              /**< --bf16 */
    bool fused_norm;        /**< --fused_norm */
    bool fused_head;        /**< --fused_head */
    bool cuda_graph;        /**< --cuda_graph */
    int optim;              /**< --optim, an Optim; OPTIM_AUTO until --fit has chosen */
    double learning_rate;   /**< --learning_rate */
    double weight_decay;    /**< --weight_decay */
    double beta1;           /**< --adam_beta1 */
    double beta2;           /**< --adam_beta2 */
    double epsilon;         /**< --adam_epsilon */
    double max_grad_norm;   /**< --max_grad_norm; 0 for no clipping */
    int decay;              /**< --lr_scheduler_type, a Decay */
    int warmup_steps;       /**< --warmup_steps */
    int max_steps;          /**< --max_steps; 0 for as many as the epochs have */
    int epochs;             /**< --num_train_epochs */
    long long seed;         /**< --seed */
    int device;             /**< --device, a DeviceChoice */
    size_t budget;          /**< --memory_budget in bytes; 0 for none */
    size_t fit;             /**< --fit in bytes: choose a plan (lab 06); 0 for no choice */
    int effective_batch;    /**< --effective_batch: sequences per update, for --fit */
    const char *rates;      /**< --rates, or NULL: then measured, for --fit */
    int ranks;              /**< --nproc_per_node: ranks in this process */
    bool ddp;               /**< --ddp; also where there are several ranks and no other technique */
    size_t bucket;          /**< --ddp_bucket_cap_mb in bytes */
    int zero;               /**< --zero: stage 1 to 3; 0 for none */
    bool zero_prefetch;     /**< --zero_prefetch */
    bool offload_optimizer; /**< --offload_optimizer */
    int pipeline;           /**< --pipeline: stages of blocks, 1 for none */
    int tensor;             /**< --tensor: slices of each block, 1 for none */
    int timeout;            /**< --ddp_timeout: seconds that a rank waits for the others */
    int deterministic;      /**< --deterministic: whether ranks are summed in their order */
    bool check;             /**< --check_memory */
    bool check_launches;    /**< --check_launches */
    bool predict_only;      /**< --predict_only */
    bool measure_only;      /**< --measure_only */
    const char *output_dir; /**< --output_dir, or NULL: then nothing is written */
    const char *metrics;    /**< --metrics, or NULL: metrics.jsonl in output_dir */
    int logging_steps;      /**< --logging_steps */
    int eval_steps;         /**< --eval_steps; 0 for only at the end */
    int save_steps;         /**< --save_steps; 0 for only at the end */
    int save_total_limit;   /**< --save_total_limit; 0 for all */
    const char *resume;     /**< --resume_from_checkpoint: a folder, "latest", or NULL */
    bool profile;           /**< --profile */
    int generate;           /**< --generate: bytes of text to sample at the end */
    const char *prompt;     /**< --prompt */
    double temperature;     /**< --temperature */
} TrainOptions;

/** The outcome of parsing a command line. */
typedef enum ParseResult {
    PARSE_RUN,   /**< the options are good: go on */
    PARSE_HELP,  /**< help was asked for and printed */
    PARSE_ERROR, /**< a line says what is wrong */
} ParseResult;

/**
 * Reads a command line.
 *
 * @param      argc,argv as main() got them
 * @param[out] options   defaults, and what the command line says
 * @param      out       where --help goes
 * @param      err       where the one line on an error goes
 */
ParseResult options_parse(int argc, char **argv, TrainOptions *options, FILE *out, FILE *err);

/**
 * Whether an option has another value than its default.
 *
 * @param options what options_parse() has made
 * @param name    as it is typed: "--fp16"; a name that there is not aborts
 */
bool options_changed(const TrainOptions *options, const char *name);

/**
 * Says whether the options go together, and settles those that follow from others: the model's
 * precision, and `checkpoint`.
 *
 * @param options as options_parse() has read them
 * @param err     where the one line goes on an error
 * @return 0, or -1
 */
int options_check_together(TrainOptions *options, FILE *err);

/**
 * Says whether the options fit the model, whose shape may have come from a folder.
 *
 * @param      options the shape is in options->config, and T is no longer 0
 * @param[out] error   (ERROR_BYTES) one line without newline, where the result is -1
 * @return 0, or -1
 */
int options_check_model(const TrainOptions *options, char *error);

#endif
