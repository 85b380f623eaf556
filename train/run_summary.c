/* The lines of a training run before its first step and after its last. The contract is in
   run_state.h. */
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/lab.h"
#include "common/text.h"
#include "train/adapters.h"
#include "train/profile.h"
#include "train/rates.h"
#include "train/run_state.h"
#include "train/sample.h"
#include "train/shards.h"
#include "train/timeline.h"

size_t run_elements(const ModelConfig *config) {
    size_t elements = 0;
    Param *params = malloc((size_t)params_count(config) * sizeof *params);
    CHECK(params != NULL, "no memory for %d layers", config->L);
    params_describe(params, config);
    for (int i = 0; i < params_count(config); i++) {
        elements += params[i].count;
    }
    free(params);
    return elements;
}

void run_print_header(const Run *run) {
    const TrainOptions *options = &run->options;
    const ModelConfig *config = &options->config;
    int segment = options->checkpoint.segment;
    printf("Model:  %.2f M parameters (%d layers, %d heads, %d channels, vocabulary %d), %s, "
           "%s attention\n",
           1e-6 * (double)run_elements(config), config->L, config->NH, config->C, config->V,
           precision_name(config->precision),
           config->attention == ATTENTION_PLAIN ? "plain" : "flash");
    adapters_print(config);
    printf("Data:   %s, %zu bytes as %s of up to %d, %zu tokens an epoch\n", options->data,
           data_bytes(run->data), options->documents ? "documents" : "rows", options->T,
           data_epoch_tokens(run->data));
    printf("Memory: %.2f MiB predicted", memory_mib(memory_total(&run->predicted)));
    if (segment > 0) {
        printf("; backward runs blocks again, %d at a time", segment);
    }
    if (options->checkpoint.attention_only) {
        printf("%s", segment > 0 ? ", and of each attention's softmax"
                                 : "; backward runs attention's softmax again");
    }
    printf("\nRun:    ");
    if (options->measure_only) {
        printf("one step, for its bytes alone, of ");
    } else {
        printf("%d updates of ", run->last_step - run->first_step);
    }
    if (run->grid.replicas > 1) {
        printf("%d ranks x ", run->grid.replicas);
    }
    if (options->accumulation > 1) {
        printf("%d x ", options->accumulation);
    }
    printf("%d sequences", options->B);
    if (run->grid.slices > 1) {
        printf(", each on %d slices", run->grid.slices);
    }
    if (run->grid.stages > 1) {
        printf(", in %d stages", run->grid.stages);
    }
    if (run->resume_folder != NULL) {
        printf(", resumed from %s", run->resume_folder);
    }
    printf("\n");
    report_check_mode(run->device);
    printf("\n");
}

static void write_timeline(Run *run) {
    const char *folder = run->options.output_dir;
    size_t events;
    memory_record(run->memory, false);
    memory_events(run->memory, &events);
    if (folder == NULL || events == 0) {
        return;
    }
    char title[96];
    snprintf(title, sizeof title, "Memory of one training step (%s%s)",
             run->device->simulated ? "simulated " : "", run->device->name);
    char *picture = path_join(folder, "memory.svg");
    char *trace = path_join(folder, "memory.trace.json");
    if (timeline_picture(run->memory, title, picture) == 0) {
        printf("Memory timeline: %s\n", picture);
    }
    if (timeline_trace(run->memory, title, trace) == 0) {
        printf("  as a trace:    %s (open in ui.perfetto.dev)\n", trace);
    }
    free(picture);
    free(trace);
}

static void print_sample(Run *run) {
    const TrainOptions *options = &run->options;
    unsigned char *text = malloc((size_t)options->generate + 1);
    CHECK(text != NULL, "no memory for %d bytes", options->generate);
    Rng rng = rng_new((uint64_t)options->seed, RNG_SAMPLE);
    run->way->sample(run, options->generate, &rng, text);
    printf("\nThe model continues \"%s\":\n\n%s", options->prompt, options->prompt);
    text_plain((char *)text, (size_t)options->generate, "\n\t");
    printf("%.*s\n", options->generate, (char *)text);
    free(text);
}

/* The number that lab 03 changes, beside what it was: the same window as one batch. */
static void print_at_once(const Run *run) {
    int micros = run->options.accumulation * run->grid.replicas;
    int rows = data_batch_rows(run->data) * micros;
    if (micros > 1 && run->grid.stages == 1) {
        MemoryUse whole = run_predict(run, rows);
        printf("At once:         the same %d sequences as one batch would take %.2f MiB\n", rows,
               memory_mib(memory_total(&whole)));
    }
}

static void gather(Run *run, const RankFigures *mine) {
    int ranks = comm_size(run->comm);
    run->of_ranks = calloc((size_t)ranks, sizeof *run->of_ranks);
    CHECK(run->of_ranks != NULL, "no memory for %d ranks", ranks);
    comm_gather(run->comm, mine, sizeof *mine, run->of_ranks);
}

void run_gather_predicted(Run *run) {
    RankFigures mine = {.predicted = run->predicted};
    gather(run, &mine);
}

void run_gather(Run *run) {
    double sent = run->sent - run->sent_before;
    int micros = run->options.accumulation * run->grid.replicas;
    size_t full = (size_t)(data_batch_rows(run->data) * micros) * (size_t)run->windows;
    RankFigures mine = {.counted = memory_peak(run->memory),
                        .predicted = run->predicted,
                        .host = shards_host(&run->trainer),
                        .predicted_host = shards_predict_host(&run->options, &run->grid),
                        .sent = run->windows > 0 ? sent / run->windows : 0,
                        .predicted_sent = run->way->sent(run),
                        .short_windows = run->samples < full};
    gather(run, &mine);
}

int run_finish(Run *run) {
    const TrainOptions *options = &run->options;
    Summary summary = {
        .device = run->device,
        .seconds = run->train_seconds,
        .samples = run->samples,
        .peak = memory_peak(run->memory),
        .predicted = run->predicted,
        .has_prediction = run->windows > 0,
        .ranks = run->of_ranks,
        .rank_count = comm_size(run->comm),
        .padding = memory_padding(run->memory),
        .overhead = device_overhead(run->device),
        .eval_loss = run->eval_loss,
        .unigram_entropy = data_unigram_entropy(run->data),
        .first_loss = run->first_loss,
        .updates = run->updates,
        .skipped = run->windows - run->updates,
        .block_forwards = run->trainer.model->block_forwards,
    };
    int result = report_summary(run->report, &summary);
    print_at_once(run);
    write_timeline(run);
    if (options->profile && run->windows > 1) {
        profile_print(run->trainer.model, run->train_seconds - run->profile_began, run->windows - 1,
                      stdout);
    }
    if (options->profile &&
        rates_report(run->device, &options->config, options->B * options->accumulation * options->T,
                     options->output_dir) != 0) {
        result = EXIT_RUN;
    }
    if (options->generate > 0) {
        print_sample(run);
    }
    if (adapters_merge(run, summary.eval_loss) != 0) {
        result = EXIT_RUN;
    }
    return result == 0 ? 0 : EXIT_RUN;
}
