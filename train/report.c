/* Progress while a run goes on. The contract is in report.h. */
#include "train/report_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/files.h"
#include "train/meter.h"

enum { SILENCE = 5 }; /* seconds without a line, after which there is one in between */

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
            report->metrics_in_folder = true;
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
int report_write(Report *report, json_t *json) {
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

json_t *report_number(double value) {
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
    json_t *json = json_pack(
        "{s:i, s:o, s:o, s:f, s:f, s:I, s:I}", "step", progress->step, "loss",
        report_number(progress->loss), "grad_norm", report_number((double)progress->grad_norm),
        "learning_rate", (double)progress->learning_rate, "tokens_per_second",
        progress->tokens_per_second, "memory_now", (json_int_t)progress->memory_now, "memory_peak",
        (json_int_t)progress->memory_peak);
    if (progress->loss_scale > 0) {
        json_object_set_new(json, "loss_scale", report_number((double)progress->loss_scale));
    }
    return report_write(report, json);
}

int report_scale(Report *report, int step, double before, double scale) {
    char from[32], to[32];
    report_break(report);
    printf("step %d  the loss scale rises from %s to %s, after good steps in a row\n", step,
           scale_text(from, before), scale_text(to, scale));
    fflush(stdout);
    return report_write(report, json_pack("{s:i, s:f}", "step", step, "loss_scale", scale));
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
    return report_write(
        report, json_pack("{s:i, s:b, s:f}", "step", step, "skipped", 1, "loss_scale", scale));
}

int report_eval(Report *report, int step, double loss) {
    report_break(report);
    printf("step %d  validation loss %.4f nats per byte\n", step, loss);
    add_point(&report->eval, step, loss);
    return report_write(report,
                        json_pack("{s:i, s:o}", "step", step, "eval_loss", report_number(loss)));
}

void report_break(Report *report) {
    if (report->line_open) {
        putchar('\n');
        report->line_open = false;
    }
}
