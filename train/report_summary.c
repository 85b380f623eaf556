/* The bytes of a run, and the summary at its end. The contract is in report.h. */
#include <math.h>
#include <string.h>

#include "train/meter.h"
#include "train/plot.h"
#include "train/report_inside.h"

#ifdef BACKEND_CUDA
static double cudasim_accesses(void) {
    return -1;
}
static int cudasim_problems(void) {
    return 0;
}
#else
#include <cudasim.h>
#endif

/* The last object of a run has its shape. */
static int write_last(Report *report, json_t *json) {
    const RunShape *shape = &report->shape;
    const ModelConfig *config = &shape->config;
    json_t *letters =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "V", config->V, "L",
                  config->L, "NH", config->NH, "C", config->C, "B", shape->B, "T", shape->T, "K",
                  shape->K, "R", shape->R, "S", shape->S, "P", (json_int_t)shape->P);
    json_object_set_new(json, "shape", letters);
    json_object_set_new(json, "precision", json_string(precision_name(config->precision)));
    return report_write(report, json);
}

/* A line for each kind, with its share; `predicted` may be NULL. */
static void print_kinds(const MemoryUse *counted, const MemoryUse *predicted) {
    size_t total = memory_total(counted);
    printf(": %.2f MiB at its peak", memory_mib(total));
    printf(predicted != NULL ? "            counted        predicted (bytes)\n" : "\n");
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        size_t bytes = counted->bytes[kind];
        printf("  %-12s %9.2f MiB %5.1f %%", memory_kind_name((MemoryKind)kind), memory_mib(bytes),
               total > 0 ? 100.0 * (double)bytes / (double)total : 0.0);
        if (predicted != NULL) {
            printf("  %16zu %16zu%s", bytes, predicted->bytes[kind],
                   bytes == predicted->bytes[kind] ? "" : "  differs");
        }
        putchar('\n');
    }
}

static void print_memory(const Summary *summary) {
    printf("Memory occupied");
    print_kinds(&summary->peak, summary->has_prediction ? &summary->predicted : NULL);
    printf("  (and %.2f MiB of padding between tensors, outside of the budget)\n",
           memory_mib(summary->padding));
    if (summary->overhead > 0) {
        printf("  (and %.2f MiB of the GPU's own: context, loaded kernels, cuBLAS)\n",
               memory_mib(summary->overhead));
    }
}

static size_t total_of(const RankFigures *rank, bool counted) {
    return memory_total(counted ? &rank->counted : &rank->predicted);
}

/* Of several ranks, the one that takes most: it is the one that must fit. */
static int takes_most(const RankFigures *ranks, int count, bool counted) {
    int most = 0;
    for (int r = 1; r < count; r++) {
        most = total_of(&ranks[r], counted) > total_of(&ranks[most], counted) ? r : most;
    }
    return most;
}

static void print_ranks(const Summary *summary) {
    int most = takes_most(summary->ranks, summary->rank_count, true);
    if (most > 0) {
        const RankFigures *rank = &summary->ranks[most];
        printf("  (that was rank 0; rank %d takes most: %zu bytes, %zu predicted)\n", most,
               memory_total(&rank->counted), memory_total(&rank->predicted));
    } else if (summary->rank_count > 1) {
        printf("  (that was rank 0; none of the %d takes more)\n", summary->rank_count);
    }
}

/* Of rank 0, in host memory; and whether another one's is not what is predicted. */
static void print_host(const Summary *summary) {
    if (summary->ranks == NULL || memory_total(&summary->ranks[0].host) == 0) {
        return;
    }
    printf("Host memory");
    print_kinds(&summary->ranks[0].host,
                summary->has_prediction ? &summary->ranks[0].predicted_host : NULL);
    for (int r = 1; summary->has_prediction && r < summary->rank_count; r++) {
        const RankFigures *rank = &summary->ranks[r];
        if (memory_total(&rank->host) != memory_total(&rank->predicted_host)) {
            printf("  (rank %d: %zu bytes, %zu predicted  differs)\n", r, memory_total(&rank->host),
                   memory_total(&rank->predicted_host));
        }
    }
}

