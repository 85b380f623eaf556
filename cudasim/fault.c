#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block.h"
#include "common/unset.h"
#include "device.h"
#include "rank.h"

/* Device memory is closed, and opened one allocation at a time when an operation touches it. So
   every fault comes here: most open something and go on, the others are mistakes. */

enum { SIGNAL_STACK = 128 << 10 };
#if defined __aarch64__
enum { TRAP = SIGTRAP };
#else
enum { TRAP = SIGILL };
#endif
static struct sigaction earlier[NSIG]; /* handlers that were there before ours */

static bool in_stacks(const Worker *worker, const char *p) {
    return worker->stacks != NULL && p >= worker->stacks - (1 << 20) &&
           p < worker->stacks + (size_t)(MAX_THREADS + 1) * STACK_BYTES;
}

static bool in_dynamic_shared(const Worker *worker, const char *p) {
    return p >= worker->dynamic_end - DYNAMIC_SHARED - PAGE && p < worker->dynamic_end + PAGE;
}

/* A copy may go to any device; a kernel has found its pointer in memory. */
static bool may_touch(const Allocation *a) {
    bool own = a->rank == NO_RANK || a->rank == sim_rank();
    return sim_worker == NULL || !sim_worker->in_kernel || (own && sim_reaches(sim_device(), a));
}

/* Whether memory of a rank has only not been opened yet: work of that rank runs, or a thread that
   has no rank and may be one of its own. */
static bool may_reach(int rank) {
    return sim_host()->rank == NO_RANK || sim_host()->rank == rank ||
           (sim_operation() != NULL && sim_operation()->rank == rank);
}

static void report_reach(const Allocation *a, bool write, const char *where) {
    bool own = a->rank == NO_RANK || a->rank == sim_rank();
    const char *verb = write ? "write" : "read";
    if (!own) {
        sim_report("memory of another rank", "%s at %s of memory of rank %d", verb, where, a->rank);
        return;
    }
    sim_report("memory of another device",
               "%s at %s of memory of device %d by a kernel on device %d", verb, where, a->device,
               sim_device());
    sim_detail_reach(sim_device(), a);
}

static void report_in_kernel(const char *p, bool write, const char *where) {
    const Worker *worker = sim_worker;
    const char *verb = write ? "write" : "read";
    const Allocation *a = sim_on_device(p) ? sim_nearest(p) : NULL;
    if (a != NULL && a->live && p < a->pages + a->length && !may_touch(a)) {
        report_reach(a, write, where);
    } else if ((uintptr_t)p < PAGE) {
        sim_report("null pointer", "%s of address %p at %s", verb, p, where);
        sim_detail_error();
        sim_detail_heap();
    } else if (a != NULL && !a->live && p >= a->base && p < a->base + a->bytes) {
        sim_report("use after free", "%s of freed device memory at %s", verb, where);
    } else if (sim_on_device(p)) {
        sim_report("out-of-bounds access", "%s at %s", verb, where);
    } else if (in_stacks(worker, p)) {
        sim_report("stack overflow", "a thread has more than %d KiB of local variables, at %s",
                   LOCAL_BYTES >> 10, where);
    } else if (in_dynamic_shared(worker, p)) {
        sim_report("out-of-bounds access", "%s of dynamic shared memory at %s", verb, where);
        sim_detail("address is %td bytes past the %zu bytes that the launch asked for",
                   p - (worker->dynamic + worker->launch->site.shared),
                   worker->launch->site.shared);
        sim_detail_dynamic();
    } else {
        sim_report("out-of-bounds access", "%s of address %p at %s", verb, p, where);
    }
    sim_detail_thread();
    if (sim_on_device(p)) {
        sim_detail_address(p);
    }
}

static void report_call(const char *p, const void *caller) {
    char where[600];
    sim_describe_fault(caller, true, where, sizeof where);
    bool null = (uintptr_t)p < PAGE;
    sim_report(null ? "null pointer" : "out-of-bounds access", "call of a function at %p at %s", p,
               where);
    sim_detail("the pointer leads to no function: a table that is not filled, or never copied?");
    sim_detail_thread();
}

/* A GPU goes on with a number that means nothing; so do some CPUs. */
static void report_division(const void *pc) {
    char where[600];
    sim_describe_fault(pc, true, where, sizeof where);
    sim_report("undefined behaviour", "an integer division by 0, or with a result too large, at %s",
               where);
    sim_detail_thread();
    sim_stop();
}

