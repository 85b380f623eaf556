/**
 * @file contract.h
 * @brief The holes of lab 11: several devices train one model, each on its part of the batch.
 * @ingroup labs
 *
 * Each rank is a process with a device and a whole model. All begin with the same weights, learn
 * from different micro-batches, and add up their gradients:
 *
 *     g = sum over ranks r = 0 ... R - 1 of g_r,     g_r = sum over the micro-batches of r of
 *                                                          1 / (targets of the whole window) * dl
 *
 * Every rank then has the same g, and updates by itself to the same weights. The divisor counts the
 * valid targets of all ranks, so g is the gradient of the window's mean, however ragged the parts
 * are; a mean of the ranks' means is not.
 *
 * An ncclComm_t is a rank's end of what connects it with the others (docs/nccl.md). The calls of
 * nccl.h are put into a stream, as kernels are, and all ranks make them in the same order. On the
 * CPU (device->host_memory) the ops are in no stream: what they read and write must be there when
 * they are called, so the host waits for the stream, cudaStreamSynchronize().
 *
 * In the grader all ranks are one process, and take turns. As a process would, each has a copy of
 * the lab's static data.
 *
 * Sources: P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", JPDC 69 (2009); S. Li et al., "PyTorch Distributed: experiences on accelerating
 * data parallel training", VLDB 2020, arXiv 2006.15704, sections 3.2 and 4.2.
 */
#ifndef LABS_11_DATA_PARALLEL_CONTRACT_H
#define LABS_11_DATA_PARALLEL_CONTRACT_H

#include <nccl.h>

#include "common/model.h"

/* ---- ring.c: an all-reduce of sends and receives --------------------------------------------- */

/**
 * Adds up an array over all ranks, in place, around a ring: rank r sends to rank r + 1 and receives
 * from rank r - 1, modulo R. The array is cut into R chunks, of which each step moves one:
 *
 *     chunk c    from number b(c) to b(c + 1) - 1, where b(R) = count, and the other b(c) are
 *                count * c / R rounded down to a multiple of 4: ops want 16 bytes. It may be empty
 *     step s     of R - 1, s = 0 ...: sends chunk r - s; adds the one that comes, r - s - 1,
 *                to its own: x[i] = incoming[i] + x[i]
 *     then       of R - 1, s = 0 ...: sends chunk r - s + 1; the one that comes, r - s, is a sum
 *                that is complete, and takes the place of its own
 *
 * So the sum of chunk c begins with rank c: ((x_c + x_(c+1)) + x_(c+2)) + ... modulo R. The
 * order is that of no other all-reduce, and the same on each rank.
 *
 * All of it is in the default stream, and no rank waits for another while that waits for it: the
 * send and the receive of a step are one group. Nothing is sent or added for R = 1.
 *
 * @param         device   where the arrays are; its ops add: axpby()
 * @param         comm     the ranks
 * @param[in,out] x        (count) device memory
 * @param         count    numbers, fewer than R also
 * @param[out]    incoming (ring_scratch(count, R)) device memory for chunks on their way
 */
void ring_all_reduce(Device *device, ncclComm_t comm, float *x, size_t count, float *incoming);

/** Numbers of the largest chunk. */
size_t ring_scratch(size_t count, int ranks);

/** Bytes that rank `rank` sends in ring_all_reduce(): exactly, also where chunks differ. */
size_t ring_sent(size_t count, int rank, int ranks);

/* ---- shard_data.c: who learns from what ------------------------------------------------------ */

/* An epoch is a list of rows in an order that all ranks know. In a *turn* each rank has one
   micro-batch, of up to B rows: rank 0 the first B rows from where the turn begins, rank 1 the next
   B, and so on. Where the rows end, the last micro-batch is short, and ranks after it have none. So
   every row is learned from once, and all ranks have as many turns. */

/**
 * The rows of a rank in the turn that begins at row `begin`.
 *
 * @param      begin 0 to rows
 * @param      rows  of the epoch
 * @param      B     rows of a micro-batch, at least 1
 * @param      rank  which
 * @param      ranks how many
 * @param[out] first the first of them; `rows` where there are none
 * @return how many
 */
size_t shard_rows(size_t begin, size_t rows, size_t B, int rank, int ranks, size_t *first);

