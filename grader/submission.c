/* From the files of a hand-in to its programs: which objects go into which, and their links. The
   contract is in submission.h. */
#define _GNU_SOURCE
#include "grader/submission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/files.h"
#include "grader/command.h"
#include "grader/submission_steps.h"
#include "grader/symbols.h"
#include "kernels/base.h"

enum { PATH = SUBMISSION_PATH, MOST_PROBES = 4, NAME = 200 };
/* Every call of a function that others can see goes by its name, and nothing is concluded from its
   body: another one can be put in its place. */
#define INTERPOSED "-fPIC -fsemantic-interposition"

/* ---- the probe ------------------------------------------------------------------------------- */

/* Changes symbols of an object. */
static bool change_symbols(const Submission *submission, const char *options, const char *object,
                           Built *built) {
    char changed[PATH + 10], *tool, *command;
    snprintf(changed, sizeof changed, "%s.new", object);
    CHECK(asprintf(&tool, "objcopy %s {in} {out}", options) > 0, "no memory for a command");
    command = submission_fill(tool, object, changed, "");
    SandboxResult result = submission_run(submission, command, "read");
    bool good = result.end == SANDBOX_EXIT && result.status == 0 && rename(changed, object) == 0;
    free(result.text);
    free(command);
    free(tool);
    return good || submission_fail(built, "objcopy %s failed", options);
}

/* Where the lab runs as several ranks, each has a heap of its own: see rank_heap.h. */
static bool give_heap(const Submission *submission, const char *object, Built *built) {
    return !json_is_true(json_object_get(submission->lab, "ranks")) ||
           change_symbols(submission,
                          "--redefine-sym malloc=rank_malloc --redefine-sym calloc=rank_calloc "
                          "--redefine-sym free=rank_free",
                          object, built);
}

/* Nothing of a hand-in runs before main(). */
static bool take_out(const Submission *submission, const char *file, const char *object,
                     Built *built) {
    const char *options = symbols_taken_out(file);
    return options == NULL || change_symbols(submission, options, object, built);
}

/* Whether code in an object calls a function of its own without its name, so that no other can take
   its place. */
static bool bound(const Submission *submission, const char *function, const char *object) {
    char *text = submission_list(submission, "objdump -r {in}", object), *rest = text,
         section[NAME];
    snprintf(section, sizeof section, " .text.%s", function);
    bool code = false, found = text == NULL;
    for (char *line; !found && (line = strsep(&rest, "\n")) != NULL;) {
        const char *place = strstr(line, section);
        code = strncmp(line, "RELOCATION", 10) == 0 ? strstr(line, "[.text") != NULL : code;
        found =
            code && *line != 'R' && place != NULL && strchr("+-", place[strlen(section)]) != NULL;
    }
    free(text);
    return found;
}

/* The kit's function in place of the hand-in's: there it is made weak, and of the kit's file the
   others are, so that all calls go where they would. */
static bool put_part(const Submission *submission, const json_t *hole, const char *source,
                     const char *object, FILE *objects, Built *built) {
    const char *name = json_string_value(json_object_get(hole, "file"));
    char kits[PATH], taken[NAME + 40], *others = NULL;
    size_t size;
    json_t *function;
    size_t i;
    snprintf(kits, sizeof kits, "%s/kits.o", submission->folder);
    if (bound(submission, submission->part, object)) {
        return submission_fail(built, "a call of %s is bound inside of its file", submission->part);
    }
    if (!submission_take(submission->solutions, name, source, built) ||
        !submission_compile(submission, name, source, INTERPOSED, kits, built)) {
        return false;
    }
    FILE *list_of = open_memstream(&others, &size);
    CHECK(list_of != NULL, "no memory for a list");
    json_array_foreach(json_object_get(hole, "functions"), i, function) {
        if (strcmp(json_string_value(function), submission->part) != 0) {
            fprintf(list_of, " --weaken-symbol=%s", json_string_value(function));
        }
    }
    fclose(list_of);
    snprintf(taken, sizeof taken, "--weaken-symbol=%s", submission->part);
    bool good = change_symbols(submission, taken, object, built) &&
                change_symbols(submission, others, kits, built) &&
                give_heap(submission, kits, built);
    free(others);
    command_quote(objects, kits);
    fputc(' ', objects);
    return good;
}

