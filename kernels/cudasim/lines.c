/* From an address of the program's code to a line of its source, with elfutils' libdw: in the
   process itself, so that it works where no other program may be started. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

static Dwfl *program;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                    char **found, Elf **elf) {
    if (strcmp(name, "/proc/self/exe") == 0) {
        return open(name, O_RDONLY | O_CLOEXEC);
    }
    return dwfl_linux_proc_find_elf(module, user, name, base, found, elf);
}

/* Debugging information lies in the file itself or is not there. */
static int find_no_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                              const char *file, const char *link, GElf_Word sum, char **found) {
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)sum;
    (void)found;
    return -1;
}

static void open_program(void) {
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                             .find_debuginfo = find_no_debug_file};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl != NULL && dwfl_linux_proc_report(dwfl, getpid()) == 0 &&
        dwfl_report_end(dwfl, NULL, NULL) == 0) {
        program = dwfl;
    }
}

/* Where and in which function an instruction stands. */
typedef struct Line {
    const char *file;
    int line;
    const char *function;
} Line;

static bool in_kernel_file(const Line *line) {
    const char *end = line->file != NULL ? strrchr(line->file, '.') : NULL;
    return end != NULL && strcmp(end, ".cu") == 0;
}

/* The line from which the function `scope`, inlined, is called. */
static Line call_of(Dwarf_Die *unit, Dwarf_Die *scope) {
    Line call = {0};
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
    return name != NULL ? name : "?";
}

/* Of functions that were inlined into each other, the innermost one of a .cu file; else the
   innermost. */
static bool find_line(Dwfl_Module *module, Dwarf_Addr address, Line *found) {
    Dwfl_Line *source = dwfl_module_getsrc(module, address);
    Line here = {0};
    here.file = source ? dwfl_lineinfo(source, NULL, &here.line, NULL, NULL, NULL) : NULL;
    if (here.file == NULL) {
        return false;
    }
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL;
    int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
    *found = here;
    found->function = "?";
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
    pthread_once(&opened, open_program);
    /* A return address is one past the call. */
    Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)question->pc - 1;
    Dwfl_Module *module = program != NULL ? dwfl_addrmodule(program, address) : NULL;
    Line line;
    Dl_info image;
    if (module != NULL && find_line(module, address, &line)) {
        snprintf(question->text, question->size, "%s:%d (%s)",
                 sim_file((Place){line.file, line.line}), line.line, line.function);
    } else if (dladdr(question->pc, &image) != 0 && image.dli_sname != NULL) {
        snprintf(question->text, question->size, "%s+0x%lx", image.dli_sname,
                 (unsigned long)((const char *)question->pc - (const char *)image.dli_saddr));
    }
    return NULL;
}

/* The library takes more stack than a CUDA thread has. */
void sim_describe_code(const void *pc, char *text, size_t size) {
    Question question = {pc, text, size};
    pthread_t thread;
    snprintf(text, size, "%p", pc);
    if (pc != NULL && pthread_create(&thread, NULL, answer, &question) == 0) {
        pthread_join(thread, NULL);
    }
}
