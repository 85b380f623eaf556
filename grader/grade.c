/**
 * @file grade.c
 * @brief `grade NN`: builds a submission, runs the lab's checks on it, and says what it is worth.
 * @ingroup grader
 *
 * This program never links a submission, never parses what one prints as a verdict, and never takes
 * a score from an exit status: the score is added up from the record over the planned checks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/files.h"
#include "common/lab.h"
#include "grader/command.h"
#include "grader/criterion.h"
#include "grader/record.h"
#include "grader/sandbox.h"
#include "grader/story.h"
#include "grader/submission.h"
#include "kernels/base.h"

enum { PATH = 4096, MOST_CHECKS = 64, CHECK_SECONDS = 300, CHECK_SECONDS_GPU = 3000 };
enum { BUILD_SECONDS = 180 }; /* for all files of a hand-in */

typedef struct Options {
    const char *lab;     /* "00_bytes" */
    const char *from;    /* folder of the submission */
    const char *check;   /* only this one, or these, with commas between; or NULL */
    const char *judge;   /* the lab's Criterion program */
    const char *plan;    /* labs/NN_topic/lab.json */
    const char *recipes; /* written by make */
    const char *gpu;     /* the same for a real GPU, or NULL */
    const char *cache;   /* folder for objects */
    const char *output;  /* the record */
    const char *debug;   /* leave probe and inputs of --check in this folder, for gdb; or NULL */
    const char *part; /* a file or function that is the kit's in place of the hand-in's, or NULL */
    const char *solutions; /* folder of the kit's file with that part, or NULL */
    const char *refuse; /* run nothing: the hand-in could not be read, for this reason; or NULL */
    const char *kit;    /* its version, for the record; or NULL */
    uint64_t seed;
    int min_sandbox;
    int parent; /* process to end with, or 0 */
    int jobs;   /* checks side by side */
} Options;

static bool grade_in(const Options *options, const char *work, const char *secret,
                     const json_t *plan);
static void folder_of_lab(const Options *options, char folder[PATH]);
static bool grade(const Options *options, const char *work, const char *secret, json_t *record);
static void run_checks(const Options *options, json_t *record, const char *folder,
                       const char *probe);
static void take_row(json_t *record, const Judge *judge, const char *check);
static void set_all(json_t *record, RowState state, const char *message);
static json_t *load_plan(const char *judge, const char *lab);
static bool write_seed(const char *folder, const char *seed);
static bool only(json_t *record, const char *checks);
static bool asked(const char *checks, const char *name);
static void build_for_gpu(const Options *options, const json_t *lab, const char *work);
static bool leave_programs(const json_t *recipes, const char *from, const char *folder);
static bool make_folders(char folder[PATH], char work[PATH], char secret[PATH]);
static void remove_folder(const char *folder);
static bool ends_with(pid_t parent);
static bool read_options(Options *options, int argc, char **argv);
static void read_seed(Options *options, const char *text);
static int usage(const char *program);

int main(int argc, char **argv) {
    Options options = {.jobs = 1};
    if (!read_options(&options, argc, argv)) {
        return usage(argv[0]);
    }
    if (!ends_with(options.parent)) {
        return EXIT_RUN;
    }
    /* Nobody of the same user may look into this process. */
    prctl(PR_SET_DUMPABLE, 0);
    if (sandbox_level() < options.min_sandbox) {
        fprintf(stderr, "grade: the sandbox reaches level %s, but level %d is required\n",
                sandbox_describe(), options.min_sandbox);
        return EXIT_RUN;
    }
    char folder[PATH], work[PATH], secret[PATH];
    json_t *plan = load_plan(options.judge, options.plan);
    if (plan == NULL || !make_folders(folder, work, secret)) {
        return EXIT_RUN;
    }
    bool good = grade_in(&options, work, secret, plan);
    json_decref(plan);
    remove_folder(folder);
    return good ? 0 : EXIT_RUN;
}

/* Everything, once there are folders to work in. @return whether there are full points, or with
   --debug whether the probe is there */