/* Of several ranks, the one that sends most to others. */
static void print_sent(const Summary *summary) {
    int most = 0;
    for (int r = 1; r < summary->rank_count; r++) {
        most = summary->ranks[r].sent > summary->ranks[most].sent ? r : most;
    }
    if (summary->rank_count == 1 || summary->ranks[most].sent == 0) {
        return;
    }
    const RankFigures *rank = &summary->ranks[most];
    printf("Sent to others:  %.0f bytes in an update by rank %d, none sends more", rank->sent,
           most);
    if (rank->predicted_sent > 0) {
        double more = rank->sent - rank->predicted_sent;
        bool less = more <= -0.5 && rank->short_windows;
        printf("; predicted %.0f%s", rank->predicted_sent,
               less               ? " in an update whose window is full"
               : fabs(more) < 0.5 ? ""
                                  : "  differs");
    }
    putchar('\n');
}

/* Bytes by kind, as an object. */
static json_t *by_kind(const MemoryUse *use) {
    json_t *kinds = json_object();
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        json_object_set_new(kinds, memory_kind_name((MemoryKind)kind),
                            json_integer((json_int_t)use->bytes[kind]));
    }
    return kinds;
}

/* Of each rank, in their order. */
static json_t *rank_json(const RankFigures *rank, bool has_prediction) {
    json_t *json =
        json_pack("{s:o, s:f}", "memory_by_kind", by_kind(&rank->counted), "sent", rank->sent);
    bool on_host = memory_total(&rank->host) > 0;
    if (on_host) {
        json_object_set_new(json, "host_by_kind", by_kind(&rank->host));
    }
    if (on_host && has_prediction) {
        json_object_set_new(json, "predicted_host_by_kind", by_kind(&rank->predicted_host));
    }
    if (has_prediction) {
        json_object_set_new(json, "predicted_by_kind", by_kind(&rank->predicted));
        json_object_set_new(json, "predicted_sent", json_real(rank->predicted_sent));
    }
    return json;
}

static json_t *ranks_json(const Summary *summary) {
    json_t *ranks = json_array();
    for (int r = 0; r < summary->rank_count; r++) {
        json_array_append_new(ranks, rank_json(&summary->ranks[r], summary->has_prediction));
    }
    return ranks;
}

static json_t *device_json(const Device *device) {
    return json_pack("{s:s, s:s, s:b}", "name", device->name, "note", device->note, "simulated",
                     (int)device->simulated);
}

int report_prediction(Report *report, const Device *device, const RankFigures *ranks,
                      int rank_count) {
    const MemoryUse *use = &ranks[0].predicted;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        printf("  %-12s %9.2f MiB  %16zu bytes\n", memory_kind_name((MemoryKind)kind),
               memory_mib(use->bytes[kind]), use->bytes[kind]);
    }
    printf("  %-12s %9.2f MiB  %16zu bytes\n", "total", memory_mib(memory_total(use)),
           memory_total(use));
    int most = takes_most(ranks, rank_count, false);
    if (most > 0) {
        printf("  (that is rank 0; rank %d takes most: %zu bytes)\n", most,
               total_of(&ranks[most], false));
    } else if (rank_count > 1) {
        printf("  (that is rank 0; none of the %d takes more)\n", rank_count);
    }
    json_t *all = json_array();
    for (int r = 0; r < rank_count; r++) {
        json_t *kinds = by_kind(&ranks[r].predicted);
        json_array_append_new(all, json_pack("{s:o}", "predicted_by_kind", kinds));
    }
    return write_last(report, json_pack("{s:o, s:o, s:o}", "device", device_json(device),
                                        "predicted_by_kind", by_kind(use), "ranks", all));
}

int report_measured(Report *report, const Device *device, const MemoryUse *counted,
                    const MemoryUse *predicted) {
    printf("Memory of one step");
    print_kinds(counted, predicted);
    return write_last(report,
                      json_pack("{s:o, s:o, s:o}", "device", device_json(device), "memory_by_kind",
                                by_kind(counted), "predicted_by_kind", by_kind(predicted)));
}

