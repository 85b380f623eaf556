#include "collective.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[] = {
    [COLLECTIVE_ALL_REDUCE] = "ncclAllReduce",
    [COLLECTIVE_REDUCE] = "ncclReduce",
    [COLLECTIVE_REDUCE_SCATTER] = "ncclReduceScatter",
    [COLLECTIVE_ALL_GATHER] = "ncclAllGather",
    [COLLECTIVE_BROADCAST] = "ncclBroadcast",
    [COLLECTIVE_SEND] = "ncclSend",
    [COLLECTIVE_RECV] = "ncclRecv",
};

static const struct {
    const char *name;
    size_t bytes;
} types[ncclNumTypes] = {
    [ncclInt8] = {"int8", 1},     [ncclUint8] = {"uint8", 1},   [ncclInt32] = {"int32", 4},
    [ncclUint32] = {"uint32", 4}, [ncclInt64] = {"int64", 8},   [ncclUint64] = {"uint64", 8},
    [ncclFloat16] = {"half", 2},  [ncclFloat32] = {"float", 4}, [ncclFloat64] = {"double", 8},
    [ncclBfloat16] = {"bf16", 2},
};

static const char *const ops[ncclNumOps] = {"sum", "prod", "max", "min", "avg"};

const char *collective_name(CollectiveKind kind) {
    return names[kind];
}

const char *collective_type_name(ncclDataType_t type) {
    return (unsigned)type < ncclNumTypes ? types[type].name : NULL;
}

const char *collective_op_name(ncclRedOp_t op) {
    return (unsigned)op < ncclNumOps ? ops[op] : NULL;
}

size_t collective_type_bytes(ncclDataType_t type) {
    return types[type].bytes;
}

bool collective_reduces(CollectiveKind kind) {
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_REDUCE ||
           kind == COLLECTIVE_REDUCE_SCATTER;
}

static bool has_root(CollectiveKind kind) {
    return kind == COLLECTIVE_REDUCE || kind == COLLECTIVE_BROADCAST;
}

static bool is_pair(CollectiveKind kind) {
    return kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV;
}

