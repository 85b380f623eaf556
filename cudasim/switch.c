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
