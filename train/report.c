/* Progress while a run goes on, and the summary at its end. The contract is in report.h. */
#include "train/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/files.h"
#include "train/meter.h"
#include "train/plot.h"

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

enum { SILENCE = 5 }; /* seconds without a line, after which there is one in between */

typedef struct Point {
    int step;
    double loss;
} Point;

typedef struct Curve {
    Point *points;
    size_t count, room;
} Curve;

struct Report {
    char *metrics_path, *picture_path; /* or NULL: not written */
    FILE *metrics;
    bool terminal, line_open;
    int first_step;
    double began, told; /* the last line */
    RunShape shape;
    Curve train, eval;
};

static void add_point(Curve *curve, int step, double loss) {
    if (curve->count == curve->room) {
        curve->room = curve->room == 0 ? 256 : 2 * curve->room;
        curve->points = realloc(curve->points, curve->room * sizeof *curve->points);
        CHECK(curve->points != NULL, "no memory for %zu points", curve->room);
    }
    curve->points[curve->count++] = (Point){step, loss};
}

/* A line of an older run that this one goes on from: keeps it in `file` and in the curves. */
static void keep_line(Report *report, const char *line, FILE *file) {
    json_error_t error;
    json_t *json = json_loads(line, 0, &error);
    const json_t *step = json_object_get(json, "step"), *loss = json_object_get(json, "loss");
    const json_t *eval = json_object_get(json, "eval_loss");
    if (json_is_integer(step) && json_integer_value(step) <= report->first_step) {
        fputs(line, file);
        if (json_is_number(loss)) {
            add_point(&report->train, (int)json_integer_value(step), json_number_value(loss));
        }
        if (json_is_number(eval)) {
            add_point(&report->eval, (int)json_integer_value(step), json_number_value(eval));
        }
    }
    json_decref(json);
}

static int open_metrics(Report *report) {
    FILE *file = file_begin(report->metrics_path);
    if (file == NULL) {
        return -1;
    }
    FILE *older = report->first_step > 0 ? fopen(report->metrics_path, "r") : NULL;
    if (older != NULL) {
        char *line = NULL;
        size_t room = 0;
        while (getline(&line, &room, older) > 0) {
            keep_line(report, line, file);
        }
        free(line);
        fclose(older);
    }
    if (file_end(file, report->metrics_path, true) != 0) {
        return -1;
    }
    report->metrics = fopen(report->metrics_path, "a");
    return report->metrics != NULL ? 0 : file_error(report->metrics_path, "cannot write");
}

Report *report_new(const char *output_dir, const char *metrics, int first_step) {
    Report *report = calloc(1, sizeof *report);
    CHECK(report != NULL, "no memory for a few bytes");
    report->terminal = isatty(STDOUT_FILENO);
    report->first_step = first_step;
    report->began = report->told = now();
    if (metrics != NULL) {
        report->metrics_path = strdup(metrics);
    }
    if (output_dir != NULL) {
        report->picture_path = path_join(output_dir, "loss.svg");
        if (metrics == NULL) {
            report->metrics_path = path_join(output_dir, "metrics.jsonl");
        }
    }
    if (report->metrics_path != NULL && open_metrics(report) != 0) {
        report_free(report);
        return NULL;
    }
    return report;
}

void report_shape(Report *report, const RunShape *shape) {
    report->shape = *shape;
}

void report_in_lines(Report *report) {
    report->terminal = false;
}

void report_free(Report *report) {
    if (report == NULL) {
        return;
    }
    report_break(report);
    if (report->metrics != NULL) {
        fclose(report->metrics);
    }
    free(report->metrics_path);
    free(report->picture_path);
    free(report->train.points);
    free(report->eval.points);
    free(report);
}

/* Writes one line to metrics.jsonl, and it is there: each line is flushed. */
static int write_line(Report *report, json_t *json) {
    int result = 0;
    CHECK(json != NULL, "no memory for a line");
    if (report->metrics != NULL) {
        bool good = json_dumpf(json, report->metrics, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
        good = fputc('\n', report->metrics) != EOF && good;
        good = fflush(report->metrics) == 0 && good;
        result = good ? 0 : file_error(report->metrics_path, "cannot write");
    }
    json_decref(json);
    return result;
}

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
    return write_line(report, json);
}

/* JSON has no NaN and no infinity: they become null. */
static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* "2^24"; a scale that is not a power of two as the number. */
static char *scale_text(char text[32], double scale) {
    int power;
    if (frexp(scale, &power) == 0.5) {
        snprintf(text, 32, "2^%d", power - 1);
    } else {
        snprintf(text, 32, "%g", scale);
    }
    return text;
}

static void line_is_out(Report *report) {
    fflush(stdout);
    report->line_open = report->terminal;
    report->told = now();
}

static double seconds_left(const Report *report, int step, int steps) {
    int done = step - report->first_step;
    return done > 0 ? (now() - report->began) / done * (steps - step) : (double)NAN;
}

void report_between(Report *report, int step, int steps) {
    char left[DURATION_BYTES];
    if (now() - report->told > SILENCE) {
        printf("%sstep %d/%d  left %s%s", report->terminal ? "\r\033[K" : "", step, steps,
               duration_text(left, seconds_left(report, step, steps)),
               report->terminal ? "" : "\n");
        line_is_out(report);
    }
}