static bool grade_in(const Options *options, const char *work, const char *secret,
                     const json_t *plan) {
    char seed[20];
    snprintf(seed, sizeof seed, "%016llx", (unsigned long long)options->seed);
    json_t *record = record_new(options->lab, options->from, plan);
    if (!only(record, options->check)) {
        json_decref(record);
        return false;
    }
    json_object_set_new(record, "seed", json_string(seed));
    json_object_set_new(record, "sandbox", json_string(sandbox_describe()));
    if (options->kit != NULL) {
        json_object_set_new(record, "kit", json_string(options->kit));
    }
    if (options->part != NULL) {
        json_object_set_new(record, "part", json_string(options->part));
    }
    /* Without a place for the record nothing is graded: no row could say why. */
    if (!write_seed(secret, seed) || !record_write(record, options->output)) {
        json_decref(record);
        return false;
    }
    bool good = grade(options, work, secret, record);
    record_add_up(record);
    good = record_write(record, options->output) && good;
    if (options->debug == NULL) {
        record_print(record, stdout);
        good = stdout_flush() == 0 && json_is_true(json_object_get(record, "full")) && good;
    }
    json_decref(record);
    return good;
}

/* That of its lab.json: files without a task lie there, too. */
static void folder_of_lab(const Options *options, char folder[PATH]) {
    const char *end = strrchr(options->plan, '/');
    snprintf(folder, PATH, "%.*s", end != NULL ? (int)(end - options->plan) : 1,
             end != NULL ? options->plan : ".");
}

static bool grade(const Options *options, const char *work, const char *secret, json_t *record) {
    if (options->refuse != NULL) {
        set_all(record, ROW_BUILD_ERROR, options->refuse);
        return true;
    }
    json_t *lab = file_load_json(options->plan), *recipes = file_load_json(options->recipes);
    if (lab == NULL || recipes == NULL) {
        json_decref(lab);
        json_decref(recipes);
        return false;
    }
    char given[PATH];
    folder_of_lab(options, given);
    Submission submission = {
        lab,   recipes,       options->from,      work, options->cache, now() + BUILD_SECONDS,
        false, options->part, options->solutions, given};
    Built built = submission_build(&submission);
    json_object_set(record, "objects", built.objects);
    if (built.good && options->debug != NULL) {
        built.good = leave_programs(recipes, work, options->debug);
    }
    if (built.good && options->gpu != NULL && options->debug == NULL) {
        build_for_gpu(options, lab, work);
    }
    if (built.absent != NULL) {
        setenv("GRADE_ABSENT", built.absent, 1);
    }
    if (built.good) {
        run_checks(options, record, secret, built.probe);
    } else {
        set_all(record, ROW_BUILD_ERROR, built.message != NULL ? built.message : "");
    }
    if (!built.good && options->debug != NULL) {
        fprintf(stderr, "%s\n", built.message != NULL ? built.message : "it does not build");
    }
    bool good = built.good;
    free(built.message);
    json_decref(built.objects);
    json_decref(lab);
    json_decref(recipes);
    return good || options->debug == NULL;
}

/* Runs the checks whose rows are in the record. */
static void run_checks(const Options *options, json_t *record, const char *folder,
                       const char *probe) {
    const char *checks[MOST_CHECKS];
    bool gpu = getenv("GRADE_DEVICE") != NULL;
    Judge judge = {options->judge, folder, probe, gpu ? CHECK_SECONDS_GPU : CHECK_SECONDS,
                   options->jobs};
    int count = 0;
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        CHECK(count < MOST_CHECKS, "more than %d checks", MOST_CHECKS);
        checks[count++] = json_string_value(json_object_get(row, "name"));
    }
    criterion_run(&judge, checks, count);
    for (int k = 0; k < count; k++) {
        take_row(record, &judge, checks[k]);
    }
    story_tell(record);
}

/* Takes over what a check has left; else why it has left nothing. */
static void take_row(json_t *record, const Judge *judge, const char *check) {
    char path[PATH];
    json_t *row = json_load_file(criterion_row(judge, check, path, sizeof path), 0, NULL);
    if (row == NULL) {
        char *fault = criterion_fault(judge), *clean = record_clean(fault);
        row = json_pack("{s:s}", "message", clean);
        CHECK(row != NULL, "no memory for a row");
        free(clean);
        free(fault);
    }
    json_object_update(record_row(record, check), row);
    json_decref(row);
}

static void set_all(json_t *record, RowState state, const char *message) {
    char *clean = record_clean(message);
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        json_object_set_new(row, "state", json_string(row_state_name(state)));
        json_object_set_new(row, "message", json_string(i == 0 ? clean : ""));
    }
    free(clean);
}

