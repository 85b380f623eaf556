/**
 * @file nccl_check.c
 * @brief Checks every collective, type, operation and size, in and out of place: `make nccl-check`.
 * @ingroup tools
 *
 * Results are compared with double, in the limits of the type. Where sums have an order (cudasim,
 * MPI) they are compared bit by bit with what docs/nccl.md says, and the bytes on the wire with the
 * formulas. Guard bytes lie around every buffer.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/nccl/engine.h"
#include "tools/nccl/numbers.h"

#ifdef CUDASIM
#include <cudasim_nccl.h>
#endif

enum { GUARD = 64, LARGE = (1 << 20) + 3, MOST_SHOWN = 10 };

typedef enum CallKind {
    ALL_REDUCE,
    REDUCE,
    REDUCE_SCATTER,
    ALL_GATHER,
    BROADCAST,
    SEND_RECEIVE, /* to the next rank, from the one before */
    KINDS,
} CallKind;
static const char *const kind_names[] = {"AllReduce", "Reduce",    "ReduceScatter",
                                         "AllGather", "Broadcast", "Send and Recv"};

typedef struct CallCase {
    CallKind kind;
    ncclDataType_t type;
    ncclRedOp_t op;
    size_t count; /* as the call has it */
    int root;
    bool in_place;
    Numbers numbers;
} CallCase;

/* A rank's buffers, and on the host what is there before, and what must be there after. */
typedef struct Buffers {
    char *device[2]; /* [0] is sent, [1] received; in place all is in [0] */
    char *before[2], *after[2];
} Buffers;

static char *fetched;    /* room for one */
static Reduced *reduced; /* of all ranks: what becomes of each element that any of them sends */
static int failures, calls;

/* ---- shapes ---------------------------------------------------------------------------------- */

static bool reduces(CallKind kind) {
    return kind <= REDUCE_SCATTER;
}

static bool has_root(CallKind kind) {
    return kind == REDUCE || kind == BROADCAST;
}

static size_t in_count(const CallCase *c, int ranks) {
    return c->kind == REDUCE_SCATTER ? c->count * (size_t)ranks : c->count;
}

static size_t out_count(const CallCase *c, int ranks) {
    return c->kind == ALL_GATHER ? c->count * (size_t)ranks : c->count;
}

static size_t data_bytes(const CallCase *c, int ranks) {
    size_t in = in_count(c, ranks), out = out_count(c, ranks);
    return (in > out ? in : out) * type_bytes(c->type);
}

/* Bytes before the send buffer, and before the receive buffer, in the buffer that each is in. */
static size_t in_offset(const CallCase *c, int rank) {
    bool inside = c->in_place && c->kind == ALL_GATHER;
    return GUARD + (inside ? (size_t)rank * c->count * type_bytes(c->type) : 0);
}

static size_t out_offset(const CallCase *c, int rank) {
    bool inside = c->in_place && c->kind == REDUCE_SCATTER;
    return GUARD + (inside ? (size_t)rank * c->count * type_bytes(c->type) : 0);
}

/* ---- what must come out ---------------------------------------------------------------------- */

/* It is the same for all ranks. */
static void reduce_all(const CallCase *c, int ranks) {
    for (size_t i = 0; reduces(c->kind) && i < in_count(c, ranks); i++) {
        reduced[i] = number_reduced(c->numbers, c->type, c->op, ranks, i);
    }
}

/* Element i of a rank's result: in bits and in double. */
static Reduced expected(const CallCase *c, int rank, int ranks, size_t i) {
    if (reduces(c->kind)) {
        return reduced[(c->kind == REDUCE_SCATTER ? (size_t)rank * c->count : 0) + i];
    }
    Reduced one = {.error = 0};
    int from = c->kind == BROADCAST      ? c->root
               : c->kind == SEND_RECEIVE ? (rank + ranks - 1) % ranks
                                         : (int)(i / c->count);
    number_store(one.bits, c->numbers, c->type, from, c->kind == ALL_GATHER ? i % c->count : i);
    one.exact = number_value(one.bits, c->type);
    return one;
}

/* NCCL itself sums in an order of its own, so only whole numbers have the same bits there. */
static bool bits_are_defined(const CallCase *c) {
#ifdef CUDASIM
    (void)c;
    return true;
#else
    return !reduces(c->kind) || (c->numbers != NUMBERS_FRACTION && c->op != ncclAvg);
#endif
}

static bool receives(const CallCase *c, int rank) {
    return c->kind != REDUCE || rank == c->root;
}

