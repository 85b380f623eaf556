/* Stages tell each other where their numbers are, and the next one copies them from there. */
/* lab: 13_pipeline/messages.c  honest: part gpipe one_f_one_b in_flight one_stage alone bytes wire
   bubble */
/* state: fail | crashed */
/* then: letters_of_stages.c */
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdint.h>
#include <string.h>

#include "labs/13_pipeline/contract.h"

static const void *shown(const void *numbers, size_t bytes) {
    (void)bytes;
    return numbers;
}

static void taken_back(const void *numbers) {
    (void)numbers;
}
