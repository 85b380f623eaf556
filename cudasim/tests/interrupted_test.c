/* Did a fault read or write? An x86 processor says it; on aarch64 the system or the instruction. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <signal.h>
#include <ucontext.h>

#include "cudasim/sim.h"

/* As GNU as encodes them. */
Test(interrupted, instructions_read_or_write) {
    static const struct {
        uint32_t code;
        bool writes;
        const char *text;
    } rows[] = {
        {0xb9400020, false, "ldr w0, [x1]"},
        {0xb9000020, true, "str w0, [x1]"},
        {0xb9800020, false, "ldrsw x0, [x1]"},
        {0x38c01420, false, "ldrsb w0, [x1], #1"},
        {0x39000020, true, "strb w0, [x1]"},
        {0xf8627820, false, "ldr x0, [x1, x2, lsl #3]"},
        {0xf8227820, true, "str x0, [x1, x2, lsl #3]"},
        {0x3dc00020, false, "ldr q0, [x1]"},
        {0x3d800020, true, "str q0, [x1]"},
        {0x3ca26820, true, "str q0, [x1, x2]"},
        {0xbd400020, false, "ldr s0, [x1]"},
        {0xbd000020, true, "str s0, [x1]"},
        {0xa9400820, false, "ldp x0, x2, [x1]"},
        {0xa9000820, true, "stp x0, x2, [x1]"},
        {0xad400420, false, "ldp q0, q1, [x1]"},
        {0xad000420, true, "stp q0, q1, [x1]"},
        {0x4c407020, false, "ld1 {v0.16b}, [x1]"},
        {0x4c007020, true, "st1 {v0.16b}, [x1]"},
        {0x885ffc20, false, "ldaxr w0, [x1]"},
        {0x8802fc20, true, "stlxr w2, w0, [x1]"},
        {0xb8220020, true, "ldadd w2, w0, [x1]"},
        {0xb8228020, true, "swp w2, w0, [x1]"},
        {0xb8bfc020, false, "ldapr w0, [x1]"},
        {0x88e2fc20, true, "casal w2, w0, [x1]"},
        {0xd50b7420, true, "dc zva, x0"},
        {0xa540a020, false, "ld1w {z0.s}, p0/z, [x1]"},
        {0xe540e020, true, "st1w {z0.s}, p0, [x1]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(sim_aarch64_writes(rows[i].code), rows[i].writes, "%s", rows[i].text);
    }
}

#if defined __x86_64__
static bool was_write(bool write) {
    ucontext_t context = {0};
    context.uc_mcontext.gregs[REG_ERR] = write ? 6 : 4;
    return sim_was_write(&context);
}
#elif defined __aarch64__
/* The record of Linux says the contrary of the instruction, and is believed. */
static bool was_write(bool write) {
    static const uint32_t load = 0xb9400020, store = 0xb9000020;
    static ucontext_t context;
    context.uc_mcontext.pc = (uintptr_t)(write ? &load : &store);
    struct esr_context *record = (void *)context.uc_mcontext.__reserved;
    *record = (struct esr_context){.head = {0x45535201, sizeof *record}, .esr = write ? 64 : 0};
    return sim_was_write(&context);
}

Test(interrupted, without_a_record_the_instruction_is_looked_at) {
    static const uint32_t load = 0xb9400020, store = 0xb9000020;
    static ucontext_t context;
    context.uc_mcontext.pc = (uintptr_t)&load;
    cr_expect(!sim_was_write(&context));
    context.uc_mcontext.pc = (uintptr_t)&store;
    cr_expect(sim_was_write(&context));
}
#endif

Test(interrupted, reads_and_writes_are_told_apart) {
    cr_expect(was_write(true));
    cr_expect(!was_write(false));
}
