/* The steps by which files become objects. The contract is in submission_steps.h. */
#define _GNU_SOURCE
#include "grader/submission_steps.h"

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
#include "grader/symbols.h"
#include "kernels/base.h"

enum { PATH = SUBMISSION_PATH, MOST_SOURCE = 1 << 20, MOST_READABLE = 32 };
/* Lists are longer than messages: a .cu has thousands of sections, with a line for each of them. */
enum { MESSAGES = 256 << 10, LIST = 4 << 20 };
enum { COMPILE_SECONDS = 60 };
static const size_t MOST_MEMORY = (size_t)4 << 30;

bool submission_fail(Built *built, const char *format, ...) {
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
   which are linked, could be copied into a hand-in. Gives back up to `output`
   bytes of what it prints. */
static SandboxResult run_tool(const Submission *submission, const char *command, const char *files,
                              size_t output) {
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
                       .output = output,
                       .may_execute = true};
    return sandbox_run(&sandbox);
}

SandboxResult submission_run(const Submission *submission, const char *command, const char *files) {
    return run_tool(submission, command, files, MESSAGES);
}

/* The sentence for a tool that was stopped. */
const char *submission_stopped(const Submission *submission) {
    return now() < submission->until
               ? "the compiler was stopped: it took too long\n"
               : "the compiler was stopped: all files together took too long to build\n";
}

static void put(FILE *to, const char *text) {
    fputs(text, to);
}

/* The recipe with {in} and {out} filled in as words of a shell, {define} and {objects} as they are;
   to be freed. */
char *submission_fill(const char *text, const char *in, const char *out, const char *define) {
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

/* Windows' editors may save a text so; a compiler says pages about it, and nothing that helps. Of
   two letters one byte each is 0. */
static bool in_utf16(const char *text, off_t size) {
    return size >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0 ||
                         (text[0] == '\0') != (text[1] == '\0'));
}

/* Copies a regular file of modest size under a name of ours. No link is followed. */
bool submission_take(const char *folder, const char *name, const char *to, Built *built) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int from = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat file;
    if (from < 0 || fstat(from, &file) != 0) {
        submission_fail(built, "%s: %s", name, strerror(errno));
        if (from >= 0) {
            close(from);
        }
        return false;
    }
    bool good = S_ISREG(file.st_mode) && file.st_size <= MOST_SOURCE;
    char *text = good ? malloc((size_t)file.st_size + 1) : NULL;
    good = text != NULL && read(from, text, (size_t)file.st_size) == file.st_size;
    close(from);
    if (good && in_utf16(text, file.st_size)) {
        free(text);
        return submission_fail(built, "%s is in UTF-16: save it as UTF-8", name);
    }
    int out = good ? open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    good = out >= 0 && write(out, text, (size_t)file.st_size) == file.st_size;
    if (out >= 0) {
        good = close(out) == 0 && good;
    }
    free(text);
    return good || submission_fail(built, "%s: not a regular file of at most %d KiB", name,
                                   MOST_SOURCE >> 10);
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The sentence for a file that was written for the contract of an earlier release: it declares a
   function as the header no longer does, which gcc and clang call "conflicting". */
static const char *contract_changed(const json_t *lab, const char *name, const char *text) {
    const char *changed = json_string_value(json_object_get(json_object_get(lab, "changed"), name));
    return changed != NULL && text != NULL && strstr(text, "conflicting ") != NULL ? changed : NULL;
}

/* The sentence for a header that gcc or clang has not found: it may well lie beside the file that
   includes it. */
static const char *header_missing(const char *text) {
    bool missing = text != NULL && strstr(text, "fatal error: ") != NULL &&
                   (strstr(text, "No such file") != NULL || strstr(text, "file not found") != NULL);
    return missing
               ? "a hand-in is the files that the lab lists, and has no header of its own; those "
                 "of the kit are named from its top, as in the file that was given"
               : NULL;
}

/* Compiles one source in one way. The same bytes with the same flags give the same object. */
bool submission_compile(const Submission *submission, const char *name, const char *source,
                        const char *define, const char *object, Built *built) {
    bool cuda = strstr(name, ".cu") != NULL;
    char source_sum[65], key[PATH], cached[2 * PATH];
    /* In its folder, so that compilers and TODO() name the file as the student does. */
    char *filled = submission_fill(recipe(submission, cuda ? "cu" : "c"), name, object, define),
         *command;
    CHECK(asprintf(&command, "cd submission && %s", filled) > 0, "no memory for a command");
    free(filled);
    if (!command_sha256(source, source_sum)) {
        free(command);
        return submission_fail(built, "%s: cannot be read", source);
    }
    char *flags = submission_fill(recipe(submission, cuda ? "cu" : "c"), "", "", define);
    unsigned long long flags_sum = hash_text(flags);
    free(flags);
    snprintf(key, sizeof key, "%.64s-%016llx-%s", source_sum, flags_sum,
             json_string_value(json_object_get(submission->recipes, "headers")));
    snprintf(cached, sizeof cached, "%s/%s.o", submission->cache, key);
    if (file_copy(cached, object) == 0) {
        free(command);
        return true;
    }
    SandboxResult result = submission_run(submission, command, "read");
    free(command);
    bool good = result.end == SANDBOX_EXIT && result.status == 0 && access(object, R_OK) == 0;
    if (!good) {
        const char *why = contract_changed(submission->lab, name, result.text);
        why = why != NULL ? why : header_missing(result.text);
        submission_fail(built, "%s%s%s%s", why != NULL ? why : "", why != NULL ? "\n" : "",
                        result.end == SANDBOX_TIMEOUT ? submission_stopped(submission)
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
char *submission_list(const Submission *submission, const char *tool, const char *object) {
    char *command = submission_fill(tool, object, "", "");
    SandboxResult result = run_tool(submission, command, "read", LIST);
    free(command);
    if (result.end != SANDBOX_EXIT || result.status != 0) {
        free(result.text);
        return NULL;
    }
    return result.text;
}

bool submission_check_symbols(const Submission *submission, const char *file, const char *object,
                              Built *built) {
    char *symbols = submission_list(submission, "nm -P {in}", object);
    char *sections = submission_list(submission, "objdump -hw {in}", object);
    bool listed = symbols != NULL && sections != NULL;
    char *refused = listed ? symbols_refused(submission->lab, file, symbols, sections) : NULL;
    if (!listed) {
        submission_fail(built, "%s: %s", file,
                        now() < submission->until ? "its object cannot be read"
                                                  : submission_stopped(submission));
    } else if (refused != NULL) {
        submission_fail(built, "%s", refused);
    }
    bool good = listed && refused == NULL;
    free(refused);
    free(symbols);
    free(sections);
    return good;
}