/* Whether the hand-in lacks a file. */
static bool not_handed_in(const Submission *submission, const char *name) {
    char path[PATH];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", submission->from, name);
    return lstat(path, &file) != 0 && errno == ENOENT;
}

/* The folder that a file is taken from. */
static const char *folder_of(const Submission *submission, const json_t *hole) {
    const char *name = json_string_value(json_object_get(hole, "file"));
    if (submission->part != NULL && strcmp(submission->part, name) == 0) {
        return submission->solutions;
    }
    bool kits = submission->given != NULL && json_is_true(json_object_get(hole, "given")) &&
                not_handed_in(submission, name);
    return kits ? submission->given : submission->from;
}

/* Whether the part that is to be the kit's is a function of this file. */
static bool has_part(const Submission *submission, const json_t *hole) {
    json_t *function;
    size_t i;
    json_array_foreach(json_object_get(hole, "functions"), i, function) {
        if (submission->part != NULL &&
            strcmp(json_string_value(function), submission->part) == 0) {
            return true;
        }
    }
    return false;
}

static bool build_file(const Submission *submission, const json_t *hole, FILE *objects,
                       Built *built) {
    const char *name = json_string_value(json_object_get(hole, "file"));
    static const char *const precisions[] = {"-DREAL_F32", "-DREAL_F16", "-DREAL_BF16"};
    bool each = json_is_true(json_object_get(hole, "precisions"));
    char source[PATH], source_sum[65], object_sum[65], object[PATH];
    snprintf(source, sizeof source, "%s/submission/%s", submission->folder, name);
    bool part = has_part(submission, hole);
    if (!submission_take(folder_of(submission, hole), name, source, built)) {
        return false;
    }
    json_t *sums = json_array();
    for (size_t i = 0; i < (each ? 3 : 1); i++) {
        snprintf(object, sizeof object, "%s/%s.%zu.o", submission->folder, name, i);
        const char *define = each ? precisions[i] : part ? INTERPOSED : "";
        if (!submission_compile(submission, name, source, define, object, built) ||
            (!submission->symbols_seen &&
             !submission_check_symbols(submission, name, object, built)) ||
            !command_sha256(object, object_sum) || !take_out(submission, name, object, built) ||
            !give_heap(submission, object, built) ||
            (part && !put_part(submission, hole, source, object, objects, built))) {
            json_decref(sums);
            return false;
        }
        command_quote(objects, object);
        fputc(' ', objects);
        json_array_append_new(sums, json_string(object_sum));
    }
    bool good = command_sha256(source, source_sum);
    unlink(source); /* no other file can include it, whose object would be kept by its own bytes */
    json_object_set_new(
        built->objects, name,
        json_pack("{s:s, s:o}", "source", good ? source_sum : "?", "objects", sums));
    return good;
}

/* The objects that go into the same programs, as words of a shell. */
typedef struct ProbeParts {
    const char *name; /* "probe" of the holes; "" for those that have none */
    FILE *list;
    char *objects;
    size_t size;
    bool absent; /* a file of theirs was not handed in */
} ProbeParts;

/* Those to which a hole's objects belong. */
static ProbeParts *parts_for(ProbeParts parts[MOST_PROBES], const json_t *hole) {
    const char *named = json_string_value(json_object_get(hole, "probe"));
    const char *name = named != NULL ? named : "";
    int i = 0;
    while (i < MOST_PROBES && parts[i].name != NULL && strcmp(parts[i].name, name) != 0) {
        i++;
    }
    CHECK(i < MOST_PROBES, "more than %d probes in a lab", MOST_PROBES);
    if (parts[i].name == NULL) {
        parts[i].name = name;
        parts[i].list = open_memstream(&parts[i].objects, &parts[i].size);
        CHECK(parts[i].list != NULL, "no memory for a list");
    }
    return &parts[i];
}

