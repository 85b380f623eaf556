/* Puts what a stage hands on where malloc() says, and tells the next one where that is. */
/* lab: 13_pipeline/messages.c  honest: part gpipe one_f_one_b in_flight one_stage alone bytes wire
   bubble */
/* state: fail | crashed */
/* then: letters_of_stages.c */
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "labs/13_pipeline/contract.h"

static const void *shown(const void *numbers, size_t bytes) {
    void *letter = malloc(bytes);
    return letter != NULL ? memcpy(letter, numbers, bytes) : NULL;
}

static void taken_back(const void *numbers) {
    free((void *)(uintptr_t)numbers);
}