static void prepare(const CallCase *c, Buffers *b, int rank, int ranks) {
    size_t size = type_bytes(c->type), bytes = data_bytes(c, ranks) + 2 * GUARD;
    int out = c->in_place ? 0 : 1;
    for (int k = 0; k < 2; k++) {
        memset(b->before[k], 0xA5, bytes);
    }
    for (size_t i = 0; i < in_count(c, ranks); i++) {
        number_store(b->before[0] + in_offset(c, rank) + i * size, c->numbers, c->type, rank, i);
    }
    for (int k = 0; k < 2; k++) {
        memcpy(b->after[k], b->before[k], bytes);
        CALL(cudaMemcpy(b->device[k], b->before[k], bytes, cudaMemcpyHostToDevice));
    }
    for (size_t i = 0; receives(c, rank) && i < out_count(c, ranks); i++) {
        Reduced one = expected(c, rank, ranks, i);
        memcpy(b->after[out] + out_offset(c, rank) + i * size, one.bits, size);
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void fail(const CallCase *c, const LocalRanks *engine,
                                                       const char *format, ...) {
    char text[200];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (failures++ < MOST_SHOWN) {
        printf("%s, %zu x %s%s%s, root %d, %d ranks%s: %s\n", kind_names[c->kind], c->count,
               type_name(c->type), reduces(c->kind) ? ", " : "",
               reduces(c->kind) ? op_name(c->op) : "", c->root, engine->ranks,
               c->in_place ? ", in place" : "", text);
    }
}

/* A result within the limits of its type, and as defined within them. */
static bool is_near(const CallCase *c, const Reduced *want, const char *got) {
    double x = number_value(got, c->type), defined = number_value(want->bits, c->type);
    return fabs(x - want->exact) <= want->error && fabs(defined - want->exact) <= want->error;
}

static void compare_results(const CallCase *c, const LocalRanks *engine, int rank, char *got) {
    size_t size = type_bytes(c->type);
    for (size_t i = 0; receives(c, rank) && i < out_count(c, engine->ranks); i++) {
        Reduced want = expected(c, rank, engine->ranks, i);
        char *here = got + out_offset(c, rank) + i * size;
        if (!is_near(c, &want, here) ||
            (bits_are_defined(c) && memcmp(here, want.bits, size) != 0)) {
            fail(c, engine, "rank %d has %.9g at %zu, not %.9g", rank, number_value(here, c->type),
                 i, number_value(want.bits, c->type));
            return;
        }
        memcpy(here, want.bits, size); /* so that the whole buffer can be compared */
    }
}

static void compare(const CallCase *c, const LocalRanks *engine, const Buffers *b, int rank) {
    size_t bytes = data_bytes(c, engine->ranks) + 2 * GUARD;
    int out = c->in_place ? 0 : 1;
    for (int k = 0; k < 2; k++) {
        CALL(cudaMemcpy(fetched, b->device[k], bytes, cudaMemcpyDeviceToHost));
        if (k == out) {
            compare_results(c, engine, rank, fetched);
        }
        if (failures == 0 && memcmp(fetched, b->after[k], bytes) != 0) {
            fail(c, engine, "rank %d: bytes beside the result were changed", rank);
        }
    }
}

#ifdef CUDASIM
static double formula(const CallCase *c, int rank, int ranks) {
    double bytes = (double)data_bytes(c, ranks), others = (double)(ranks - 1) / ranks;
    switch (c->kind) {
    case ALL_REDUCE:
        return 2 * bytes * others;
    case REDUCE_SCATTER:
    case ALL_GATHER:
        return bytes * others;
    case REDUCE:
        return rank == c->root ? 0 : bytes;
    case BROADCAST:
        return (rank + 1) % ranks == c->root ? 0 : bytes;
    default:
        return ranks == 1 ? 0 : bytes;
    }
}

static double wire_before[8];

static void note_wire(const LocalRanks *engine) {
    for (int rank = engine->first; rank < engine->first + engine->local; rank++) {
        wire_before[rank] = cudasim_wire_bytes(rank);
    }
}

static void compare_wire(const CallCase *c, const LocalRanks *engine) {
    for (int rank = engine->first; rank < engine->first + engine->local; rank++) {
        double sent = cudasim_wire_bytes(rank) - wire_before[rank];
        double want = formula(c, rank, engine->ranks);
        if (!(fabs(sent - want) <= 1e-3)) {
            fail(c, engine, "rank %d has sent %.0f bytes, not %.0f", rank, sent, want);
        }
    }
}
#else
static void note_wire(const LocalRanks *engine) {
    (void)engine;
}

static void compare_wire(const CallCase *c, const LocalRanks *engine) {
    (void)c, (void)engine;
}
#endif

/* ---- one case -------------------------------------------------------------------------------- */

static void call(const CallCase *c, const LocalRanks *engine, int i, const Buffers *b) {
    int rank = engine->first + i, ranks = engine->ranks;
    const void *in = b->device[0] + in_offset(c, rank);
    void *out = b->device[c->in_place ? 0 : 1] + out_offset(c, rank);
    ncclComm_t comm = engine->comm[i];
    cudaStream_t stream = engine->stream[i];
    switch (c->kind) {
    case ALL_REDUCE:
        CALL(ncclAllReduce(in, out, c->count, c->type, c->op, comm, stream));
        break;
    case REDUCE:
        CALL(ncclReduce(in, out, c->count, c->type, c->op, c->root, comm, stream));
        break;
    case REDUCE_SCATTER:
        CALL(ncclReduceScatter(in, out, c->count, c->type, c->op, comm, stream));
        break;
    case ALL_GATHER:
        CALL(ncclAllGather(in, out, c->count, c->type, comm, stream));
        break;
    case BROADCAST:
        CALL(ncclBroadcast(in, out, c->count, c->type, c->root, comm, stream));
        break;
    default:
        CALL(ncclSend(in, c->count, c->type, (rank + 1) % ranks, comm, stream));
        CALL(ncclRecv(out, c->count, c->type, (rank + ranks - 1) % ranks, comm, stream));
    }
    calls++;
}

static void try_case(const CallCase *c, const LocalRanks *engine, Buffers *buffers) {
    reduce_all(c, engine->ranks);
    for (int i = 0; i < engine->local; i++) {
        engine_choose(engine, i);
        prepare(c, &buffers[i], engine->first + i, engine->ranks);
    }
    note_wire(engine);
    CALL(ncclGroupStart());
    for (int i = 0; i < engine->local; i++) {
        call(c, engine, i, &buffers[i]);
    }
    CALL(ncclGroupEnd());
    engine_wait(engine);
    compare_wire(c, engine);
    for (int i = 0; i < engine->local; i++) {
        engine_choose(engine, i);
        compare(c, engine, &buffers[i], engine->first + i);
    }
}

/* ---- all cases ------------------------------------------------------------------------------- */

static void try_places(CallCase c, const LocalRanks *engine, Buffers *buffers) {
    for (int in_place = 0; in_place <= (c.kind != SEND_RECEIVE); in_place++) {
        c.in_place = in_place;
        try_case(&c, engine, buffers);
    }
}

/* The large size is a sum of whole numbers, or of fractions where the type has them. */
static void try_ops(CallCase c, const LocalRanks *engine, Buffers *buffers, bool large) {
    bool real = type_is_real(c.type);
    for (int op = ncclSum; op <= (reduces(c.kind) && !large ? ncclAvg : ncclSum); op++) {
        c.op = (ncclRedOp_t)op;
        c.numbers = op == ncclProd ? NUMBERS_FACTORS : NUMBERS_WHOLE;
        if (!large || !real) {
            try_places(c, engine, buffers);
        }
        c.numbers = NUMBERS_FRACTION;
        if (real) {
            try_places(c, engine, buffers);
        }
    }
}

static void try_kind(CallKind kind, const LocalRanks *engine, Buffers *buffers, size_t most) {
    static const size_t sizes[] = {1, 31, 1000, LARGE};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && sizes[s] <= most; s++) {
        /* Of what is cut into parts for all ranks, the size is the whole. */
        bool cut = kind == REDUCE_SCATTER || kind == ALL_GATHER;
        size_t parts = cut ? (size_t)engine->ranks : 1;
        for (int type = 0; type < ncclNumTypes; type++) {
            CallCase c = {.kind = kind,
                          .type = (ncclDataType_t)type,
                          .count = (sizes[s] + parts - 1) / parts};
            try_ops(c, engine, buffers, sizes[s] == LARGE);
            c.root = engine->ranks - 1;
            if (has_root(kind) && c.root > 0 && sizes[s] != LARGE) {
                try_ops(c, engine, buffers, false);
            }
        }
    }
}

static char *room(size_t bytes) {
    char *p = malloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "nccl-check: out of memory\n");
        exit(1);
    }
    return p;
}