/* ---- the judge's plan ------------------------------------------------------------------------ */

/* The plan, as `JUDGE --plan LAB.JSON` prints it. */
static json_t *load_plan(const char *judge, const char *lab) {
    char *text;
    bool good = command_run((const char *const[]){judge, "--plan", lab, NULL}, &text);
    json_t *plan = good ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (plan == NULL) {
        fprintf(stderr, "grade: %s gives no plan\n", judge);
    }
    return plan;
}

static bool write_seed(const char *folder, const char *seed) {
    char path[PATH + 10];
    snprintf(path, sizeof path, "%s/seed", folder);
    FILE *file = file_begin(path);
    if (file == NULL) {
        return false;
    }
    fprintf(file, "%s\n", seed);
    return file_end(file, path, true) == 0;
}

/* With --check only those rows remain, and no score is claimed for the others. */
static bool only(json_t *record, const char *checks) {
    json_t *rows = json_array(), *row;
    size_t i;
    json_array_foreach(json_object_get(record, "checks"), i, row) {
        if (asked(checks, json_string_value(json_object_get(row, "name")))) {
            json_array_append(rows, row);
        }
    }
    bool some = json_array_size(rows) > 0;
    if (!some) {
        fprintf(stderr, "grade: there is no check %s; there are", checks);
        json_array_foreach(json_object_get(record, "checks"), i, row) {
            fprintf(stderr, " %s", json_string_value(json_object_get(row, "name")));
        }
        fprintf(stderr, "\n");
    }
    json_object_set_new(record, "checks", rows);
    return some;
}

/* Whether a check is among those that were asked for. */
static bool asked(const char *checks, const char *name) {
    size_t length = strlen(name);
    for (const char *p = checks; p != NULL; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, length) == 0 && (p[length] == ',' || p[length] == '\0')) {
            return true;
        }
    }
    return checks == NULL;
}

/* ---- more probes ----------------------------------------------------------------------------- */

/* The probe for a real GPU. Where it cannot be built, the rows that need it say so by crashing. */
static void build_for_gpu(const Options *options, const json_t *lab, const char *work) {
    char folder[PATH + 10];
    snprintf(folder, sizeof folder, "%s/gpu", work);
    json_t *recipes = file_load_json(options->gpu);
    if (recipes == NULL || mkdir(folder, 0755) != 0) {
        json_decref(recipes);
        return;
    }
    char given[PATH];
    folder_of_lab(options, given);
    Submission submission = {
        lab,  recipes, options->from, folder, options->cache, now() + BUILD_SECONDS,
        true, NULL,    NULL,          given};
    Built built = submission_build(&submission);
    if (!built.good) {
        fprintf(stderr, "grade: with nvcc: %s\n", built.message != NULL ? built.message : "");
    }
    setenv("GRADE_GPU_PROBE", built.probe, 1);
    free(built.message);
    json_decref(built.objects);
    json_decref(recipes);
}

/* Puts the programs where gdb is started: check_run() leaves the rest there. */
static bool leave_programs(const json_t *recipes, const char *from, const char *folder) {
    char path[PATH + 30], to[PATH + 30];
    const char *name;
    json_t *text;
    bool good = folder_make(folder) == 0 && setenv("GRADE_DEBUG", folder, 1) == 0;
    json_object_foreach(json_object_get(recipes, "link"), name, text) {
        snprintf(path, sizeof path, "%s/%s", from, name);
        snprintf(to, sizeof to, "%s/%s", folder, name);
        good = good && (access(path, F_OK) != 0 || file_copy(path, to) == 0);
    }
    return good;
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Two folders, in $TMPDIR: one in which a submission is built, one that it never sees. */
static bool make_folders(char folder[PATH], char work[PATH], char secret[PATH]) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, PATH, "%s/grade-XXXXXX", temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL) {
        file_error(folder, "cannot make this folder");
        return false;
    }
    bool fits = snprintf(work, PATH, "%s/work", folder) < PATH &&
                snprintf(secret, PATH, "%s/secret", folder) < PATH;
    if (!fits || chmod(folder, 0711) != 0 || mkdir(work, 0755) != 0 || mkdir(secret, 0700) != 0) {
        file_error(folder, "cannot make folders in it");
        remove_folder(folder);
        return false;
    }
    return true;
}

static void remove_folder(const char *folder) {
    if (!command_remove(folder)) {
        fprintf(stderr, "grade: could not remove %s\n", folder);
    }
}

