/**
 * @file engine.h
 * @brief The ranks of a program that checks collectives: all in this process, or one of it by MPI.
 * @ingroup tools
 *
 * Compiled with WITH_MPI each process has one rank. Otherwise each device has one: the simulator's
 * (CUDASIM_DEVICES), or the GPUs that there are.
 */
#ifndef TOOLS_NCCL_ENGINE_H
#define TOOLS_NCCL_ENGINE_H

#include <stdbool.h>

#include <cuda_runtime.h>
#include <nccl.h>

/** A communicator, with those of its ranks that this process has. */
typedef struct LocalRanks {
    int ranks;            /**< of the communicator */
    int first;            /**< the first rank that this process has */
    int local;            /**< how many it has, in one row */
    ncclComm_t *comm;     /**< (local) */
    cudaStream_t *stream; /**< (local) */
} LocalRanks;

/** Begins; with MPI it takes its arguments away. */
void engine_begin(int *argc, char ***argv);

/** Ends the program, with a status that is the same for all processes: the largest. */
_Noreturn void engine_end(int status);

/** The least and the most ranks that a communicator can have here, at most 8. */
void engine_ranks(int *least, int *most);

/** Whether this process prints what concerns all. */
bool engine_speaks(void);

/** Makes a communicator. */
LocalRanks engine_open(int ranks);

/** Chooses the device of the i-th local rank. */
void engine_choose(const LocalRanks *engine, int i);

/** Waits for the streams of all local ranks. */
void engine_wait(const LocalRanks *engine);

/** Gives it back. */
void engine_close(LocalRanks *engine);

/** Ends the program if a call of CUDA or of NCCL has failed; 0 is success for both. */
#define CALL(call) engine_check((int)(call), #call, __FILE__, __LINE__)

/** A part of CALL. */
void engine_check(int status, const char *call, const char *file, int line);

#endif
