/* From an address of the program's code to a line of its source, with elfutils' libdw: in the
   process itself, so that it works where no other program may be started. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

/* Debugging information lies in the program itself or is not there. */
static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                              const char *file, const char *link, GElf_Word sum, char **found) {
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)sum;
    (void)found;
    return -1;
}

static Dwfl *library(void) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = find_no_debug_file};
    static Dwfl *dwfl;
    if (dwfl == NULL) {
        dwfl = dwfl_begin(&callbacks);
    }
    return dwfl;
}

/* The file of an image. The program's own may have been started under any name. */
static const char *image_file(const Dl_info *image, char path[512]) {
    Dl_info own;
    dladdr((const void *)(uintptr_t)image_file, &own);
    ssize_t length = image->dli_fbase == own.dli_fbase ? readlink("/proc/self/exe", path, 511) : 0;
    if (length <= 0) {
        return image->dli_fname;
    }
    path[length] = '\0';
    return path;
}

/* No list of the process's mappings is asked for: in a sandbox, /proc may be shut. */
static Dwfl_Module *module_of(const Dl_info *image, Dwarf_Addr address) {
    Dwfl *dwfl = library();
    Dwfl_Module *module = dwfl != NULL ? dwfl_addrmodule(dwfl, address) : NULL;
    if (dwfl != NULL && module == NULL) {
        char path[512];
        const char *file = image_file(image, path);
        dwfl_report_begin_add(dwfl);
        module =
            dwfl_report_elf(dwfl, file, file, -1, (GElf_Addr)(uintptr_t)image->dli_fbase, true);
        dwfl_report_end(dwfl, NULL, NULL);
    }
    return module;
}

/* Where and in which function an instruction stands. */
typedef struct SourceLine {
    const char *file;
    int line;
    const char *function; /* NULL if it is not known */
} SourceLine;

static bool in_kernel_file(const SourceLine *line) {
    const char *end = line->file != NULL ? strrchr(line->file, '.') : NULL;
    return end != NULL && strcmp(end, ".cu") == 0;
}

/* The line from which the function `scope`, inlined, is called. */
static SourceLine call_of(Dwarf_Die *unit, Dwarf_Die *scope) {
    SourceLine call = {0};
    Dwarf_Files *files;
    size_t count;
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 &&
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_file, &attribute), &file) == 0 &&
        dwarf_formudata(dwarf_attr(scope, DW_AT_call_line, &attribute), &line) == 0) {
        call.file = dwarf_filesrc(files, file, NULL, NULL);
        call.line = (int)line;
    }
    return call;
}

static const char *name_of(Dwarf_Die *scope) {
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_name, &attribute));
    return name;
}

/* The functions around an instruction, from the innermost on, as they were inlined; to be freed.
   libdw's first answer goes over to where an inlined function is defined, so it is asked again for
   the scopes around the innermost one. */
static int scopes_of(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes) {
    Dwarf_Die *nearest = NULL;
    int count = unit != NULL ? dwarf_getscopes(unit, address, &nearest) : 0;
    *scopes = NULL;
    if (count > 0) {
        count = dwarf_getscopes_die(&nearest[0], scopes);
    }
    free(nearest);
    return count;
}

static bool in_function(Dwarf_Die *scopes, int count, Dwarf_Addr address) {
    for (int i = 0; i < count; i++) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
            return dwarf_haspc(&scopes[i], address) > 0;
        }
    }
    return false;
}

/* Compilers give line 0 to an instruction that is of no line, or of several; mostly it prepares the
   next. Then this is the address of the next instruction of the function that has a line; else of
   the last before; else the address itself. */
static Dwarf_Addr with_line(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Addr bias) {
    Dwarf_Die *scopes;
    int count = scopes_of(unit, address - bias, &scopes);
    Dwarf_Addr nearest = address;
    size_t rows = 0;
    dwfl_getsrclines(unit, &rows);
    for (size_t i = 0; i < rows && nearest <= address; i++) {
        Dwarf_Addr at = 0;
        int line = 0;
        dwfl_lineinfo(dwfl_onesrcline(unit, i), &at, &line, NULL, NULL, NULL);
        if (line > 0 && in_function(scopes, count, at - bias)) {
            nearest = at;
        }
    }
    free(scopes);
    return nearest;
}

static SourceLine line_at(Dwfl_Module *module, Dwarf_Addr address) {
    Dwfl_Line *source = dwfl_module_getsrc(module, address);
    SourceLine line = {0};
    line.file = source ? dwfl_lineinfo(source, NULL, &line.line, NULL, NULL, NULL) : NULL;
    return line;
}

/* Of functions that were inlined into each other, the innermost one of a .cu file; else the
   innermost. */
static bool find_line(Dwfl_Module *module, Dwarf_Addr address, SourceLine *found) {
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes;
    SourceLine here = line_at(module, address);
    if (here.file != NULL && here.line == 0 && unit != NULL) {
        address = with_line(unit, address, bias);
        here = line_at(module, address);
    }
    if (here.file == NULL) {
        return false;
    }
    int count = scopes_of(unit, address - bias, &scopes);
    *found = here;
    found->function = NULL;
    for (int i = 0, functions = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
            continue;
        }
        here.function = name_of(&scopes[i]);
        if (functions++ == 0 || in_kernel_file(&here)) {
            *found = here;
        }
        if (in_kernel_file(&here) || tag == DW_TAG_subprogram) {
            break;
        }
        here = call_of(unit, &scopes[i]);
    }
    free(scopes);
    return true;
}

typedef struct Question {
    const void *pc;
    char *text;
    size_t size;
} Question;

static void *answer(void *context) {
    const Question *question = context;
    Dl_info image;
    if (dladdr(question->pc, &image) == 0) {
        return NULL;
    }
    /* A return address is one past the call. */
    Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)question->pc - 1;
    Dwfl_Module *module = module_of(&image, address);
    SourceLine line;
    if (module != NULL && find_line(module, address, &line)) {
        const char *file = sim_file((Place){line.file, line.line});
        int length = snprintf(question->text, question->size, "%s:%d", file, line.line);
        if (line.function != NULL && length > 0 && (size_t)length < question->size) {
            snprintf(question->text + length, question->size - (size_t)length, " (%s)",
                     line.function);
        }
    } else if (image.dli_sname != NULL) {
        snprintf(question->text, question->size, "%s+0x%lx", image.dli_sname,
                 (unsigned long)((const char *)question->pc - (const char *)image.dli_saddr));
    }
    return NULL;
}

/* The library takes more stack than a CUDA thread has, and one caller at a time. */
void cudasim_describe_code(const void *pc, char *text, size_t size) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    Question question = {pc, text, size};
    pthread_t thread;
    snprintf(text, size, "%p", pc);
    pthread_mutex_lock(&one);
    if (pc != NULL && pthread_create(&thread, NULL, answer, &question) == 0) {
        pthread_join(thread, NULL);
    }
    pthread_mutex_unlock(&one);
}