/* Where a path can only end in undefined behaviour, a compiler writes a trap in its place. */
static void report_foreseen(const void *pc) {
    char where[600];
    sim_describe_fault(pc, true, where, sizeof where);
    sim_report(
        "undefined behaviour",
        "the compiler has foreseen it at %s: a division by what is always 0, a null pointer, "
        "or a loop without an end",
        where);
    sim_detail_thread();
    sim_stop();
}

/* To the host, the __shared__ variables of a file lie in the first page: see shared.c. */
static void detail_cure(const char *p) {
    size_t bytes;
    if (p < sim_device_range(&bytes) + PAGE) {
        sim_detail("a __shared__ variable belongs to a block while it runs: let a thread of the "
                   "block write it");
    } else {
        sim_detail_address(p);
        sim_detail("the host cannot touch a GPU's memory: use cudaMemcpy");
    }
}

/* ---- of the host ----------------------------------------------------------------------------- */

/* The call of the runtime, or the work that it does, which has followed a pointer of the program's;
   false if the program's own code has. */
static bool in_call(char *call, size_t size) {
    const Host *host = sim_host();
    const Operation *operation = sim_operation();
    const char *what = operation != NULL ? operation->what : host->call;
    Place place = operation != NULL ? operation->place : host->call_place;
    if (host->depth == 0 || sim_in_host_function()) {
        return false;
    }
    if (place.file == NULL) {
        snprintf(call, size, "%s", what);
    } else {
        snprintf(call, size, "%s at %s:%d", what, sim_file(place), place.line);
    }
    return true;
}

static void report_reach_of_host(const char *p, bool write, const void *pc) {
    char where[600];
    if (in_call(where, sizeof where)) {
        sim_report("host access to device memory", "%s %s a device pointer", where,
                   write ? "writes through" : "reads through");
        sim_detail_address(p);
        sim_detail("it runs on the host: give it memory of the host, and cudaMemcpy the value");
    } else {
        sim_describe_fault(pc, false, where, sizeof where);
        sim_report("host access to device memory", "host code %s a device pointer at %s",
                   write ? "writes through" : "reads through", where);
        detail_cure(p);
    }
}

/* Memory that is not CUDA's, which only a call of the runtime makes the simulator's matter. */
static bool report_call_with(const siginfo_t *info, const void *context, bool write) {
    char call[600];
    const char *verb = write ? "writes" : "reads";
    if (!in_call(call, sizeof call)) {
        return false;
    }
    if ((uintptr_t)info->si_addr < PAGE && !sim_is_misaligned(info)) {
        sim_report("null pointer", "%s %s at address %p", call, verb, info->si_addr);
    } else if (unset_pointer(info, context)) {
        sim_report("out-of-bounds access", "%s uses a pointer that was never set", call);
    } else {
        sim_report("out-of-bounds access", "%s %s at address %p, where the host may not", call,
                   verb, info->si_addr);
        sim_detail("a wrong pointer, memory that is shorter than the call says, or that was "
                   "released before the host has waited for the stream%s?",
                   write ? ", or that is constant" : "");
    }
    return true;
}

/* Pinned or managed memory, which is open to the host as long as it lives. */
static void report_leaving(const Allocation *a, const char *p, const void *pc) {
    char where[600];
    const char *memory = a->managed ? "managed" : "pinned";
    sim_describe_fault(pc, false, where, sizeof where);
    if (!a->live && p >= a->base && p < a->base + a->bytes) {
        sim_report("use after free", "host code at %s uses %s memory that was freed before", where,
                   memory);
    } else {
        sim_report("out-of-bounds access", "host code at %s leaves %s memory", where, memory);
    }
    sim_detail_address(p);
}

