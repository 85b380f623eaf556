#include "block.h"

/* A switch saves the registers that a called function must keep, notes the stack pointer, loads the
   other one and takes its registers back. The rest of the processor's state is the compiler's
   business, as in any function call.

   It ends with a jump, not with ret: a processor guesses that ret goes back to the last call, which
   another thread has made. A jump it guesses by where it went before, and most threads of a block
   were left at the same line. So that this line is the kernel's, what leads to the switch calls it
   last, which compilers make a jump too; and a result is kept on the stack that is left. */

#if defined __x86_64__ && defined __linux__ && !defined CUDASIM_UCONTEXT

__asm__(".text\n"
        ".globl sim_stack_switch\n"
        ".type sim_stack_switch, @function\n"
        "sim_stack_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    pushq %rdx\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %rax\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n"
        "    jmp *%rcx\n"
        ".size sim_stack_switch, . - sim_stack_switch\n");

void *sim_stack_make(char *lowest, char *end, void (*begin)(void)) {
    (void)lowest;
    void **stack = (void **)((uintptr_t)end & ~(uintptr_t)15);
    *--stack = NULL; /* begin's return address: it has none */
    *--stack = (void *)begin;
    for (int i = 0; i < 7; i++) {
        *--stack = NULL;
    }
    return stack;
}

#elif defined __aarch64__ && defined __linux__ && !defined CUDASIM_UCONTEXT

/* Of the vector registers a called function keeps the lower halves of v8 to v15. */
__asm__(".text\n"
        ".globl sim_stack_switch\n"
        ".type sim_stack_switch, %function\n"
        "sim_stack_switch:\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    str x2, [sp, #160]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x9, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldr x0, [sp, #160]\n"
        "    add sp, sp, #176\n"
        "    mov x30, xzr\n" /* the return address of begin, which has none */
        "    br x9\n"
        ".size sim_stack_switch, . - sim_stack_switch\n");

void *sim_stack_make(char *lowest, char *end, void (*begin)(void)) {
    enum { KEPT = 176 / sizeof(void *), ADDRESS = 11 /* of where it goes on */ };
    (void)lowest;
    void **stack = (void **)((uintptr_t)end & ~(uintptr_t)15) - KEPT;
    memset(stack, 0, KEPT * sizeof *stack);
    stack[ADDRESS] = (void *)begin;
    return stack;
}

#else

#include <ucontext.h>

/* Slower, since it saves the signal mask with two system calls, and portable. */

void *sim_stack_make(char *lowest, char *end, void (*begin)(void)) {
    ucontext_t *context = sim_realloc(NULL, sizeof *context);
    getcontext(context);
    context->uc_stack.ss_sp = lowest;
    context->uc_stack.ss_size = (size_t)(end - lowest);
    context->uc_link = NULL;
    makecontext(context, begin, 0);
    return context;
}

void *sim_stack_switch(void **from, void *to, void *result) {
    if (*from == NULL) {
        *from = sim_realloc(NULL, sizeof(ucontext_t));
    }
    swapcontext(*from, to);
    return result;
}

#endif