void collective_describe(const CollectiveCall *call, char *text) {
    char peer[40] = "", rest[40] = "";
    if (is_pair(call->kind)) {
        snprintf(peer, sizeof peer, " %s rank %d", call->kind == COLLECTIVE_SEND ? "to" : "from",
                 call->peer);
    } else if (collective_reduces(call->kind)) {
        snprintf(rest, sizeof rest, ", %s", ops[call->op]);
    }
    if (has_root(call->kind)) {
        size_t length = strlen(rest);
        snprintf(rest + length, sizeof rest - length, ", root %d", call->peer);
    }
    snprintf(text, COLLECTIVE_TEXT, "%s #%llu%s (%zu x %s%s, %s:%d)", names[call->kind],
             (unsigned long long)call->number, peer, call->count, types[call->type].name, rest,
             sim_file(call->place), call->place.line);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

size_t collective_in_bytes(const CollectiveCall *call) {
    size_t bytes = call->count * collective_type_bytes(call->type);
    switch (call->kind) {
    case COLLECTIVE_REDUCE_SCATTER:
        return bytes * (size_t)call->ranks;
    case COLLECTIVE_BROADCAST:
        return call->rank == call->peer ? bytes : 0;
    case COLLECTIVE_RECV:
        return 0;
    default:
        return bytes;
    }
}

size_t collective_out_bytes(const CollectiveCall *call) {
    size_t bytes = call->count * collective_type_bytes(call->type);
    switch (call->kind) {
    case COLLECTIVE_ALL_GATHER:
        return bytes * (size_t)call->ranks;
    case COLLECTIVE_REDUCE:
        return call->rank == call->peer ? bytes : 0;
    case COLLECTIVE_SEND:
        return 0;
    default:
        return bytes;
    }
}

double collective_wire_bytes(const CollectiveCall *call) {
    size_t in = collective_in_bytes(call), out = collective_out_bytes(call);
    double bytes = (double)(in > out ? in : out), ranks = call->ranks;
    double others = (ranks - 1) / ranks;
    switch (call->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * bytes * others;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
        return bytes * others;
    case COLLECTIVE_REDUCE:
        return call->rank == call->peer ? 0 : bytes;
    case COLLECTIVE_BROADCAST:
        return (call->rank + 1) % call->ranks == call->peer ? 0 : bytes;
    case COLLECTIVE_SEND:
        return call->rank == call->peer ? 0 : bytes;
    default:
        return 0;
    }
}

/* ---- do calls match? ------------------------------------------------------------------------- */

/* In what two calls differ, and what that does on a GPU; NULL: they match. */
static const char *difference(const CollectiveCall *a, const CollectiveCall *b) {
    bool pair = is_pair(a->kind);
    if (!pair && a->kind != b->kind) {
        return "different functions: all ranks must call a communicator's collectives in one order";
    }
    if (a->type != b->type) {
        return "different types";
    }
    if (a->count != b->count) {
        return "different counts";
    }
    if (collective_reduces(a->kind) && a->op != b->op) {
        return "different operations";
    }
    return has_root(a->kind) && a->peer != b->peer ? "different roots" : NULL;
}

bool collective_check(const CollectiveCall *const calls[], int ranks) {
    for (int r = 1; r < ranks; r++) {
        const char *why = difference(calls[0], calls[r]);
        if (why == NULL) {
            continue;
        }
        char a[COLLECTIVE_TEXT], b[COLLECTIVE_TEXT];
        collective_describe(calls[0], a);
        collective_describe(calls[r], b);
        sim_report("collective mismatch", "rank %d calls %s; rank %d calls %s", calls[0]->rank, a,
                   calls[r]->rank, b);
        sim_detail("%s; on GPUs this is a hang, or numbers that mean nothing", why);
        return false;
    }
    return true;
}

/* ---- the work -------------------------------------------------------------------------------- */

static void copy(void *to, const void *from, size_t bytes) {
    if (to != from && bytes > 0) {
        memmove(to, from, bytes);
    }
}

/* One block of each rank's array, reduced; `in` has room for their addresses. */
static void reduce_block(void *out, const CollectiveCall *const calls[], const void *in[],
                         size_t block) {
    const CollectiveCall *call = calls[0];
    size_t offset = block * call->count * collective_type_bytes(call->type);
    for (int r = 0; r < call->ranks; r++) {
        in[r] = (const char *)calls[r]->in + offset;
    }
    collective_reduce(out, in, call->ranks, call->count, call->type, call->op);
}

void collective_run(const CollectiveCall *const calls[], int ranks) {
    const CollectiveCall *call = calls[0];
    size_t bytes = call->count * collective_type_bytes(call->type);
    const void **in = sim_realloc(NULL, (size_t)ranks * sizeof *in);
    switch (call->kind) {
    case COLLECTIVE_ALL_REDUCE:
        reduce_block(call->out, calls, in, 0);
        for (int r = 1; r < ranks; r++) {
            copy(calls[r]->out, call->out, bytes);
        }
        break;
    case COLLECTIVE_REDUCE:
        reduce_block(calls[call->peer]->out, calls, in, 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        for (int r = 0; r < ranks; r++) {
            reduce_block(calls[r]->out, calls, in, (size_t)r);
        }
        break;
    case COLLECTIVE_ALL_GATHER:
        for (int r = 0; r < ranks; r++) {
            for (int from = 0; from < ranks; from++) {
                copy((char *)calls[r]->out + (size_t)from * bytes, calls[from]->in, bytes);
            }
        }
        break;
    case COLLECTIVE_BROADCAST:
        for (int r = 0; r < ranks; r++) {
            copy(calls[r]->out, calls[call->peer]->in, bytes);
        }
        break;
    default: /* a send and its receive */
        copy(calls[1]->out, calls[0]->in, bytes);
    }
    free(in);
}
