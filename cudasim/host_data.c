#define _GNU_SOURCE
#include "host_heap.h"

#ifdef __linux__
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The static and global variables of the program, as the linker's table of its file has them: of a
   copy from or to one it is then known how much it has room for. */

typedef struct HostVariable {
    const char *begin, *end;
} HostVariable;

static HostVariable *variables; /* by where they begin; none lies in another */
static size_t count;

/* ---- the table ------------------------------------------------------------------------------- */

/* Between two that begin at one place the larger is first. */
static int compare_variables(const void *one, const void *other) {
    const HostVariable *a = one, *b = other;
    int order = (a->begin > b->begin) - (a->begin < b->begin);
    return order != 0 ? order : (a->end < b->end) - (a->end > b->end);
}

/* One that lies within another is a second name of a part. */
static void drop_parts(size_t found) {
    for (size_t i = 0; i < found; i++) {
        if (count == 0 || variables[i].begin >= variables[count - 1].end) {
            variables[count++] = variables[i];
        }
    }
}

static void read_table(const ElfW(Sym) * table, size_t entries, const char *program) {
    size_t found = 0;
    variables = sim_realloc(NULL, entries * sizeof *variables);
    for (size_t i = 0; i < entries; i++) {
        bool variable = ELF64_ST_TYPE(table[i].st_info) == STT_OBJECT;
        if (variable && table[i].st_shndx != SHN_UNDEF && table[i].st_size > 0) {
            const char *begin = program + table[i].st_value;
            variables[found++] = (HostVariable){begin, begin + table[i].st_size};
        }
    }
    qsort(variables, found, sizeof *variables, compare_variables);
    drop_parts(found);
}

static void read_file(const char *file, const char *program) {
    const ElfW(Ehdr) *head = (const void *)file;
    const ElfW(Shdr) *sections = (const void *)(file + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type == SHT_SYMTAB) {
            read_table((const void *)(file + sections[i].sh_offset),
                       sections[i].sh_size / sizeof(ElfW(Sym)), program);
        }
    }
}

/* The first object is the program; its addresses in the file begin where it was loaded. */
static int note_place(struct dl_phdr_info *object, size_t size, void *program) {
    (void)size;
    *(const char **)program = (const char *)object->dlpi_addr;
    return 1;
}

/* In a sandbox the file may be shut; then nothing is known. */
static void find_variables(void) {
    const char *program = NULL;
    struct stat about;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        return;
    }
    size_t bytes = (size_t)about.st_size;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (map != MAP_FAILED) {
        dl_iterate_phdr(note_place, &program);
        read_file(map, program);
        munmap(map, bytes);
    }
}

/* ---- a question ------------------------------------------------------------------------------ */

static bool in_program(const char *p) {
    extern const char __executable_start[], end[];
    return p >= __executable_start && p < end;
}

size_t host_variable_room(const char *p) {
    static bool looked;
    if (!in_program(p)) {
        return SIZE_MAX;
    }
    if (!looked) {
        looked = true;
        find_variables();
    }
    size_t first = 0, after = count; /* of those that end past p */
    while (first < after) {
        size_t middle = first + (after - first) / 2;
        if (variables[middle].end > p) {
            after = middle;
        } else {
            first = middle + 1;
        }
    }
    bool known = first < count && variables[first].begin <= p;
    return known ? (size_t)(variables[first].end - p) : SIZE_MAX;
}
#else
size_t host_variable_room(const char *p) {
    (void)p;
    return SIZE_MAX;
}
#endif