static void try_ranks(int ranks, size_t most) {
    size_t bytes = (most + 8) * sizeof(double) + 2 * GUARD;
    LocalRanks engine = engine_open(ranks);
    Buffers buffers[8];
    fetched = room(bytes);
    reduced = (Reduced *)room((most + 8) * sizeof *reduced);
    for (int i = 0; i < engine.local; i++) {
        engine_choose(&engine, i);
        for (int k = 0; k < 2; k++) {
            CALL(cudaMalloc((void **)&buffers[i].device[k], bytes));
            buffers[i].before[k] = room(bytes);
            buffers[i].after[k] = room(bytes);
        }
    }
    for (int kind = 0; kind < KINDS; kind++) {
        try_kind((CallKind)kind, &engine, buffers, most);
    }
    for (int i = 0; i < engine.local; i++) {
        engine_choose(&engine, i);
        for (int k = 0; k < 2; k++) {
            CALL(cudaFree(buffers[i].device[k]));
            free(buffers[i].before[k]);
            free(buffers[i].after[k]);
        }
    }
    free(fetched);
    free(reduced);
    engine_close(&engine);
}

int main(int argc, char **argv) {
    int least, most;
    engine_begin(&argc, &argv);
    engine_ranks(&least, &most);
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc > 1 + quick) {
        fprintf(stderr, "usage: nccl_check [--quick]   (--quick: without the largest size)\n");
        engine_end(2);
    }
    /* The largest size takes seconds: for two ranks, and for the most. */
    for (int ranks = least; ranks <= most; ranks++) {
        try_ranks(ranks, !quick && (ranks == 2 || ranks == most) ? LARGE : 1000);
    }
    if (engine_speaks()) {
        printf("nccl-check: %d to %d ranks, %d calls, %d wrong\n", least, most, calls, failures);
    }
    engine_end(failures > 0);
}