int report_progress(Report *report, const Progress *progress) {
    char left[DURATION_BYTES], scale[48] = "", power[32];
    double seconds = seconds_left(report, progress->step, progress->steps);
    if (progress->loss_scale > 0) {
        snprintf(scale, sizeof scale, "  scale %s",
                 scale_text(power, (double)progress->loss_scale));
    }
    printf("%sstep %d/%d  loss %.4f  norm %.3f  lr %.2e%s  %.0f tokens/s  memory %.1f/%.1f MiB  "
           "left %s%s",
           report->terminal ? "\r\033[K" : "", progress->step, progress->steps, progress->loss,
           (double)progress->grad_norm, (double)progress->learning_rate, scale,
           progress->tokens_per_second, memory_mib(progress->memory_now),
           memory_mib(progress->memory_peak), duration_text(left, seconds),
           report->terminal ? "" : "\n");
    line_is_out(report);
    add_point(&report->train, progress->step, progress->loss);
    json_t *json =
        json_pack("{s:i, s:o, s:o, s:f, s:f, s:I, s:I}", "step", progress->step, "loss",
                  number(progress->loss), "grad_norm", number((double)progress->grad_norm),
                  "learning_rate", (double)progress->learning_rate, "tokens_per_second",
                  progress->tokens_per_second, "memory_now", (json_int_t)progress->memory_now,
                  "memory_peak", (json_int_t)progress->memory_peak);
    if (progress->loss_scale > 0) {
        json_object_set_new(json, "loss_scale", number((double)progress->loss_scale));
    }
    return write_line(report, json);
}

int report_scale(Report *report, int step, double before, double scale) {
    char from[32], to[32];
    report_break(report);
    printf("step %d  good steps in a row: the loss scale rises from %s to %s\n", step,
           scale_text(from, before), scale_text(to, scale));
    fflush(stdout);
    return write_line(report, json_pack("{s:i, s:f}", "step", step, "loss_scale", scale));
}

int report_skip(Report *report, int step, double before, double scale) {
    char from[32], to[32];
    report_break(report);
    printf("step %d  skipped: a gradient is not finite", step);
    if (scale > 0) {
        printf(scale < before ? "; the loss scale falls from %s to %s"
                              : "; the loss scale stays %s",
               scale_text(from, before), scale_text(to, scale));
    }
    putchar('\n');
    fflush(stdout);
    return write_line(
        report, json_pack("{s:i, s:b, s:f}", "step", step, "skipped", 1, "loss_scale", scale));
}

int report_eval(Report *report, int step, double loss) {
    report_break(report);
    printf("step %d  validation loss %.4f nats per byte\n", step, loss);
    add_point(&report->eval, step, loss);
    return write_line(report, json_pack("{s:i, s:o}", "step", step, "eval_loss", number(loss)));
}

void report_break(Report *report) {
    if (report->line_open) {
        putchar('\n');
        report->line_open = false;
    }
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

/* Bytes by kind, as an object. */
static json_t *by_kind(const MemoryUse *use) {
    json_t *kinds = json_object();
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        json_object_set_new(kinds, memory_kind_name((MemoryKind)kind),
                            json_integer((json_int_t)use->bytes[kind]));
    }
    return kinds;
}

static json_t *device_json(const Device *device) {
    return json_pack("{s:s, s:s, s:b}", "name", device->name, "note", device->note, "simulated",
                     (int)device->simulated);
}

int report_prediction(Report *report, const Device *device, const MemoryUse *use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        printf("  %-12s %9.2f MiB  %16zu bytes\n", memory_kind_name((MemoryKind)kind),
               memory_mib(use->bytes[kind]), use->bytes[kind]);
    }
    printf("  %-12s %9.2f MiB  %16zu bytes\n", "total", memory_mib(memory_total(use)),
           memory_total(use));
    return write_last(report, json_pack("{s:o, s:o}", "device", device_json(device),
                                        "predicted_by_kind", by_kind(use)));
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
    print_looked_at();
    if (isfinite(summary->eval_loss)) {
        printf(
            "Validation loss: %.4f nats per byte; the text's unigram entropy is %.4f (%.2f %s)\n",
            summary->eval_loss, summary->unigram_entropy,
            fabs(summary->unigram_entropy - summary->eval_loss),
            summary->eval_loss < summary->unigram_entropy ? "below" : "above");
    }
    json_t *json = json_pack(
        "{s:o, s:f, s:f, s:I, s:o, s:I, s:o, s:f, s:o, s:i, s:i, s:I}", "device",
        device_json(summary->device), "seconds", summary->seconds, "samples_per_second", speed,
        "memory_peak", (json_int_t)memory_total(&summary->peak), "memory_by_kind",
        by_kind(&summary->peak), "device_overhead", (json_int_t)summary->overhead,
        "final_eval_loss", number(summary->eval_loss), "unigram_entropy", summary->unigram_entropy,
        "first_loss", number(summary->first_loss), "updates", summary->updates, "skipped",
        summary->skipped, "block_forwards", (json_int_t)summary->block_forwards);
    if (summary->has_prediction) {
        json_object_set_new(json, "predicted_by_kind", by_kind(&summary->predicted));
    }
    int result = write_last(report, json);
    draw_loss(report, summary->unigram_entropy);
    if (report->metrics != NULL) {
        printf("Metrics:         %s\n", report->metrics_path);
    }
    return result;
}