static void write_curve(FILE *data, const Curve *curve) {
    for (size_t i = 0; i < curve->count; i++) {
        fprintf(data, "%d %.6f\n", curve->points[i].step, curve->points[i].loss);
    }
    fputs("\n\n", data); /* gnuplot: the next block of data */
}

static void draw_loss(const Report *report, double unigram_entropy) {
    Plot plot;
    if (report->picture_path == NULL || report->train.count == 0 ||
        plot_begin(&plot, report->picture_path, "The loss by updates: training, validation", 800,
                   420) != 0) {
        return;
    }
    write_curve(plot.data, &report->train);
    write_curve(plot.data, &report->eval);
    fprintf(plot.script,
            "set title 'Loss'\nset xlabel 'updates'\nset ylabel 'nats per byte'\nset xrange [0:*]\n"
            "set border 3\nset tics nomirror out\nset key outside top center horizontal\nset grid "
            "ytics lc '#dddddd'\n"
            "plot data index 0 with lines lw 1.5 lc '#4c72b0' title 'training', \\\n"
            "     %s%g with lines dt 2 lc '#888888' title 'unigram entropy'\n",
            report->eval.count > 0
                ? "data index 1 with linespoints pt 7 ps 0.5 lc '#dd8452' title 'validation', "
                : "",
            unigram_entropy);
    if (plot_end(&plot) == 0) {
        printf("Loss curve:      %s\n", report->picture_path);
    }
}

/* In check mode silence means that all is well; here it is said. */
static void print_looked_at(void) {
    double looked = cudasim_accesses();
    if (looked > 0) {
        printf("Simulator:       it looked at %.1f million loads and stores and found ",
               1e-6 * looked);
        printf(cudasim_problems() == 0 ? "nothing wrong\n" : "%d problems, above\n",
               cudasim_problems());
    }
}

void report_check_mode(const Device *device) {
    if (device->simulated && cudasim_accesses() >= 0) {
        printf("        The simulator looks at every access: a step takes many seconds.\n");
    }
}

int report_summary(Report *report, const Summary *summary) {
    char duration[DURATION_BYTES];
    double speed = summary->seconds > 0 ? (double)summary->samples / summary->seconds : 0;
    report_break(report);
    printf("\nTime:            %s\n", duration_text(duration, summary->seconds));
    printf("Samples/second:  %.2f\n", speed);
    print_memory(summary);
    print_ranks(summary);
    print_host(summary);
    print_sent(summary);
    print_looked_at();
    if (isfinite(summary->eval_loss)) {
        printf(
            "Validation loss: %.4f nats per byte; the text's unigram entropy is %.4f (%.2f %s)\n",
            summary->eval_loss, summary->unigram_entropy,
            fabs(summary->unigram_entropy - summary->eval_loss),
            summary->eval_loss < summary->unigram_entropy ? "below" : "above");
    }
    json_t *json =
        json_pack("{s:o, s:f, s:f, s:I, s:o, s:I, s:o, s:f, s:o, s:i, s:i, s:I}", "device",
                  device_json(summary->device), "seconds", summary->seconds, "samples_per_second",
                  speed, "memory_peak", (json_int_t)memory_total(&summary->peak), "memory_by_kind",
                  by_kind(&summary->peak), "device_overhead", (json_int_t)summary->overhead,
                  "final_eval_loss", report_number(summary->eval_loss), "unigram_entropy",
                  summary->unigram_entropy, "first_loss", report_number(summary->first_loss),
                  "updates", summary->updates, "skipped", summary->skipped, "block_forwards",
                  (json_int_t)summary->block_forwards);
    if (summary->has_prediction) {
        json_object_set_new(json, "predicted_by_kind", by_kind(&summary->predicted));
    }
    if (summary->rank_count > 1) {
        json_object_set_new(json, "ranks", ranks_json(summary));
    }
    int result = write_last(report, json);
    draw_loss(report, summary->unigram_entropy);
    if (report->metrics_in_folder) { /* who names the file knows where it is */
        printf("Metrics:         %s\n", report->metrics_path);
    }
    return result;
}
