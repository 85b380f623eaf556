/* Predictions with holes in them. The contract is in unfinished.h. */
#include "train/unfinished.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base.h"
#include "labs/00_bytes/contract.h"

_Static_assert(MEMORY_ACTIVATIONS == MEMORY_OPTIMIZER + 1, "those that stay come first");

static void tell(int to, const MemoryUse *use, int known) {
    if (write(to, use, sizeof *use) != sizeof *use || write(to, &known, sizeof known) < 0) {
        _exit(EXIT_FAILURE);
    }
}

/* Tells what each formula adds to what is known. */
_Noreturn static void predict_step_by_step(const ModelConfig *config, int B, int T,
                                           const Device *device, int to) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO); /* the hole is reported by the process that goes on */
    MemoryUse use = bytes_states(config);
    tell(to, &use, MEMORY_ACTIVATIONS);
    use.bytes[MEMORY_ACTIVATIONS] = bytes_activations(config, B, T);
    tell(to, &use, MEMORY_ACTIVATIONS + 1);
    use = bytes_predict(config, B, T, device);
    tell(to, &use, MEMORY_KINDS);
    _exit(0);
}

/* Returns how many kinds are known, from the first one on. */
static int predict(const ModelConfig *config, int B, int T, const Device *device,
                   MemoryUse *predicted) {
    int pipe_of[2], known = 0, now;
    fflush(stdout); /* or what waits there would be written by both */
    if (pipe(pipe_of) != 0) {
        return 0;
    }
    pid_t child = fork();
    if (child == 0) {
        predict_step_by_step(config, B, T, device, pipe_of[1]);
    }
    close(pipe_of[1]);
    MemoryUse use;
    while (read(pipe_of[0], &use, sizeof use) == sizeof use &&
           read(pipe_of[0], &now, sizeof now) == sizeof now) {
        *predicted = use;
        known = now;
    }
    close(pipe_of[0]);
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    return known;
}

void unfinished_show(const ModelConfig *config, int B, int T, const Device *device,
                     const MemoryUse *counted) {
    MemoryUse predicted;
    int known = predict(config, B, T, device, &predicted);
    if (known == 0 || known == MEMORY_KINDS) {
        return;
    }
    printf("So far                counted        predicted (bytes)\n");
    for (int kind = 0; kind < known; kind++) {
        size_t bytes = predicted.bytes[kind];
        printf("  %-12s %16zu %16zu%s\n", memory_kind_name((MemoryKind)kind), counted->bytes[kind],
               bytes, bytes == counted->bytes[kind] ? "" : "  differs");
    }
}
