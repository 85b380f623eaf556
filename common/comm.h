/**
 * @file comm.h
 * @brief The ranks of a run: who they are, and how their tensors come together.
 * @ingroup common
 *
 * A run has several ranks where several processes were started together (`mpirun -n 4 train ...`,
 * in a build with MPI=1); else it has one, and nothing here costs anything. Tensors are
 * moved by the calls of nccl.h:
 *
 *  - on the simulated GPU, and with host memory on the CPU, cudasim, whose calls travel by MPI.
 *    Sums are made in the order of ranks, so their bits are those of one process; see
 *    docs/mpi.md;
 *  - with BACKEND=cuda NVIDIA's NCCL. There is no order, and host memory cannot be used.
 *
 *     Comm *comm = comm_open();
 *     comm_connect(comm, device);
 *     comm_all_reduce(comm, grad, count, F32);    // of every rank the same sum
 *     comm_close(comm);
 *
 * Each rank must make the same calls in the same order. Those on tensors are put into the stream
 * of comm_use_stream(), after the ops before them; on the CPU they are complete on return. One that
 * fails ends the program.
 */
#ifndef COMMON_COMM_H
#define COMMON_COMM_H

#include "common/device.h"

/** A rank's end of what connects it with the others. */
typedef struct Comm Comm;

/**
 * Joins the ranks that were started with this one.
 *
 * @return to be given to comm_close(); never NULL: a program that was started alone is rank 0 of 1
 */
Comm *comm_open(void);

/** Ends what comm_open() and comm_connect() have begun; waits for the other ranks. */
void comm_close(Comm *comm);

/** This one, from 0 on. */
int comm_rank(const Comm *comm);

/** How many there are. */
int comm_size(const Comm *comm);

/**
 * How long a rank waits for the others before it ends the program, in a line that says for whom.
 *
 * @param comm    before comm_connect()
 * @param seconds 0 for no limit; 1800 unless this is called
 */
void comm_set_timeout(Comm *comm, int seconds);

/**
 * Whether sums over ranks are made in their order, which gives the same bits each time, and costs
 * no more than twice the time; else MPI chooses. NCCL knows no order.
 *
 * @param comm     before comm_connect()
 * @param of_ranks true unless this is called
 */
void comm_set_order(Comm *comm, bool of_ranks);

/** Makes the GPU current that is this rank's on its host: several ranks take turns. For
 * device_gpu_new(). */
void comm_choose_gpu(const Comm *comm);

/**
 * Each rank brings some bytes, and gets those of all. For numbers of the host; it does not look at
 * the device.
 *
 * @param      comm  the ranks
 * @param      mine  (bytes) host memory
 * @param      bytes of each rank
 * @param[out] all   (ranks, bytes) host memory
 */
void comm_gather(Comm *comm, const void *mine, size_t bytes, void *all);

/** Waits until all ranks are here. */
void comm_barrier(Comm *comm);

/**
 * Does something on each rank, on rank 0 first: what is wrong for all of them it says once, and the
 * others do not begin.
 *
 * @param comm    the ranks
 * @param stage   returns 0, or an exit status after a line on stderr; must not wait for other ranks
 * @param context passed to it
 * @return on each rank the status of the first one that has failed; 0 if none has
 */
int comm_in_turn(Comm *comm, int (*stage)(void *context), void *context);

/** Ends the program on all ranks, since this one cannot go on: it has said why. */
#if defined __GNUC__
__attribute__((noreturn))
#endif
void comm_abandon(const Comm *comm, int status);

/* ---- tensors --------------------------------------------------------------------------------- */

/**
 * Connects the ranks for tensors of a device; waits for all of them.
 *
 * @param comm   the ranks
 * @param device where the tensors are that the calls below are given; borrowed
 * @return 0, or -1 with a line on stderr where this build cannot do that
 */
int comm_connect(Comm *comm, Device *device);

/**
 * The communicator of all ranks, for programs that make NCCL's own calls (an ncclComm_t). It takes
 * memory of the device that comm_connect() was given.
 *
 * @param comm after comm_connect()
 * @return owned by comm
 */
struct ncclComm *comm_nccl(const Comm *comm);

/**
 * A communicator of some ranks, by ncclCommSplit(): those that give the same color, in the order of
 * their keys. Each rank makes this call, and in the same order.
 *
 * @param comm  after comm_connect()
 * @param color 0 or more
 * @param key   as a rule the place of this rank among them
 * @return owned by comm
 */
struct ncclComm *comm_split(Comm *comm, int color, int key);

/** The end of what comm_connect() has begun; comm_close() does that, too. */
void comm_disconnect(Comm *comm);

/** The calls that follow go into this cudaStream_t; NULL is the default stream, that of the ops. */
void comm_use_stream(Comm *comm, void *stream);

/**
 * The sum over all ranks, in place, on each of them. Halves are added in float and rounded once.
 *
 * @param comm  the ranks
 * @param data  (count) device memory
 * @param count elements
 * @param type  of the elements
 */
void comm_all_reduce(Comm *comm, void *data, size_t count, Precision type);

/**
 * The same sum, of which rank r gets part r.
 *
 * @param      comm  the ranks
 * @param[out] out   (count) device memory; may be part r of `in`, else they must not overlap
 * @param      in    (ranks, count) device memory
 * @param      count elements of a part
 * @param      type  of the elements
 */
void comm_reduce_scatter(Comm *comm, void *out, const void *in, size_t count, Precision type);

/**
 * The arrays of all ranks, one after the other, on each of them.
 *
 * @param      comm  the ranks
 * @param[out] out   (ranks, bytes) device memory
 * @param      in    (bytes) device memory; may be part r of `out`, else they must not overlap
 * @param      bytes of each rank's array
 */
void comm_all_gather(Comm *comm, void *out, const void *in, size_t bytes);

/** The bytes of rank `root`, on each of them: `data` is (bytes) device memory. */
void comm_broadcast(Comm *comm, void *data, size_t bytes, int root);

/**
 * Bytes of tensors that this rank has sent so far, over all communicators, as cudasim_wire_bytes()
 * counts them; what comm_gather() moves is not among them. 0 where nobody counts: NVIDIA's NCCL.
 */
double comm_sent(const Comm *comm);

/**
 * Sends (bytes) of device memory to a rank that receives as many. Where two ranks send to each
 * other, all four calls must stand between comm_begin_group() and comm_end_group().
 */
void comm_send(Comm *comm, const void *data, size_t bytes, int to);

/** The other side of comm_send(). */
void comm_receive(Comm *comm, void *data, size_t bytes, int from);

/** The calls up to comm_end_group() are one: none of them waits for another. */
void comm_begin_group(Comm *comm);

/** The end of what comm_begin_group() has begun. */
void comm_end_group(Comm *comm);

#endif