/* False if it is not ours: an access of the host to memory that we do not know. */
static bool handle_fault(const siginfo_t *info, void *context) {
    const char *p = info->si_addr;
    const void *pc = sim_program_counter(context), *caller;
    bool write = sim_was_write(context);
    bool in_kernel = sim_worker != NULL && sim_worker->in_kernel;
    Allocation *a = sim_allocation(p);

    bool inside = a != NULL && a->live && p < a->pages + a->length;
    bool closed = inside && !a->open;
    if (inside && sim_operation() != NULL && may_touch(a)) {
        sim_open(a); /* unless another core just has: then the access succeeds now */
        return true;
    }
    if (closed && (a->pinned || a->managed) && !sim_pending_copy(p, write, pc)) {
        return true;
    }
    int owner = rank_memory_owner(p);
    if (owner != NO_RANK && may_reach(owner)) {
        rank_memory_show_too(owner);
        return true;
    }
    char where[600];
    int overflow = rank_overflow(p);
    if (owner != NO_RANK) {
        sim_describe_fault(pc, in_kernel, where, sizeof where);
        sim_report("memory of another rank", "%s at %s of memory of rank %d",
                   write ? "write" : "read", where, owner);
        sim_detail("ranks are like processes: none can reach what another has; send the data");
    } else if (overflow >= 0) {
        sim_describe_fault(pc, false, where, sizeof where);
        sim_report("stack overflow",
                   "the host code of rank %d has more than 8 MiB of local variables, at %s",
                   overflow, where);
    } else if (in_kernel && sim_called_nowhere(info, context, &caller)) {
        report_call(p, caller);
    } else if (in_kernel && unset_pointer(info, context)) {
        sim_describe_fault(pc, true, where, sizeof where);
        sim_report("out-of-bounds access", "through a pointer that was never set, at %s", where);
        sim_detail_thread();
    } else if (in_kernel && sim_is_misaligned(info)) {
        sim_describe_fault(pc, true, where, sizeof where);
        sim_report("misaligned access",
                   "an access at %s to an address that is not a multiple of its "
                   "16 bytes, or that no memory has",
                   where);
        sim_detail_thread();
    } else if (in_kernel) {
        sim_describe_fault(pc, true, where, sizeof where);
        report_in_kernel(p, write, where);
    } else if (closed && a->managed) {
        ; /* sim_pending_copy() has reported it */
    } else if (sim_on_device(p) && !(a != NULL && a->managed)) {
        report_reach_of_host(p, write, pc);
    } else if (a == NULL && !report_call_with(info, context, write)) {
        return false;
    } else if (a != NULL && !closed) {
        report_leaving(a, p, pc);
    }
    sim_stop();
}

/* The handler that was there before us decides. Ours stays, since it may use what we guard. */
static void hand_on(int signal, siginfo_t *info, void *context) {
    if (earlier[signal].sa_flags & SA_SIGINFO) {
        earlier[signal].sa_sigaction(signal, info, context);
    } else {
        sigaction(signal, &earlier[signal], NULL); /* it comes again */
    }
}

/* A host's thread waits for its turn: another's may be running a kernel. */
static void on_fault(int signal, siginfo_t *info, void *context) {
    sim_enter_fault();
    bool ours = handle_fault(info, context);
    sim_leave_fault();
    if (!ours) {
        hand_on(signal, info, context);
    }
}

static void on_division(int signal, siginfo_t *info, void *context) {
    if (sim_worker != NULL && sim_worker->in_kernel) {
        report_division(sim_program_counter(context));
    }
    hand_on(signal, info, context);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    if (sim_worker != NULL && sim_worker->in_kernel) {
        report_foreseen(sim_program_counter(context));
    }
    hand_on(signal, info, context);
}

/* ---- installing ------------------------------------------------------------------------------ */

/* A stack overflow leaves no stack for its handler. */
void sim_signal_stack(void) {
    void *stack =
        mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack != MAP_FAILED) {
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIGNAL_STACK}, NULL);
    }
}

void sim_drop_signal_stack(void) {
    stack_t stack = {0};
    if (sigaltstack(NULL, &stack) == 0 && stack.ss_size == SIGNAL_STACK) {
        sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
        munmap(stack.ss_sp, SIGNAL_STACK);
    }
}

static void catch_signal(int signal, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(signal, &action, &earlier[signal]);
}

void sim_catch_faults(void) {
    sim_signal_stack();
    catch_signal(SIGSEGV, on_fault);
    catch_signal(SIGBUS, on_fault);
    catch_signal(SIGFPE, on_division);
    catch_signal(TRAP, on_trap);
    sim_catch_ticks();
}

void sim_begin(void) {
    static bool begun;
    if (!begun) {
        begun = true;
        sim_read_settings();
        sim_catch_end();
        sim_reserve_memory();
        sim_need_devices(1);
        sim_catch_faults();
    }
}
