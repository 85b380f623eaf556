/* From the files of a hand-in to its probe: copied, compiled in the sandbox, checked, linked. The
   contract is in submission.h. */
#define _GNU_SOURCE
#include "grader/submission.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/files.h"
#include "common/text.h"
#include "grader/command.h"
#include "grader/record.h"
#include "grader/sandbox.h"
#include "grader/symbols.h"
#include "kernels/base.h"

enum { PATH = 4096, MOST_SOURCE = 1 << 20, OUTPUT = 256 << 10, MOST_READABLE = 32 };
enum { COMPILE_SECONDS = 60, MOST_PROBES = 4, NAME = 200 };
/* Every call of a function that others can see goes by its name, and nothing is concluded from its
   body: another one can be put in its place. */
#define INTERPOSED "-fPIC -fsemantic-interposition"
static const size_t MOST_MEMORY = (size_t)4 << 30;

__attribute__((format(printf, 2, 3))) static bool fail(Built *built, const char *format, ...) {
    va_list values;
    va_start(values, format);
    free(built->message);
    if (vasprintf(&built->message, format, values) < 0) {
        built->message = NULL;
    }
    va_end(values);
    return false;
}

static const char *recipe(const Submission *submission, const char *name) {
    const char *text = json_string_value(json_object_get(submission->recipes, name));
    CHECK(text != NULL, "make wrote no recipe %s", name);
    return text;
}

/* ---- running tools --------------------------------------------------------------------------- */

/* A command line for the shell, in the sandbox, in the private folder; it may read the files of a
   list in the recipes. A compiler gets headers and no objects: those of other labs' solutions,
   which are linked, could be copied into a hand-in. Its output is given back. */
static SandboxResult run(const Submission *submission, const char *command, const char *files) {
    const char *readable[MOST_READABLE + 1] = {NULL};
    const json_t *listed = json_object_get(submission->recipes, files);
    int n = 0;
    for (; n < MOST_READABLE - 1 && (size_t)n < json_array_size(listed); n++) {
        readable[n] = json_string_value(json_array_get(listed, (size_t)n));
    }
    readable[n] = submission->folder;
    double left = submission->until - now();
    if (left <= 0) {
        return (SandboxResult){.end = SANDBOX_TIMEOUT};
    }
    Sandbox sandbox = {.argv = (const char *const[]){"/bin/sh", "-c", command, NULL},
                       .readable = readable,
                       .folder = submission->folder,
                       .in = -1,
                       .out = -1,
                       .seconds = left < COMPILE_SECONDS ? left : COMPILE_SECONDS,
                       .cpu_seconds = COMPILE_SECONDS,
                       .memory = MOST_MEMORY,
                       .output = OUTPUT,
                       .may_execute = true};
    return sandbox_run(&sandbox);
}

/* The sentence for a tool that was stopped. */
static const char *stopped(const Submission *submission) {
    return now() < submission->until
               ? "the compiler was stopped: it took too long\n"
               : "the compiler was stopped: all files together took too long to build\n";
}

static void put(FILE *to, const char *text) {
    fputs(text, to);
}

/* The recipe with {in} and {out} filled in as words of a shell, {define} and {objects} as they are;
   to be freed. */
static char *fill(const char *text, const char *in, const char *out, const char *define) {
    const struct {
        const char *name, *value;
        bool word;
    } places[] = {{"{in}", in, true},
                  {"{out}", out, true},
                  {"{define}", define, false},
                  {"{objects}", in, false}};
    char *result = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&result, &size);
    CHECK(to != NULL, "no memory for a command");
    while (*text != '\0') {
        size_t length = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places && length == 0; i++) {
            if (strncmp(text, places[i].name, strlen(places[i].name)) == 0) {
                length = strlen(places[i].name);
                (places[i].word ? command_quote : put)(to, places[i].value);
            }
        }
        if (length == 0) {
            fputc(*text, to);
            length = 1;
        }
        text += length;
    }
    fclose(to);
    return result;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* Copies a regular file of modest size under a name of ours. No link is followed. */
static bool take(const char *folder, const char *name, const char *to, Built *built) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat file;
    if (from < 0 || fstat(from, &file) != 0) {
        fail(built, "%s: %s", name, strerror(errno));
        if (from >= 0) {
            close(from);
        }
        return false;
    }
    bool good = S_ISREG(file.st_mode) && file.st_size <= MOST_SOURCE;
    char *text = good ? malloc((size_t)file.st_size + 1) : NULL;
    good = text != NULL && read(from, text, (size_t)file.st_size) == file.st_size;
    close(from);
    int out = good ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    good = out >= 0 && write(out, text, (size_t)file.st_size) == file.st_size;
    if (out >= 0) {
        good = close(out) == 0 && good;
    }
    free(text);
    return good || fail(built, "%s: not a regular file of at most %d KiB", name, MOST_SOURCE >> 10);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The sentence for a file that was written for the contract of an earlier release: it declares a
   function as the header no longer does, which gcc and clang call "conflicting". */
static const char *contract_changed(const json_t *lab, const char *name, const char *text) {
    const char *changed = json_string_value(json_object_get(json_object_get(lab, "changed"), name));
    return changed != NULL && text != NULL && strstr(text, "conflicting ") != NULL ? changed : NULL;
}

