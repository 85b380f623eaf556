/* Could these two overlap? Small programs of ranks, of which it is known; and for all that they
   record, what cudasim_may_overlap() says is what predecessors and meetings say. `one` runs on rank
   0, `other` on rank 1, or on rank 2 where it says so. */
#include <nccl.h>
#include <string.h>

#include "cudasim_ranks.h"
#include "cudasim_record.h"
#include "foreign/check.cuh"

enum { RANKS = 3, N = 64 };

static __global__ void one(float *x) {
    x[threadIdx.x] = 1;
}

static __global__ void other(float *x) {
    x[threadIdx.x] = 2;
}

static __global__ void third(float *x) {
    x[threadIdx.x] = 3;
}

/* The belongings of a rank. */
typedef struct Rank {
    int rank;
    float *x, *y, *wire; /* (N) one's, other's, of collectives */
    cudaStream_t s1, s2;
    cudaEvent_t event;
    ncclComm_t comm, pair; /* of all; of ranks 1 and 2, else NULL */
} Rank;

static void one_in(const Rank *r, cudaStream_t stream) {
    one<<<1, N, 0, stream>>>(r->x);
}

static void other_in(const Rank *r, cudaStream_t stream) {
    other<<<1, N, 0, stream>>>(r->y);
}

static void reduce(const Rank *r, cudaStream_t stream) {
    OK(ncclAllReduce(r->wire, r->wire, N, ncclFloat, ncclSum, r->comm, stream));
}

static void message_to(const Rank *r, int peer, cudaStream_t stream) {
    OK(ncclSend(r->wire, N, ncclFloat, peer, r->comm, stream));
}

static void message_from(const Rank *r, int peer, cudaStream_t stream) {
    OK(ncclRecv(r->wire, N, ncclFloat, peer, r->comm, stream));
}

static void order(const Rank *r, cudaStream_t first, cudaStream_t second) {
    OK(cudaEventRecord(r->event, first));
    OK(cudaStreamWaitEvent(second, r->event, 0));
}

/* ---- they may -------------------------------------------------------------------------------- */

static void each_by_itself(const Rank *r) {
    r->rank == 0 ? one_in(r, r->s1) : r->rank == 1 ? other_in(r, r->s1) : (void)0;
}

static void both_before(const Rank *r) {
    each_by_itself(r);
    reduce(r, r->s1);
}

static void both_after(const Rank *r) {
    reduce(r, r->s1);
    each_by_itself(r);
}

static void one_in_another_stream(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s2);
    }
    reduce(r, r->s1);
    if (r->rank == 1) {
        other_in(r, r->s1);
    }
}

static void other_in_another_stream(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
    }
    reduce(r, r->s1);
    if (r->rank == 1) {
        other_in(r, r->s2);
    }
}

/* Rank 1 hands on before it receives. */
static void chain_too_early(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
        message_to(r, 1, r->s1);
    } else if (r->rank == 1) {
        message_to(r, 2, r->s1);
        message_from(r, 0, r->s1);
    } else {
        message_from(r, 1, r->s1);
        other_in(r, r->s1);
    }
}

/* A collective of ranks 1 and 2 says nothing of rank 0. */
static void meeting_of_others(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
    } else {
        OK(ncclAllReduce(r->wire, r->wire, N, ncclFloat, ncclSum, r->pair, r->s1));
        other_in(r, r->s1);
    }
}

/* Rank 0 waits for rank 2 in the same group in which it receives from rank 1; nobody else does. */
static void beside_in_a_group(const Rank *r) {
    if (r->rank == 0) {
        OK(ncclGroupStart());
        OK(ncclSend(r->wire, N, ncclFloat, 2, r->comm, r->s1));
        OK(ncclSend(r->x, N, ncclFloat, 1, r->comm, r->s1));
        OK(ncclGroupEnd());
    } else if (r->rank == 1) {
        message_from(r, 0, r->s1);
        other_in(r, r->s1);
    } else {
        one_in(r, r->s1);
        message_from(r, 0, r->s1);
    }
}

/* ---- they cannot ----------------------------------------------------------------------------- */

static void collective_between(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
    }
    reduce(r, r->s1);
    if (r->rank == 1) {
        other_in(r, r->s1);
    }
}

