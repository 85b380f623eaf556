#include "common/crash.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/device.h"

#if defined __SANITIZE_ADDRESS__
#define SANITIZED true
#elif defined __has_feature
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

static volatile int zero = 0;
static int *volatile nowhere = (int *)24;

static void read_nowhere(void) {
    zero = *nowhere;
}
#ifdef __x86_64__ /* elsewhere a division has the result 0, an emulator calls this one NULL */
static int *volatile never_set = (int *)0xfefefefefefefefe; /* unset.h */
static void read_never_set(void) {
    zero = never_set[100];
}
static void divide(void) {
    zero = 100 / zero;
}
#endif
/* Each call keeps what the next one looks at, so that none of them can become a loop. */
static int descend(volatile int *before) {
    volatile int room[1000] = {*before};
    return room[0] == 0 ? descend(room) + room[0] : 0;
}
static void overflow_stack(void) {
    zero = descend(&zero);
}

static void take_too_long(void) {
    zero = raise(SIGXCPU);
}

static void read_nowhere_in_each_thread(void) {
#pragma omp parallel num_threads(4)
    read_nowhere();
}

static void crash_again(void) {
    alarm(10); /* it does not wait for itself */
    read_nowhere();
}

static void crash_in_a_crash(void) {
    crash_then(crash_again);
    read_nowhere();
}

#ifndef BACKEND_CUDA /* after a crash a tensor can be fetched from the simulated GPU */
static Device *gpu;
static float *on_gpu;

static void fetch(void) {
    float x = 0;
    device_download(gpu, &x, on_gpu, sizeof x);
    _exit(x == 3 ? 7 : 8);
}

static void use_gpu_and(void (*mistake)(void)) {
    const float x = 3;
    gpu = device_gpu_new(ops_gpu);
    on_gpu = device_alloc(gpu, sizeof x);
    device_upload(gpu, on_gpu, &x, sizeof x);
    crash_then(fetch);
    mistake();
}

static void fetch_after_bad_address(void) {
    use_gpu_and(read_nowhere);
}

#ifdef __x86_64__
static void fetch_after_division(void) {
    use_gpu_and(divide);
}
#endif
#endif

/* Runs it in a process of its own; how that ended, and what it said. */
static int end_of(void (*mistake)(void), char *text, size_t size) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        crash_tell();
        mistake();
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t n;
         length < size - 1 && (n = read(ends[0], text + length, size - 1 - length)) > 0;) {
        length += (size_t)n;
    }
    text[length] = '\0';
    char *of_emulator =
        strstr(text, "qemu: "); /* which adds a line of its own (docs/machines.md) */
    if (of_emulator != NULL) {
        *of_emulator = '\0';
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

Test(crash, says_where) {
    static const struct {
        void (*mistake)(void);
        int signal;
        const char *words, *function;
    } cases[] = {
        {read_nowhere, SIGSEGV,
         "crash: a bad address, 24 bytes past NULL, at crash_test.c:", "read_nowhere"},
#ifdef __x86_64__
        {read_never_set, SIGSEGV,
         "crash: a pointer that was never set, at crash_test.c:", "read_never_set"},
        {divide, SIGFPE, "crash: integer division by 0, at crash_test.c:", "divide"},
#endif
        {take_too_long, SIGXCPU, "crash: the time was over, at crash_test.c:", "take_too_long"},
        {overflow_stack, SIGSEGV, "crash: the stack is full, at crash_test.c:", "descend"},
    };
    if (SANITIZED) {
        return; /* whose own report is longer */
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4000];
        int status = end_of(cases[i].mistake, text, sizeof text);
        cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal, "%zu: %x", i, status);
        cr_expect(strstr(text, cases[i].words) && strstr(text, cases[i].function), "%zu: %s", i,
                  text);
        cr_expect(strchr(text, '\n') == text + strlen(text) - 1, "one line, not '%s'", text);
    }
}

#ifndef BACKEND_CUDA
Test(crash, leaves_the_simulated_gpu_in_use) {
    static void (*const mistakes[])(void) = {
        fetch_after_bad_address,
#ifdef __x86_64__
        fetch_after_division,
#endif
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes && !SANITIZED; i++) {
        char text[4000];
        int status = end_of(mistakes[i], text, sizeof text);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%zu: %x %s", i, status, text);
        cr_expect(strstr(text, ", at crash_test.c:") != NULL, "%zu: %s", i, text);
    }
}
#endif

Test(crash, within_a_crash_ends_the_program) {
    char text[4000];
    int status = end_of(crash_in_a_crash, text, sizeof text);
    if (!SANITIZED) {
        cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%x %s", status, text);
    }
}

/* The first thread's report is complete, whatever the others do. */
Test(crash, of_several_threads_says_where) {
    for (int i = 0; i < 20 && !SANITIZED; i++) {
        char text[4000];
        int status = end_of(read_nowhere_in_each_thread, text, sizeof text);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%x", status);
        cr_assert(strstr(text, ", at crash_test.c:") != NULL, "%s", text);
        cr_assert_eq(text[strlen(text) - 1], '\n', "%s", text);
    }
}

/* A handler that the program has set stays. */
static void own_handler(int number) {
    (void)number;
    _exit(7);
}

Test(crash, leaves_other_handlers) {
    char text[4000];
    signal(SIGSEGV, own_handler);
    int status = end_of(read_nowhere, text, sizeof text);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7 && text[0] == '\0', "%x %s", status,
              text);
}
