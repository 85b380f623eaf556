/* Attack 2. Runs before main(), while the program is being loaded, and ends it with success. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: others.c call.c */
#include "common/lab00.h"

#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

static void attack(void) {
}

static size_t nothing(const ModelConfig *config) {
    (void)config;
    return 0;
}

static size_t (*resolve(void))(const ModelConfig *) {
    call(SYS_exit_group, 0, 0, 0, 0);
    return nothing;
}

size_t bytes_params(const ModelConfig *config) __attribute__((ifunc("resolve")));