/* Compiles one source in one way. The same bytes with the same flags give the same object. */
static bool compile(const Submission *submission, const char *name, const char *source,
                    const char *define, const char *object, Built *built) {
    bool cuda = strstr(name, ".cu") != NULL;
    char source_sum[65], key[PATH], cached[2 * PATH];
    /* In its folder, so that compilers and TODO() name the file as the student does. */
    char *filled = fill(recipe(submission, cuda ? "cu" : "c"), name, object, define), *command;
    CHECK(asprintf(&command, "cd submission && %s", filled) > 0, "no memory for a command");
    free(filled);
    if (!command_sha256(source, source_sum)) {
        free(command);
        return fail(built, "%s: cannot be read", source);
    }
    char *flags = fill(recipe(submission, cuda ? "cu" : "c"), "", "", define);
    unsigned long long flags_sum = hash_text(flags);
    free(flags);
    snprintf(key, sizeof key, "%.64s-%016llx-%s", source_sum, flags_sum,
             json_string_value(json_object_get(submission->recipes, "headers")));
    snprintf(cached, sizeof cached, "%s/%s.o", submission->cache, key);
    if (file_copy(cached, object) == 0) {
        free(command);
        return true;
    }
    SandboxResult result = run(submission, command, "read");
    free(command);
    bool good = result.end == SANDBOX_EXIT && result.status == 0 && access(object, R_OK) == 0;
    if (!good) {
        const char *changed = contract_changed(submission->lab, name, result.text);
        fail(built, "%s%s%s%s", changed != NULL ? changed : "", changed != NULL ? "\n" : "",
             result.end == SANDBOX_TIMEOUT ? stopped(submission)
             : result.end == SANDBOX_ERROR ? result.error
                                           : "",
             result.text != NULL ? result.text : "");
    } else {
        file_copy(object, cached); /* or not: it only saves time */
    }
    free(result.text);
    return good;
}

/* ---- what an object may define and use ------------------------------------------------------- */

/* The output of a tool about an object, to be freed; NULL if it cannot read it. */
static char *list(const Submission *submission, const char *tool, const char *object) {
    char *command = fill(tool, object, "", "");
    SandboxResult result = run(submission, command, "read");
    free(command);
    if (result.end != SANDBOX_EXIT || result.status != 0) {
        free(result.text);
        return NULL;
    }
    return result.text;
}

static bool check_symbols(const Submission *submission, const char *file, const char *object,
                          Built *built) {
    char *symbols = list(submission, "nm -P {in}", object);
    char *sections = list(submission, "objdump -hw {in}", object);
    bool listed = symbols != NULL && sections != NULL;
    char *refused = listed ? symbols_refused(submission->lab, file, symbols, sections) : NULL;
    if (!listed) {
        fail(built, "%s: %s", file,
             now() < submission->until ? "its object cannot be read" : stopped(submission));
    } else if (refused != NULL) {
        fail(built, "%s", refused);
    }
    bool good = listed && refused == NULL;
    free(refused);
    free(symbols);
    free(sections);
    return good;
}

/* ---- the probe ------------------------------------------------------------------------------- */

/* Makes functions of an object weak. */
static bool weaken(const Submission *submission, const char *options, const char *object,
                   Built *built) {
    char weak[PATH + 10], *tool, *command;
    snprintf(weak, sizeof weak, "%s.weak", object);
    CHECK(asprintf(&tool, "objcopy %s {in} {out}", options) > 0, "no memory for a command");
    command = fill(tool, object, weak, "");
    SandboxResult result = run(submission, command, "read");
    bool good = result.end == SANDBOX_EXIT && result.status == 0 && rename(weak, object) == 0;
    free(result.text);
    free(command);
    free(tool);
    return good || fail(built, "objcopy %s failed", options);
}

/* Whether code in an object calls a function of its own without its name, so that no other can take
   its place. */
static bool bound(const Submission *submission, const char *function, const char *object) {
    char *text = list(submission, "objdump -r {in}", object), *rest = text, section[NAME];
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
        return fail(built, "a call of %s is bound inside of its file", submission->part);
    }
    if (!take(submission->solutions, name, source, built) ||
        !compile(submission, name, source, INTERPOSED, kits, built)) {
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
    bool good = weaken(submission, taken, object, built) && weaken(submission, others, kits, built);
    free(others);
    command_quote(objects, kits);
    fputc(' ', objects);
    return good;
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
    bool whole = submission->part != NULL && strcmp(submission->part, name) == 0;
    bool part = has_part(submission, hole);
    if (!take(whole ? submission->solutions : submission->from, name, source, built)) {
        return false;
    }
    json_t *sums = json_array();
    for (size_t i = 0; i < (each ? 3 : 1); i++) {
        snprintf(object, sizeof object, "%s/%s.%zu.o", submission->folder, name, i);
        const char *define = each ? precisions[i] : part ? INTERPOSED : "";
        if (!compile(submission, name, source, define, object, built) ||
            (!submission->symbols_seen && !check_symbols(submission, name, object, built)) ||
            !command_sha256(object, object_sum) ||
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
    char path[PATH];
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", submission->from, name);
    if (parts->name[0] == '\0' || lstat(path, &file) == 0 || errno != ENOENT) {
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
        return fail(built, "the probe does not link:\n%s%s%s", result->error,
                    result->end == SANDBOX_TIMEOUT ? stopped(submission) : "", text);
    }
    name += sizeof missing - 1;
    return fail(built, "`%.*s` is missing: it is one of the lab's functions",
                (int)strcspn(name, "'"), name);
}

static bool link_program(const Submission *submission, const char *name, const char *recipe_text,
                         const char *objects, Built *built) {
    char program[PATH];
    snprintf(program, sizeof program, "%s/%s", submission->folder, name);
    char *command = fill(recipe_text, objects, program, "");
    SandboxResult result = run(submission, command, "linked");
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
           fail(built, "%s cannot be copied", kit);
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
