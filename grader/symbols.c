/* The symbols and sections of a hand-in's object, against the lab's list. The contract is in
   symbols.h. */
#define _GNU_SOURCE
#include "grader/symbols.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/cuda_names.h"
#include "grader/free_symbols.h"
#include "kernels/base.h"

#define HEX "0123456789abcdef"

/* Where cu2cpp says which variables of a .cu are the host's: the simulator reports a kernel that
   names one. */
#define HOST_VARIABLES "cudasim_host_variables"

#define ANNOUNCED_GCC ".init_array.00099"
#define ANNOUNCED_CLANG ".init_array.0"

/* Code and constants that may stand in one object: the largest of the solutions has a tenth. */
enum { MOST_CONSTANTS = 1 << 20 };

/* A sentence, to be freed. */
__attribute__((format(printf, 1, 2))) static char *say(const char *format, ...) {
    char *sentence = NULL;
    va_list values;
    va_start(values, format);
    CHECK(vasprintf(&sentence, format, values) >= 0, "no memory for a sentence");
    va_end(values);
    return sentence;
}

static char *unreadable(const char *file) {
    return say("%s: its object has a symbol or a section with a name that no compiler gives", file);
}

/* ---- symbols --------------------------------------------------------------------------------- */

static bool allowed(const json_t *patterns, const char *symbol) {
    const json_t *pattern;
    size_t i;
    json_array_foreach(patterns, i, pattern) {
        if (fnmatch(json_string_value(pattern), symbol, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether `symbol` is `function`, or that with the name of a precision after it. */
static bool is_named(const char *symbol, const char *function, bool precisions) {
    static const char *const suffixes[] = {"_f32", "_f16", "_bf16"};
    size_t length = strlen(function);
    if (strncmp(symbol, function, length) != 0) {
        return false;
    }
    for (size_t i = 0; precisions && i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strcmp(symbol + length, suffixes[i]) == 0) {
            return true;
        }
    }
    return !precisions && symbol[length] == '\0';
}

/* Whether a hole asks for that function. */
static bool asks_for(const json_t *hole, const char *symbol) {
    bool precisions = json_is_true(json_object_get(hole, "precisions"));
    const json_t *function;
    size_t i;
    json_array_foreach(json_object_get(hole, "functions"), i, function) {
        if (is_named(symbol, json_string_value(function), precisions)) {
            return true;
        }
    }
    return false;
}

/* The file in which the lab asks for a function: `file`, if it does there, or else the first; NULL
   for none. Two probes may each have a file with it. */
static const char *home_of(const json_t *lab, const char *file, const char *symbol) {
    const json_t *hole;
    const char *home = NULL;
    size_t i;
    json_array_foreach(json_object_get(lab, "holes"), i, hole) {
        const char *name = json_string_value(json_object_get(hole, "file"));
        if (asks_for(hole, symbol) && (home == NULL || strcmp(name, file) == 0)) {
            home = name;
        }
    }
    return home;
}

/* The patterns of what a file may call: those of its hole, or else those of the lab. */
static const json_t *uses_of(const json_t *lab, const char *file) {
    const json_t *hole, *own = NULL;
    size_t i;
    json_array_foreach(json_object_get(lab, "holes"), i, hole) {
        if (strcmp(json_string_value(json_object_get(hole, "file")), file) == 0) {
            own = json_object_get(hole, "uses");
        }
    }
    return own != NULL ? own : json_object_get(lab, "uses");
}

/* cudaMemcpyAsync for the simulator's cudasim_memcpy_async, cublasGemmEx for cudasim_blas_gemm_ex,
   ncclSend for cudasim_nccl_send, curandGenerate for cudasim_curand_generate. Any other symbol as
   it is. To be freed. */
static char *spelled_name(const char *symbol) {
    static const struct {
        const char *inside, *source;
    } prefix[] = {{"cudasim_blas", "cublas"},
                  {"cudasim_curand", "curand"},
                  {"cudasim_nccl", "nccl"},
                  {"cudasim", "cuda"}};
    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++) {
        size_t length = strlen(prefix[i].inside);
        if (strncmp(symbol, prefix[i].inside, length) != 0 || symbol[length] != '_') {
            continue;
        }
        char *name = say("%s%s", prefix[i].source, symbol + length), *to = name;
        for (const char *from = name; *from != '\0'; from++) {
            bool begins = from[0] == '_' && from[1] >= 'a' && from[1] <= 'z';
            from += begins;
            *to++ = begins ? (char)(*from - 'a' + 'A') : *from;
        }
        *to = '\0';
        return name;
    }
    return say("%s", symbol);
}

/* A call of CUDA as it stands in the source; where it may be one of several there, the one that is
   spelled alike, or all. Any other symbol as it is. To be freed. */
static char *source_name(const char *symbol) {
    char *spelled = spelled_name(symbol), *names = NULL;
    for (const CudaName *name = cuda_names; name->symbol != NULL; name++) {
        if (strcmp(name->symbol, symbol) != 0) {
            continue;
        }
        if (strcmp(name->source, spelled) == 0) {
            free(names);
            return spelled;
        }
        char *longer =
            names == NULL ? say("%s", name->source) : say("%s` or `%s", names, name->source);
        free(names);
        names = longer;
    }
    if (names == NULL) {
        return spelled;
    }
    free(spelled);
    return names;
}

/* Functions that the compiler calls for a line that names something else, and those for which a lab
   gives one reason: under the name `as`. */
static const struct {
    const char *symbol, *source, *text, *as;
} other_names[] = {
    {"__assert_fail", "assert", "the kit's own is CHECK(condition, \"a text as for printf\", ...)",
     NULL},
    {"__cxa_guard_acquire", "static ... = f(...)",
     "it is set at the first call alone; compute it at each call, or make it a constant", NULL},
    {"calloc", "calloc", NULL, "malloc"},
    {"free", "free", NULL, "malloc"},
    {"realloc", "realloc", NULL, "malloc"},
    {"puts", "printf` or `puts", NULL, "printf"},
    {"putchar", "printf` or `putchar", NULL, "printf"},
    {"fprintf", "fprintf", NULL, "printf"},
    {"fwrite", "fprintf` or `fwrite", NULL, "printf"},
    {"fputc", "fprintf` or `fputc", NULL, "printf"},
};

/* The lab's reason why a symbol is not on the list, or NULL. */
static const char *reason_of(const json_t *lab, const char *symbol) {
    return json_string_value(json_object_get(json_object_get(lab, "instead"), symbol));
}

/* The message about a symbol that is not on the list. */
static char *not_available(const json_t *lab, const char *file, const char *symbol) {
    char *name = source_name(symbol);
    const char *text = reason_of(lab, symbol);
    text = text != NULL ? text : reason_of(lab, name);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcmp(symbol, other_names[i].symbol) == 0) {
            free(name);
            name = say("%s", other_names[i].source);
            text = text != NULL                  ? text
                   : other_names[i].text != NULL ? other_names[i].text
                                                 : reason_of(lab, other_names[i].as);
        }
    }
    text = text != NULL ? text : "use what the lab's header and the kit's headers offer";
    char *sentence = say("%s: `%s` is not available in this lab: %s", file, name, text);
    free(name);
    return sentence;
}

