/* One check, from its inputs to its row: seeds, tensors to give and to expect. The contract is in
   check.h; check_run.c runs the probe, check_compare.c compares. */
#define _GNU_SOURCE
#include "grader/check.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/lab.h"
#include "common/text.h"
#include "grader/check_state.h"
#include "grader/draws.h"
#include "grader/record.h"
#include "kernels/base.h"

enum { MOST_CHECKS = 64 };

/* ---- the plan -------------------------------------------------------------------------------- */

static const CheckPlan *plans[MOST_CHECKS];
static int plan_count;

void check_register(const CheckPlan *plan) {
    CHECK(plan_count < MOST_CHECKS, "more than %d checks", MOST_CHECKS);
    int at = plan_count++;
    for (; at > 0 && plans[at - 1]->order > plan->order; at--) {
        plans[at] = plans[at - 1];
    }
    plans[at] = plan;
}

static const char *const visibilities[] = {[VISIBLE_ALWAYS] = "always",
                                           [VISIBLE_AFTER_DUE_DATE] = "after_due_date",
                                           [VISIBLE_NEVER] = "never"};

/* Where a check brings its points along, those; otherwise those of the lab's lab.json. */
static double points_of(const CheckPlan *plan, const json_t *listed, const char *path) {
    const json_t *points = json_object_get(listed, plan->name);
    if (plan->points < 0 && !json_is_number(points)) {
        fprintf(stderr, "judge: %s gives no points for the check %s\n", path, plan->name);
        exit(EXIT_USAGE);
    }
    return plan->points < 0 ? json_number_value(points) : plan->points;
}

/* A name in lab.json that no check has: its points could never be earned. */
static void expect_checks(const json_t *plan, json_t *listed, const char *path) {
    const char *name;
    json_t *points, *row;
    json_object_foreach(listed, name, points) {
        size_t i;
        bool found = false;
        json_array_foreach(plan, i, row) {
            found = found || strcmp(json_string_value(json_object_get(row, "name")), name) == 0;
        }
        if (!found) {
            fprintf(stderr, "judge: %s gives points for %s, and no check has that name\n", path,
                    name);
            exit(EXIT_USAGE);
        }
    }
}

static int print_plan(const char *path) {
    json_error_t error;
    json_t *lab = json_load_file(path, 0, &error), *plan = json_array();
    json_t *listed = json_object_get(lab, "points");
    if (listed == NULL) {
        fprintf(stderr, "judge: %s: %s\n", path,
                lab == NULL ? error.text
                            : "there are no \"points\", which say what each check is worth");
        return EXIT_USAGE;
    }
    for (int i = 0; i < plan_count; i++) {
        json_array_append_new(plan,
                              json_pack("{s:s, s:f, s:s, s:s}", "name", plans[i]->name, "points",
                                        points_of(plans[i], listed, path), "title", plans[i]->title,
                                        "visibility", visibilities[plans[i]->visibility]));
    }
    expect_checks(plan, listed, path);
    int failed = json_dumpf(plan, stdout, JSON_INDENT(1));
    printf("\n");
    json_decref(plan);
    json_decref(lab);
    return failed != 0;
}

/* Criterion's own main(), but for --plan LAB.JSON and --draws N [CHECK]. */
int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--plan") == 0) {
        return print_plan(argv[2]);
    }
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "--draws") == 0) {
        int draws = (int)strtol(argv[2], NULL, 10);
        return draws > 0 ? draws_make(plans, plan_count, draws, argv[3]) > 0 : EXIT_USAGE;
    }
    struct criterion_test_set *tests = criterion_initialize();
    int failed = 0;
    if (criterion_handle_args(argc, argv, true)) {
        failed = !criterion_run_all_tests(tests);
    }
    criterion_finalize(tests);
    return failed;
}

/* ---- begin and end --------------------------------------------------------------------------- */

const char *check_folder(void) {
    const char *path = getenv("GRADE_FOLDER");
    CHECK(path != NULL, "checks are run by `make gradeNN`, which knows a private folder");
    return path;
}

static uint64_t read_seed(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/seed", check_folder());
    FILE *file = fopen(path, "r");
    unsigned long long seed = 0;
    CHECK(file != NULL && fscanf(file, "%llx", &seed) == 1, "%s has no seed", path);
    fclose(file);
    return seed;
}

/* A check that comes to no end leaves no row. */
static void limit_time(void) {
    const char *seconds = getenv("GRADE_SECONDS");
    alarm(seconds != NULL ? (unsigned)strtoul(seconds, NULL, 10) : 0);
}

/* oneDNN writes its kernels when a program first calls it: that takes forty ms for vectors of 512
   bits, more than most checks compute, and fifteen for those of 256. What the judge computes by the
   kit, to compare bits, must come of the same kernels as what the probe does. */
static void take_short_kernels(Check *check) {
    check_environment(check, "ONEDNN_MAX_CPU_ISA=AVX2");
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
}

Check *check_begin(const CheckPlan *plan) {
    Check *check = calloc(1, sizeof *check);
    CHECK(check != NULL, "no memory for a check");
    const Draw *draw = draw_now();
    uint64_t seed = draw != NULL ? draw_seed(draw) : read_seed();
    limit_time();
    check->plan = plan;
    check->in = wire_new();
    check->out = wire_new();
    check->pictures = json_array();
    check->suspicion = suspicion_new();
    check->rng = rng_new(seed ^ hash_text(plan->name), RNG_DATA); /* each has its own */
    check->state = ROW_PASS;
    check->memory_limit = (size_t)2 << 30;
    take_short_kernels(check);
    return check;
}

/* Of the judge, not of the probe: it must not grow with the class. */
static json_int_t own_peak_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (json_int_t)usage.ru_maxrss : 0;
}