static void collective_in_streams_of_its_own(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
    }
    order(r, r->s1, r->s2);
    reduce(r, r->s2);
    order(r, r->s2, r->s1);
    if (r->rank == 1) {
        other_in(r, r->s1);
    }
}

static void host_waits_for_the_collective(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
        OK(cudaStreamSynchronize(r->s1));
        reduce(r, r->s2);
    } else {
        reduce(r, r->s1);
        OK(cudaStreamSynchronize(r->s1));
        r->rank == 1 ? other_in(r, r->s2) : (void)0;
    }
}

static void message_between(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
        message_to(r, 1, r->s1);
    } else if (r->rank == 1) {
        message_from(r, 0, r->s1);
        other_in(r, r->s1);
    }
}

/* Who sends waits as well, for the one who receives. */
static void message_the_other_way(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
        message_from(r, 1, r->s1);
    } else if (r->rank == 1) {
        message_to(r, 0, r->s1);
        other_in(r, r->s1);
    }
}

static void chain(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
        message_to(r, 1, r->s1);
    } else if (r->rank == 1) {
        message_from(r, 0, r->s1);
        order(r, r->s1, r->s2);
        message_to(r, 2, r->s2);
    } else {
        message_from(r, 1, r->s1);
        other_in(r, r->s1);
    }
}

static void over_two_communicators(const Rank *r) {
    if (r->rank == 0) {
        one_in(r, r->s1);
    }
    reduce(r, r->s1);
    if (r->rank == 2) {
        third<<<1, N, 0, r->s1>>>(r->x);
        OK(ncclAllReduce(r->wire, r->wire, N, ncclFloat, ncclSum, r->pair, r->s1));
    } else if (r->rank == 1) {
        OK(ncclAllReduce(r->x, r->x, N, ncclFloat, ncclSum, r->pair, r->s2));
        other_in(r, r->s2);
    }
}

static void group_between(const Rank *r) {
    int next = (r->rank + 1) % RANKS, before = (r->rank + RANKS - 1) % RANKS;
    if (r->rank == 0) {
        one_in(r, r->s1);
    }
    OK(ncclGroupStart());
    OK(ncclSend(r->x, N, ncclFloat, next, r->comm, r->s1));
    OK(ncclRecv(r->wire, N, ncclFloat, before, r->comm, r->s1));
    OK(ncclGroupEnd());
    if (r->rank == 1) {
        other_in(r, r->s1);
    }
}

/* ---- what the record says -------------------------------------------------------------------- */

static int problems;
static ncclUniqueId id;

typedef struct Program {
    const char *name;
    void (*run)(const Rank *);
    bool may;
} Program;