static char *symbol_refused(const json_t *lab, const char *file, const char *symbol, char kind) {
    bool undefined = kind == 'U' || kind == 'w' || kind == 'v';
    const char *home = home_of(lab, file, symbol);
    if (undefined) {
        return home != NULL || symbol_is_free(file, symbol) || allowed(uses_of(lab, file), symbol)
                   ? NULL
                   : not_available(lab, file, symbol);
    }
    /* A function that is chosen (kind i) is chosen by code that runs before main(). */
    if (kind == 'i') {
        return say("%s: `%s` is chosen by code that runs before main(), which is not allowed", file,
                   symbol);
    }
    bool local = kind >= 'a' && kind <= 'z' && kind != 'u';
    bool weak = kind == 'W' || kind == 'V' || kind == 'u';
    if (local || (home == NULL && weak && symbol_may_be_weak(file, symbol))) {
        return NULL;
    }
    if (home == NULL) {
        return say("%s: `%s` is not one of the lab's functions; make it static, or take it out",
                   file, symbol);
    }
    /* In another file it would have that file's list of calls. */
    return strcmp(home, file) == 0
               ? NULL
               : say("%s: `%s` belongs in %s: move it there", file, symbol, home);
}

/* A line of `nm -P`: name, kind, and where it is defined the value and perhaps the size. */
static char *symbol_line_refused(const json_t *lab, const char *file, char *line) {
    const char *symbol = strsep(&line, " ");
    bool readable = *symbol != '\0' && line != NULL && line[0] != '\0' && line[1] == ' ' &&
                    line[2 + strspn(line + 2, HEX " ")] == '\0';
    return readable ? symbol_refused(lab, file, symbol, line[0]) : unreadable(file);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* The sections that compilers make. Link-time code, which a linker would prefer,
   is not among them. */
static bool is_known(const char *section) {
    static const char *const known[] = {".text",         ".text.*",       ".data",
                                        ".data.*",       ".bss",          ".bss.*",
                                        ".rodata",       ".rodata.*",     ".tbss",
                                        ".tbss.*",       ".tdata",        ".tdata.*",
                                        ".eh_frame",     ".group",        ".gcc_except_table",
                                        ".comment",      ".note.*",       ".debug_*",
                                        ".init_array",   ".init_array.*", ".gcc_except_table.*",
                                        ".llvm_addrsig", HOST_VARIABLES};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (fnmatch(known[i], section, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Sections that may be written. A linker puts sections of one name together, and one that may be
   written makes all of them so: elsewhere it would open what is not counted. */
static bool may_be_written(const char *section) {
    static const char *const written[] = {".data",    ".data.*", ".bss",    ".bss.*",      ".tdata",
                                          ".tdata.*", ".tbss",   ".tbss.*", HOST_VARIABLES};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (fnmatch(written[i], section, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* Each thread has its own, and ranks are not threads: all would share it. */
static bool is_of_threads(const char *section) {
    return strncmp(section, ".tdata", 6) == 0 || strncmp(section, ".tbss", 5) == 0;
}

/* The addition of a compiler that announces loads and stores, in an object of CUDA: one pointer to
   a function that does nothing here. symbols_taken_out() takes it out again. */
static bool announces(const char *file, const char *section, size_t bytes) {
    return strstr(file, ".cu") != NULL && bytes == sizeof(void *) &&
           (strcmp(section, ANNOUNCED_GCC) == 0 || strcmp(section, ANNOUNCED_CLANG) == 0);
}

/* Sections of code that runs before or after main(). */
static bool is_run(const char *section) {
    static const char *const run[] = {".init*", ".fini*", ".ctors*", ".dtors*", ".preinit_array*"};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        if (fnmatch(run[i], section, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* The next word of a line, of `length` digits of hexadecimal. */
static bool take_hex(char **line, size_t length, size_t *value) {
    *line += strspn(*line, " ");
    char *end = *line + strspn(*line, HEX);
    *value = strtoull(*line, NULL, 16);
    bool good = end == *line + length && *end == ' ';
    *line = end;
    return good;
}

/* The next word of a line, 2**n. */
static bool take_power(char **line, size_t *value) {
    int n = 0, length = 0;
    bool good = sscanf(*line, " 2**%2d%n", &n, &length) == 1 && n >= 0 && n < 64;
    *line += length;
    *value = good ? (size_t)1 << n : 0;
    return good && **line == ' ';
}

/* A line of `objdump -hw`: number, name, size, two addresses, place in the file, alignment, and
   words in capitals. Its size is at least its alignment, if it has any: so much may be left free
   before it. */
static bool read_section(char *line, const char **name, size_t *size, const char **flags) {
    size_t ignored, align;
    line += strspn(line, " 0123456789");
    *name = strsep(&line, " ");
    if (line == NULL || !take_hex(&line, 8, size) || !take_hex(&line, 16, &ignored) ||
        !take_hex(&line, 16, &ignored) || !take_hex(&line, 8, &ignored) ||
        !take_power(&line, &align)) {
        return false;
    }
    *size = *size > align || align == 1 ? *size : align;
    line += strspn(line, " ");
    *flags = line;
    return line[strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_, ")] == '\0';
}

/* The bytes of sections in memory, with those that the linker leaves free to align them. */
typedef struct SectionBytes {
    size_t data; /* not in the file, or can be written */
    size_t all;  /* code and constants, too */
} SectionBytes;

/* Adds a section to `bytes`. */
static char *section_refused(const json_t *lab, const char *file, char *line, SectionBytes *bytes) {
    const char *name, *flags;
    size_t size;
    if (!read_section(line, &name, &size, &flags)) {
        return unreadable(file);
    }
    bool in_memory = strstr(flags, "ALLOC") != NULL;
    bool written = in_memory && strstr(flags, "READONLY") == NULL;
    if (announces(file, name, size)) {
        return NULL;
    }
    if (is_run(name)) {
        return say("%s: code that runs before or after main() is not allowed", file);
    }
    if (!is_known(name) || (written && !may_be_written(name))) {
        return say("%s: a section of its own, `%s`, is not allowed", file, name);
    }
    if (is_of_threads(name) && json_is_true(json_object_get(lab, "ranks"))) {
        return say("%s: no data of threads (_Thread_local, thread_local): ranks would share them",
                   file);
    }
    bytes->data += written || (in_memory && strstr(flags, "CONTENTS") == NULL) ? size : 0;
    bytes->all += in_memory ? size : 0;
    return NULL;
}

/* ---- both ------------------------------------------------------------------------------------ */

static char *any_symbol_refused(const json_t *lab, const char *file, char *symbols) {
    char *refused = NULL;
    for (char *line; refused == NULL && (line = strsep(&symbols, "\n")) != NULL;) {
        bool end = symbols == NULL && *line == '\0';
        refused = end ? NULL : symbol_line_refused(lab, file, line);
    }
    return refused;
}

/* Before the sections stand the file's name, which is ours, and the heads of the columns. */
static char *any_section_refused(const json_t *lab, const char *file, char *sections) {
    char *rest = strstr(sections, "\nIdx Name"), *refused = NULL;
    SectionBytes bytes = {0};
    size_t limit = (size_t)json_integer_value(json_object_get(lab, "static_bytes"));
    if (rest == NULL || (rest = strchr(rest + 1, '\n')) == NULL) {
        return unreadable(file);
    }
    rest++;
    for (char *line; refused == NULL && (line = strsep(&rest, "\n")) != NULL;) {
        bool end = rest == NULL && *line == '\0';
        refused = end ? NULL : section_refused(lab, file, line, &bytes);
    }
    if (refused == NULL && bytes.data > limit) {
        refused =
            say("%s: %zu bytes of static data; at most %zu are allowed: take a local variable",
                file, bytes.data, limit);
    }
    if (refused == NULL && bytes.all > limit + MOST_CONSTANTS) {
        refused = say("%s: %zu bytes of code and constants; at most %zu are allowed", file,
                      bytes.all, limit + (size_t)MOST_CONSTANTS);
    }
    return refused;
}

const char *symbols_taken_out(const char *file) {
    return strstr(file, ".cu") != NULL ? "--remove-section=" ANNOUNCED_GCC
                                         " --remove-section=" ANNOUNCED_CLANG
                                       : NULL;
}

char *symbols_refused(const json_t *lab, const char *file, char *symbols, char *sections) {
    char *refused = any_symbol_refused(lab, file, symbols);
    return refused != NULL ? refused : any_section_refused(lab, file, sections);
}