/* "probe_NAME" has the holes of that name; every other program those without one. */
static const ProbeParts *parts_of(const ProbeParts parts[MOST_PROBES], const char *program) {
    const ProbeParts *shared = NULL;
    for (int i = 0; i < MOST_PROBES && parts[i].name != NULL; i++) {
        if (parts[i].name[0] == '\0') {
            shared = &parts[i];
        } else if (strncmp(program, "probe_", 6) == 0 && strcmp(program + 6, parts[i].name) == 0) {
            return &parts[i];
        }
    }
    CHECK(shared != NULL, "no hole is a part of %s", program);
    return shared;
}

/* Whether a hole with a probe of its own was not handed in: that probe is not built, and a hand-in
   without the file, as of a release that had no such hole, has what its other files are worth. */
static bool note_absent(const Submission *submission, const json_t *hole, ProbeParts *parts,
                        Built *built) {
    const char *name = json_string_value(json_object_get(hole, "file"));
    if (parts->name[0] == '\0' || !not_handed_in(submission, name)) {
        return false;
    }
    parts->absent = true;
    built->absent = name;
    return true;
}

/* A linker's message, as a sentence for the student. */
static bool link_failed(const Submission *submission, const SandboxResult *result, Built *built) {
    /* Everything else that it uses was on the list: only a function of the lab can be missing. */
    static const char missing[] = "undefined reference to `";
    const char *text = result->text != NULL ? result->text : "", *name = strstr(text, missing);
    if (name == NULL) {
        return submission_fail(built, "the probe does not link:\n%s%s%s", result->error,
                               result->end == SANDBOX_TIMEOUT ? submission_stopped(submission) : "",
                               text);
    }
    name += sizeof missing - 1;
    return submission_fail(built, "`%.*s` is missing: it is one of the lab's functions",
                           (int)strcspn(name, "'"), name);
}

static bool link_program(const Submission *submission, const char *name, const char *recipe_text,
                         const char *objects, Built *built) {
    char program[PATH];
    snprintf(program, sizeof program, "%s/%s", submission->folder, name);
    char *command = submission_fill(recipe_text, objects, program, "");
    SandboxResult result = submission_run(submission, command, "linked");
    free(command);
    bool good = (result.end == SANDBOX_EXIT && result.status == 0 && access(program, X_OK) == 0) ||
                link_failed(submission, &result, built);
    free(result.text);
    return good;
}

/* Each program of the lab; last, when no compiler runs any more, what runs without the hand-in is
   put beside them. */
static bool link_programs(const Submission *submission, const ProbeParts parts[MOST_PROBES],
                          Built *built) {
    char to[PATH + 10];
    const char *name, *kit = json_string_value(json_object_get(submission->recipes, "kit"));
    json_t *text;
    snprintf(built->probe, sizeof built->probe, "%s/probe", submission->folder);
    json_object_foreach(json_object_get(submission->recipes, "link"), name, text) {
        const ProbeParts *of = parts_of(parts, name);
        if (!of->absent &&
            !link_program(submission, name, json_string_value(text), of->objects, built)) {
            return false;
        }
    }
    snprintf(to, sizeof to, "%s_kit", built->probe);
    return kit == NULL || (file_copy(kit, to) == 0 && chmod(to, 0755) == 0) ||
           submission_fail(built, "%s cannot be copied", kit);
}

Built submission_build(const Submission *submission) {
    Built built = {.good = true, .objects = json_object()};
    char folder[PATH];
    snprintf(folder, sizeof folder, "%s/submission", submission->folder);
    CHECK(mkdir(folder, 0755) == 0, "cannot make %s", folder);
    ProbeParts parts[MOST_PROBES] = {0};
    const json_t *hole;
    size_t i;
    json_array_foreach(json_object_get(submission->lab, "holes"), i, hole) {
        ProbeParts *of = parts_for(parts, hole);
        built.good = built.good && (note_absent(submission, hole, of, &built) ||
                                    build_file(submission, hole, of->list, &built));
    }
    for (i = 0; i < MOST_PROBES && parts[i].name != NULL; i++) {
        fclose(parts[i].list);
    }
    built.good = built.good && link_programs(submission, parts, &built);
    for (i = 0; i < MOST_PROBES && parts[i].name != NULL; i++) {
        free(parts[i].objects);
    }
    return built;
}