/* Ends when the process that grades a class does, however that ends; it may be gone already. */
static bool ends_with(pid_t parent) {
    return parent == 0 || (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent);
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_options(Options *options, int argc, char **argv) {
    static const struct option names[] = {
        {"lab", 1, NULL, 'l'},         {"from", 1, NULL, 'f'},
        {"check", 1, NULL, 'c'},       {"judge", 1, NULL, 'j'},
        {"plan", 1, NULL, 'p'},        {"recipes", 1, NULL, 'r'},
        {"cache", 1, NULL, 'a'},       {"output", 1, NULL, 'o'},
        {"seed", 1, NULL, 's'},        {"junit", 1, NULL, 'u'},
        {"min-sandbox", 1, NULL, 'm'}, {"debug", 1, NULL, 'b'},
        {"gpu-recipes", 1, NULL, 'g'}, {"refuse", 1, NULL, 'e'},
        {"parent", 1, NULL, 'P'},      {"kits-part", 1, NULL, 'k'},
        {"solutions", 1, NULL, 'S'},   {"kit", 1, NULL, 'K'},
        {"jobs", 1, NULL, 'J'},        {NULL, 0, NULL, 0},
    };
    if (getrandom(&options->seed, sizeof options->seed, 0) != sizeof options->seed) {
        return false;
    }
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        const char **texts[] = {
            ['l'] = &options->lab,       ['f'] = &options->from,   ['c'] = &options->check,
            ['j'] = &options->judge,     ['p'] = &options->plan,   ['r'] = &options->recipes,
            ['a'] = &options->cache,     ['o'] = &options->output, ['b'] = &options->debug,
            ['e'] = &options->refuse,    ['g'] = &options->gpu,    ['k'] = &options->part,
            ['S'] = &options->solutions, ['K'] = &options->kit};
        int *numbers['z'] = {
            ['m'] = &options->min_sandbox, ['P'] = &options->parent, ['J'] = &options->jobs};
        char none[] = "", *end = none;
        if (c == 's') {
            read_seed(options, optarg);
        } else if (numbers[c] != NULL) {
            *numbers[c] = (int)strtol(optarg, &end, 10);
        } else if (c == 'u') {
            fprintf(stderr, "grade: --junit is gone: tools/export.py junit RECORD --output FILE\n");
            exit(EXIT_USAGE);
        } else if (c == '?' || c >= (int)(sizeof texts / sizeof *texts)) {
            return false;
        } else {
            *texts[c] = *optarg != '\0' ? optarg : NULL;
        }
        if (*end != '\0') {
            fprintf(stderr, "grade: %s is not a number\n", optarg);
            exit(EXIT_USAGE);
        }
    }
    return optind == argc && options->jobs >= 1 && options->lab && options->from &&
           options->judge && options->plan && options->recipes && options->cache &&
           options->output && (options->part == NULL) == (options->solutions == NULL);
}

/* 64 bits in hexadecimal: the text, or for "-" a line of standard input. Ends the program where
   it is not one, without the usage: a student has typed a setting of make. */
static void read_seed(Options *options, const char *text) {
    char line[40], *end = line;
    if (strcmp(text, "-") == 0) {
        text = fgets(line, sizeof line, stdin) != NULL ? line : "";
    }
    errno = 0;
    options->seed = strtoull(text, &end, 16);
    if (errno != 0 || end == text || strspn(end, "\n") != strlen(end)) {
        fprintf(stderr, "grade: the seed is not a hexadecimal number of 64 bits\n");
        exit(EXIT_USAGE);
    }
}

static int usage(const char *program) {
    fprintf(
        stderr,
        "usage: %s --lab NN_topic --from DIR --judge PROGRAM --plan FILE --recipes FILE\n"
        "          --cache DIR --output FILE [--check NAME] [--seed HEX] [--min-sandbox LEVEL]\n"
        "          [--debug DIR] [--gpu-recipes FILE] [--refuse REASON] [--parent PID]\n"
        "          [--kits-part FILE|FUNCTION --solutions DIR] [--kit VERSION] [--jobs N]\n"
        "  --seed - reads the seed from standard input: anyone can see arguments\n"
        "  --kits-part is taken from --solutions in place of the hand-in's: such a run earns "
        "nothing\n",
        program);
    return EXIT_USAGE;
}