/**
 * The row after `turns` turns of all ranks that begin at row `begin`. The valid targets of the rows
 * from `begin` to there are the divisor of a window of that many turns.
 *
 * @return at most `rows`, also where that many turns are more than the epoch has
 */
size_t shard_end(size_t begin, size_t rows, size_t B, int ranks, size_t turns);

/** Turns from row `begin` to the end of the epoch; the last one may be short. */
size_t shard_turns(size_t begin, size_t rows, size_t B, int ranks);

/* ---- ddp.c: gradients that are summed while backward runs ------------------------------------ */

/**
 * Gradients of a model on their way.
 *
 * *Buckets.* Backward completes the gradients of one part of the model after the other: the head
 * (layer L: the scale and bias of the last layer norm), block L - 1, ..., block 0, the embedding
 * (layer -1: both of its matrices, since the head adds to wte early and the embedding late). A
 * bucket takes whole parts, in this order, until it has at least `bucket_bytes`; then it is closed,
 * and the next part begins another. The end of backward closes the last one, if there is anything
 * in it. A parameter that is not in model->params, or has no gradient here, is in none.
 *
 * *Overlap.* As soon as a bucket is closed, one group of ncclAllReduce() with a call for each of
 * its parameters, in place, in an order that all ranks have, is put into a stream of its own
 * (cudaStreamNonBlocking). There it waits for the backward that has filled the bucket, and for
 * nothing later; the backward of the parts below goes on beside it. On a GPU the host waits for
 * nothing in ddp_begin(), ddp_leave() and ddp_end().
 */
typedef struct Ddp Ddp;

/**
 * Prepares a stream, events, and buckets. Several may be open at the same time.
 *
 * @param model        whose gradients; borrowed
 * @param comm         the ranks; borrowed
 * @param bucket_bytes of gradients; 1 closes a bucket with each part
 * @return to be given to ddp_close()
 */
Ddp *ddp_open(Model *model, ncclComm_t comm, size_t bucket_bytes);

/** Waits for its stream and gives all of it back: its streams and events are destroyed. NULL is
    fine. */
void ddp_close(Ddp *ddp);

/**
 * Gives every rank the weights of rank 0, of all that is in model->params: a broadcast of each, of
 * its bytes, whatever the precision. It comes after the ops before it, which may still compute
 * these weights, and they are there for the ops that follow.
 */
void ddp_broadcast(Ddp *ddp);

/**
 * Before the backward of a micro-batch.
 *
 * @param ddp  of the model that learns
 * @param last whether it is the last one of its window on this rank: then ddp_leave() sums the
 *             gradients, which have those of the micro-batches before in them. Else nothing is sent
 */
void ddp_begin(Ddp *ddp, bool last);

/**
 * For model->leave (common/model.h): a part of a pass has run. Only the backward of a window's last
 * micro-batch concerns it, and that leaves each part once: evaluations, forward and other
 * micro-batches come here, too.
 *
 * @param ddp      a Ddp
 * @param layer    -1, a block, or L
 * @param backward whether its backward has run
 */
void ddp_leave(void *ddp, int layer, bool backward);

/**
 * After the backward of a micro-batch. Where it was the last one, its last bucket is closed, and
 * the ops that follow find the sums.
 */
void ddp_end(Ddp *ddp);

/* ---- predictions ----------------------------------------------------------------------------- */

/**
 * Buckets of a window.
 *
 * @param config       a model without adapters
 * @param bucket_bytes as for ddp_open()
 */
int ddp_buckets(const ModelConfig *config, size_t bucket_bytes);

/**
 * Bytes that each rank sends in a window, whatever the buckets, where all-reduces go around a ring:
 * 2 (R - 1) / R of the gradients, which are floats in every precision.
 *
 * @param config a model without adapters
 * @param ranks  R
 */
double ddp_sent(const ModelConfig *config, int ranks);

/**
 * The moment when the last all-reduce ends. They run one after the other; each begins when its
 * bucket is complete, or when the one before has ended.
 *
 * @param buckets  how many
 * @param complete (buckets) when backward has completed each [s], ascending
 * @param reduce   (buckets) how long its all-reduce takes [s]
 */
double ddp_time(int buckets, const double *complete, const double *reduce);

#endif
