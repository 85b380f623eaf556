/* Which calls the kernel takes of a probe, by where they come from and by what they would change.
   The contract is in probe_seal.h. */
#define _GNU_SOURCE
#include "grader/probe_seal.h"

#include <cuda_runtime.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grader/probe_filter.h"
#include "grader/wire.h"
#include "kernels/base.h"

#if defined CUDASIM && defined FILTER_MACHINE

enum { MOST_RANGES = 128, RANGE_RULES = 6, OTHER_RULES = 32 };

/* Addresses from `begin` to `last`, of the same upper 32 bits. */
typedef struct CodeRange {
    uint64_t begin, last;
} CodeRange;

typedef struct CodeRanges {
    CodeRange range[MOST_RANGES];
    int count;
} CodeRanges;

/* The code of libraries, and all code and constants. */
typedef struct MappedCode {
    CodeRanges callers, fixed;
} MappedCode;

static void add_range(CodeRanges *ranges, uint64_t begin, uint64_t end) {
    while (begin < end) {
        uint64_t border = (begin | UINT32_MAX) + 1, part = end < border ? end : border;
        CHECK(ranges->count < MOST_RANGES, "more than %d pieces of code", MOST_RANGES);
        ranges->range[ranges->count++] = (CodeRange){begin, part - 1};
        begin = part;
    }
}

/* One object in memory; the first is the program. */
static int add_object(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    MappedCode *mapped = data;
    bool program = mapped->fixed.count == 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uint64_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        bool code = part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0;
        if (part->p_type == PT_GNU_RELRO ||
            (part->p_type == PT_LOAD && (part->p_flags & PF_W) == 0)) {
            add_range(&mapped->fixed, begin, end);
        }
        if (code && !program) {
            add_range(&mapped->callers, begin, end);
        }
    }
    return 0;
}

static struct sock_filter load(size_t offset) {
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static struct sock_filter jump(int test, uint32_t value, int yes, int no) {
    return (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), value, (uint8_t)yes,
                                        (uint8_t)no);
}

static struct sock_filter verdict_of(uint32_t verdict) {
    return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
}

/* Jumps over the `ranges` and the one rule after them if the number of 64 bits at `offset` lies in
   one of them. A range has six rules: its upper half is looked at, then its lower half. */
static void find(struct sock_filter **rule, size_t offset, const CodeRanges *ranges) {
    for (int i = 0; i < ranges->count; i++) {
        CodeRange range = ranges->range[i];
        int left = (ranges->count - 1 - i) * RANGE_RULES + 1;
        filter_add(rule, load(offset + sizeof(uint32_t)));
        filter_add(rule, jump(BPF_JEQ, (uint32_t)(range.begin >> 32), 0, 4));
        filter_add(rule, load(offset));
        filter_add(rule, jump(BPF_JGE, (uint32_t)range.begin, 0, 2));
        filter_add(rule, jump(BPF_JGT, (uint32_t)range.last, 1, 0));
        filter_add(rule, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)left));
    }
}

#endif

void probe_seal(void) {
#if defined CUDASIM && defined FILTER_MACHINE
    static const int changing[] = {SYS_mmap, SYS_mprotect, SYS_pkey_mprotect, SYS_munmap,
                                   SYS_mremap};
    enum { CHANGING = sizeof changing / sizeof *changing };
    static MappedCode mapped;
    static struct sock_filter filter[2 * MOST_RANGES * RANGE_RULES + OTHER_RULES] = {FILTER_BEGIN};
    const struct sock_filter refuse = verdict_of(SECCOMP_RET_ERRNO | EPERM),
                             allow = verdict_of(SECCOMP_RET_ALLOW);
    struct sock_filter *rule = filter + FILTER_BEGINS;
    if (getauxval(AT_BASE) == 0) { /* no loader: the program has its libraries in it */
        return;
    }
    dl_iterate_phdr(add_object, &mapped);
    find(&rule, offsetof(struct seccomp_data, instruction_pointer), &mapped.callers);
    filter_add(&rule, refuse);
    filter_add(&rule, load(offsetof(struct seccomp_data, nr)));
    for (int i = 0; i < CHANGING; i++) {
        filter_add(&rule, jump(BPF_JEQ, (uint32_t)changing[i], CHANGING - i + 5, 0));
    }
    filter_add(&rule, jump(BPF_JEQ, SYS_close, 1, 0));
    filter_add(&rule, allow);
    filter_add(&rule, load(offsetof(struct seccomp_data, args)));
    filter_add(&rule, jump(BPF_JEQ, WIRE_EVENTS, 1, 0));
    filter_add(&rule, allow);
    filter_add(&rule, refuse);
    find(&rule, offsetof(struct seccomp_data, args), &mapped.fixed);
    filter_add(&rule, allow);
    filter_add(&rule, refuse);
    filter_put_on(filter, (size_t)(rule - filter));
#endif
}