struct CheckEnd {
    RowState state;
    char message[CHECK_TEXT], mistake[CHECK_TEXT];
    char *text; /* owned */
};

CheckEnd *check_set_end_aside(Check *check) {
    CheckEnd *end = malloc(sizeof *end);
    CHECK(end != NULL, "no memory for the end of a check");
    end->state = check->state;
    end->text = check->text;
    memcpy(end->message, check->message, sizeof end->message);
    memcpy(end->mistake, check->mistake, sizeof end->mistake);
    check->state = ROW_PASS;
    check->text = NULL;
    check->message[0] = check->mistake[0] = '\0';
    return end;
}

void check_settle_end(Check *check, CheckEnd *end, bool holds) {
    if (holds) {
        free(check->text);
        check->state = end->state;
        check->text = end->text;
        memcpy(check->message, end->message, sizeof check->message);
        memcpy(check->mistake, end->mistake, sizeof check->mistake);
    } else {
        free(end->text);
        check->state = ROW_PASS;
        check->message[0] = check->mistake[0] = '\0';
    }
    free(end);
}

bool check_lost(const Check *check) {
    return check->state != ROW_PASS;
}

static void write_row(const Check *check, json_t *suspects) {
    char path[4096];
    snprintf(path, sizeof path, "%s/row-%s.json", check_folder(), check->plan->name);
    char *message = record_clean(check->message), *mistake = record_clean(check->mistake);
    text_nan(message);
    text_nan(mistake);
    char *text = record_clean(check->text != NULL ? check->text : "");
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:I, s:I, s:i}", "name", check->plan->name,
                  "state", row_state_name(check->state), "message", message, "mistake", mistake,
                  "output", text, "seconds", check->seconds, "cpu_seconds", check->cpu_seconds,
                  "peak_bytes", (json_int_t)check->peak_bytes, "judge_bytes", own_peak_bytes(),
                  "sandbox_level", check->level);
    json_object_set(row, "timelines", check->pictures);
    json_object_set(row, "suspects", suspects);
    json_object_set_new(row, "after", json_string(check->after));
    json_object_set_new(row, "nearest", json_real(round(check->nearest * 1e4) / 1e4));
    CHECK(row != NULL && record_write(row, path), "cannot write %s", path);
    json_decref(row);
    free(message);
    free(mistake);
    free(text);
}

void check_end(Check *check) {
    if (check->state == ROW_PASS && check->compared == 0) {
        check->state = ROW_GRADER_ERROR;
        snprintf(check->message, sizeof check->message, "the check has compared nothing");
    }
    bool drawn = draw_now() != NULL;
    if (!drawn) {
        json_t *suspects = check_settle(check);
        if (!row_is_told(check->state, check->message, check->mistake)) {
            check->state = ROW_GRADER_ERROR;
            snprintf(check->message, sizeof check->message,
                     "the check is lost, and the judge says no word about it");
        }
        write_row(check, suspects);
        json_decref(suspects);
    }
    bool pass = drawn || check->state == ROW_PASS || check->state == ROW_NOT_RUN;
    char name[100];
    snprintf(name, sizeof name, "%s", check->plan->name);
    wire_free(check->in);
    wire_free(check->out);
    for (int i = 0; i < check->memory_count; i++) {
        free(check->memory[i]);
    }
    free(check->memory);
    free(check->text);
    free(check->events);
    json_decref(check->pictures);
    suspicion_free(check->suspicion);
    free(check);
    cr_assert(pass, "%s", name);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static void *keep(Check *check, size_t bytes) {
    void *p = calloc(1, bytes > 0 ? bytes : 1);
    check->memory = realloc(check->memory, (size_t)(check->memory_count + 1) * sizeof(void *));
    CHECK(p != NULL && check->memory != NULL, "no memory for %zu bytes", bytes);
    check->memory[check->memory_count++] = p;
    return p;
}

int check_int(Check *check, int low, int high) {
    return low + (int)rng_below(&check->rng, (uint64_t)(high - low + 1));
}

float *check_normal(Check *check, size_t n, double scale, Precision precision) {
    float *values = keep(check, n * sizeof *values);
    rng_normal(&check->rng, values, n, (float)scale);
    for (size_t i = 0; i < n; i++) {
        values[i] = check_round(values[i], precision);
    }
    return values;
}

double *check_doubles(Check *check, size_t n) {
    return keep(check, n * sizeof(double));
}

void check_give(Check *check, const char *name, WireType type, const void *values, size_t count) {
    CHECK(values != NULL || count == 0, "%s is given without values", name);
    wire_add(check->in, name, type, values, count);
}

void check_give_again(Check *check, const char *name, WireType type, const void *values,
                      size_t count) {
    wire_change(check->in, name, type, values, count);
}

void check_give_config(Check *check, const ModelConfig *config) {
    check_give(check, "config", WIRE_BYTES, config, sizeof *config);
}

void check_want(Check *check, const char *name, WireType type, size_t count) {
    wire_add(check->out, name, type, NULL, count);
}

void check_environment(Check *check, const char *setting) {
    char name[100];
    snprintf(name, sizeof name, "%.*s=", (int)strcspn(setting, "="), setting);
    int i = 0;
    while (i < check->settings && strncmp(check->setting[i], name, strlen(name)) != 0) {
        i++;
    }
    CHECK(i < CHECK_SETTINGS, "more than %d settings", CHECK_SETTINGS);
    snprintf(check->setting[i], sizeof check->setting[i], "%s", setting);
    check->settings = i < check->settings ? check->settings : i + 1;
}

void check_memory(Check *check, size_t bytes) {
    check->memory_limit = bytes;
}