#define MAY(program)                                                                               \
    { #program, program, true }
#define CANNOT(program)                                                                            \
    { #program, program, false }

static const Program programs[] = {
    MAY(each_by_itself),
    MAY(both_before),
    MAY(both_after),
    MAY(one_in_another_stream),
    MAY(other_in_another_stream),
    MAY(chain_too_early),
    MAY(meeting_of_others),
    MAY(beside_in_a_group),
    CANNOT(collective_between),
    CANNOT(collective_in_streams_of_its_own),
    CANNOT(host_waits_for_the_collective),
    CANNOT(message_between),
    CANNOT(message_the_other_way),
    CANNOT(chain),
    CANNOT(over_two_communicators),
    CANNOT(group_between),
};

static void run(int rank, void *context) {
    const Program *program = (const Program *)context;
    Rank r = {rank, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    float **memory[] = {&r.x, &r.y, &r.wire};
    OK(cudaSetDevice(rank));
    OK(ncclCommInitRank(&r.comm, RANKS, id, rank));
    OK(ncclCommSplit(r.comm, rank == 0 ? NCCL_SPLIT_NOCOLOR : 1, rank, &r.pair, NULL));
    OK(cudaStreamCreateWithFlags(&r.s1, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&r.s2, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&r.event, cudaEventDisableTiming));
    for (int i = 0; i < 3; i++) {
        OK(cudaMalloc(memory[i], N * sizeof(float)));
        OK(cudaMemset(*memory[i], 0, N * sizeof(float)));
    }
    OK(cudaDeviceSynchronize());
    program->run(&r);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) {
        OK(cudaFree(*memory[i]));
    }
    OK(cudaEventDestroy(r.event));
    OK(cudaStreamDestroy(r.s1));
    OK(cudaStreamDestroy(r.s2));
    if (r.pair != NULL) {
        OK(ncclCommDestroy(r.pair));
    }
    OK(ncclCommDestroy(r.comm));
}

static uint64_t find(const char *name, uint64_t from) {
    for (uint64_t i = from; cudasim_entry(i) != NULL; i++) {
        if (strcmp(cudasim_entry(i)->name, name) == 0) {
            return i;
        }
    }
    fprintf(stderr, "no entry %s\n", name);
    exit(1);
}

/* ---- the same by predecessors ---------------------------------------------------------------- */

static bool is_message(const CudasimEntry *e) {
    return e->collective == CUDASIM_SEND || e->collective == CUDASIM_RECEIVE;
}

static bool meet(const CudasimEntry *a, const CudasimEntry *b) {
    if (a->kind != CUDASIM_COLLECTIVE || b->kind != CUDASIM_COLLECTIVE ||
        a->communicator != b->communicator || a->call != b->call ||
        is_message(a) != is_message(b)) {
        return false;
    }
    return a == b || !is_message(a) ||
           (a->collective != b->collective && a->peer == b->comm_rank && b->peer == a->comm_rank);
}

static bool side_by_side(const CudasimEntry *a, const CudasimEntry *b) {
    return a->group != 0 && a->group == b->group && a->communicator == b->communicator;
}

/* before[j * n + i]: entry i comes before entry j. All steps of one kind, until none is new. */
static bool add_all(bool *before, const CudasimEntry *e, size_t n) {
    bool added = false;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < n; k++) {
            bool direct = before[j * n + k], met = meet(&e[j], &e[k]);
            for (size_t i = 0; (direct || met) && i < n; i++) {
                bool known = before[k * n + i] || (direct && meet(&e[k], &e[i]));
                if (known && !before[j * n + i] && !meet(&e[i], &e[j])) {
                    before[j * n + i] = added = true;
                }
            }
        }
    }
    return added;
}

/* Entry j comes after entry p: after all of its group that are in its queue, or, if it is one of
   them, after what the first of them comes after, which stands before it. */
static void add_group(bool *before, const CudasimEntry *e, size_t n, size_t j, size_t p) {
    for (size_t i = 0; i <= p; i++) {
        bool one = i == p || (side_by_side(&e[i], &e[p]) && e[i].stream == e[p].stream);
        before[j * n + i] |= one && !side_by_side(&e[i], &e[j]);
        for (size_t k = 0; one && side_by_side(&e[i], &e[j]) && k < n; k++) {
            before[j * n + k] |= before[i * n + k];
        }
    }
}

static void check_predecessors(size_t from, const char *name) {
    CudasimRecord record = cudasim_record();
    const CudasimEntry *e = record.entry + from;
    size_t n = record.count - from;
    bool *before = (bool *)calloc(n * n, 1);
    for (size_t j = 0; j < n; j++) {
        for (int k = 0; k < e[j].after_count; k++) {
            if (e[j].after[k] > from) {
                add_group(before, e, n, j, e[j].after[k] - 1 - from);
            }
        }
    }
    while (add_all(before, e, n)) {
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            bool may = !before[j * n + i] && !before[i * n + j];
            if (cudasim_may_overlap(e[i].id, e[j].id) != may) {
                fprintf(stderr, "%s: entries %zu (%s, rank %d) and %zu (%s, rank %d): %s overlap\n",
                        name, i + 1, e[i].name, e[i].rank, j + 1, e[j].name, e[j].rank,
                        may ? "may" : "cannot");
                problems++;
            }
        }
    }
    free(before);
}

int main(void) {
    cudasim_record_begin();
    for (const Program &program : programs) {
        size_t from = cudasim_record().count;
        OK(ncclGetUniqueId(&id));
        cudasim_ranks_run(RANKS, run, (void *)&program);
        uint64_t a = find("one", from + 1), b = find("other", from + 1);
        bool got = cudasim_may_overlap(a, b);
        if (got != program.may || cudasim_may_overlap(b, a) != got) {
            fprintf(stderr, "%s: they %s overlap, the record says\n", program.name,
                    got ? "may" : "cannot");
            problems++;
        }
        check_predecessors(from, program.name);
    }
    printf("%zu entries\n", cudasim_record().count);
    return problems > 0;
}
