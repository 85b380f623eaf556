/* The data of a collective, between processes. The contract is in link.h.

   Sums are the same bits as where all ranks are in one process: each element is summed by one rank,
   which has it from all and adds in the order of ranks, and then gives the sum to the others. Each
   rank sends as much as in a ring. */
#include <limits.h>
#include <stdlib.h>

#include "link.h"

/* A collective goes in pieces of at most this many elements, so that what is in between fits. */
enum { PIECE = 1 << 24 };

/* A collective on its way. */
typedef struct Move {
    const Communicator *comm;
    const CollectiveCall *call;
    MPI_Comm link;
    MPI_Datatype element;
    size_t bytes; /* of an element */
    int *counts;  /* (ranks) elements of the piece that each rank sums */
    int *starts;  /* (ranks) where they begin in the piece */
    int *mine;    /* (ranks) counts[rank], from each rank */
    int *places;  /* (ranks) where those go in `parts` */
    char *parts;  /* elements of all ranks that this one sums */
    char text[COLLECTIVE_TEXT];
} Move;

Card card_of(const CollectiveCall *call) {
    Card card = {.call = *call};
    size_t length = strlen(call->place.file), room = sizeof card.file - 1;
    memcpy(card.file, call->place.file + (length > room ? length - room : 0),
           length > room ? room : length);
    return card;
}

void card_open(Card *card) {
    card->call.in = card->call.out = NULL;
    card->call.place.file = card->file;
}

MPI_Datatype link_element(size_t bytes) {
    return bytes == 1   ? MPI_BYTE
           : bytes == 2 ? MPI_INT16_T
           : bytes == 4 ? MPI_INT32_T
                        : MPI_INT64_T;
}

static void finish(Move *move, MPI_Request request) {
    link_wait(&request, NULL, 1, move->comm->rank, move->text);
}

/* ---- do all ranks call the same? ------------------------------------------------------------- */

/* Cards go from each rank to each: so a rank that waits knows for whom. */
static void compare(const Move *move) {
    int rank = move->comm->rank, ranks = move->comm->ranks, count = 0;
    Card *cards = sim_realloc(NULL, (size_t)ranks * sizeof *cards);
    const CollectiveCall **calls = sim_realloc(NULL, (size_t)ranks * sizeof *calls);
    MPI_Request *requests = sim_realloc(NULL, 2 * (size_t)ranks * sizeof *requests);
    int *peers = sim_realloc(NULL, 2 * (size_t)ranks * sizeof *peers);
    cards[rank] = card_of(move->call);
    for (int i = 1; i < ranks; i++) {
        int to = (rank + i) % ranks, from = (rank + ranks - i) % ranks;
        peers[count] = from;
        MPI_Irecv(&cards[from], sizeof *cards, MPI_BYTE, from, 0, move->link, &requests[count++]);
        peers[count] = to;
        MPI_Isend(&cards[rank], sizeof *cards, MPI_BYTE, to, 0, move->link, &requests[count++]);
    }
    link_wait(requests, peers, count, rank, move->text);
    for (int r = 0; r < ranks; r++) {
        card_open(&cards[r]);
        calls[r] = &cards[r].call;
    }
    link_compare(calls, ranks, rank == 0);
    free(cards);
    free(calls);
    free(requests);
    free(peers);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static char *at(const void *array, const Move *move, size_t element) {
    return (char *)array + element * move->bytes;
}

/* Cuts `count` elements into a part for each rank. */
static void cut(Move *move, size_t count) {
    size_t ranks = (size_t)move->comm->ranks;
    for (size_t r = 0; r < ranks; r++) {
        move->starts[r] = (int)(count * r / ranks);
        move->counts[r] = (int)(count * (r + 1) / ranks) - move->starts[r];
    }
}

/* Brings this rank's part of `in` from all ranks and reduces it into `out`. */
static void reduce_mine(Move *move, const void *in, void *out) {
    int rank = move->comm->rank, ranks = move->comm->ranks, own = move->counts[rank];
    const void **arrays = sim_realloc(NULL, (size_t)ranks * sizeof *arrays);
    MPI_Request request;
    for (int r = 0; r < ranks; r++) {
        move->mine[r] = own;
        move->places[r] = r * own;
        arrays[r] = at(move->parts, move, (size_t)r * (size_t)own);
    }
    MPI_Ialltoallv(in, move->counts, move->starts, move->element, move->parts, move->mine,
                   move->places, move->element, move->link, &request);
    finish(move, request);
    collective_reduce(out, arrays, ranks, (size_t)own, move->call->type, move->call->op);
    free(arrays);
}

static void all_reduce(Move *move, const void *in, void *out, size_t count) {
    int rank = move->comm->rank;
    MPI_Request request;
    cut(move, count);
    reduce_mine(move, in, at(out, move, (size_t)move->starts[rank]));
    MPI_Iallgatherv(MPI_IN_PLACE, 0, move->element, out, move->counts, move->starts, move->element,
                    move->link, &request);
    finish(move, request);
}

static void reduce(Move *move, const void *in, void *out, size_t count) {
    int rank = move->comm->rank;
    MPI_Request request;
    cut(move, count);
    reduce_mine(move, in, move->parts);
    MPI_Igatherv(move->parts, move->counts[rank], move->element, out, move->counts, move->starts,
                 move->element, move->call->peer, move->link, &request);
    finish(move, request);
}

/* A piece of each rank's array: they lie `call->count` elements apart. */
static void reduce_scatter(Move *move, const void *in, void *out, size_t count) {
    for (int r = 0; r < move->comm->ranks; r++) {
        move->counts[r] = (int)count;
        move->starts[r] = r * (int)move->call->count;
    }
    reduce_mine(move, in, out);
}

/* In pieces, with a place for what all ranks bring of one. */
static void in_pieces(Move *move, void (*piece)(Move *, const void *, void *, size_t)) {
    const CollectiveCall *call = move->call;
    size_t ranks = (size_t)move->comm->ranks, room = call->count < PIECE ? call->count : PIECE;
    int *lists = sim_realloc(NULL, 4 * ranks * sizeof *lists);
    move->counts = lists;
    move->starts = lists + ranks;
    move->mine = lists + 2 * ranks;
    move->places = lists + 3 * ranks;
    /* Of a cut piece this rank has 1/R, rounded up, from each of R ranks. */
    size_t elements = call->kind == COLLECTIVE_REDUCE_SCATTER ? ranks * room : room + ranks;
    move->parts = sim_realloc(NULL, elements * move->bytes);
    for (size_t done = 0; done < call->count; done += PIECE) {
        size_t count = call->count - done < PIECE ? call->count - done : PIECE;
        piece(move, at(call->in, move, done), at(call->out, move, done), count);
    }
    free(move->parts);
    free(lists);
}

/* ---- without order, and without arithmetic --------------------------------------------------- */

/* MPI's own operation, if it has one: it may add in any order. */
static bool as_mpi_likes(const CollectiveCall *call, MPI_Datatype *type, MPI_Op *op) {
    static const struct {
        ncclDataType_t nccl;
        MPI_Datatype mpi;
    } types[] = {{ncclInt8, MPI_INT8_T},     {ncclUint8, MPI_UINT8_T}, {ncclInt32, MPI_INT32_T},
                 {ncclUint32, MPI_UINT32_T}, {ncclInt64, MPI_INT64_T}, {ncclUint64, MPI_UINT64_T},
                 {ncclFloat32, MPI_FLOAT},   {ncclFloat64, MPI_DOUBLE}};
    const MPI_Op ops[] = {[ncclSum] = MPI_SUM, [ncclProd] = MPI_PROD};
    const char *order = getenv("CUDASIM_MPI_ORDER");
    if (order == NULL || strcmp(order, "any") != 0 || call->op > ncclProd ||
        call->kind != COLLECTIVE_ALL_REDUCE) {
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].nccl == call->type) {
            *type = types[i].mpi;
            *op = ops[call->op];
            return true;
        }
    }
    return false;
}

static void gather(Move *move) {
    const CollectiveCall *call = move->call;
    int count = (int)call->count;
    bool in_place = call->in == at(call->out, move, (size_t)move->comm->rank * call->count);
    MPI_Request request;
    MPI_Iallgather(in_place ? MPI_IN_PLACE : call->in, count, move->element, call->out, count,
                   move->element, move->link, &request);
    finish(move, request);
}

static void broadcast(Move *move) {
    const CollectiveCall *call = move->call;
    MPI_Request request;
    if (call->rank == call->peer && call->in != call->out) {
        memmove(call->out, call->in, collective_out_bytes(call));
    }
    MPI_Ibcast(call->out, (int)call->count, move->element, call->peer, move->link, &request);
    finish(move, request);
}

static void in_any_order(Move *move, MPI_Datatype type, MPI_Op op) {
    const CollectiveCall *call = move->call;
    MPI_Request request;
    MPI_Iallreduce(call->in == call->out ? MPI_IN_PLACE : call->in, call->out, (int)call->count,
                   type, op, move->link, &request);
    finish(move, request);
}

void link_collective(const QueuedCall *queued) {
    const Communicator *comm = queued->comm;
    const CollectiveCall *call = &queued->call;
    if (call->kind == COLLECTIVE_SEND || call->kind == COLLECTIVE_RECV) {
        return;
    }
    size_t bytes = collective_type_bytes(call->type);
    Move move = {.comm = comm,
                 .call = call,
                 .link = ((Link *)comm->link)->device,
                 .element = link_element(bytes),
                 .bytes = bytes};
    MPI_Datatype type;
    MPI_Op op;
    collective_describe(call, move.text);
    compare(&move);
    if (call->count > (size_t)INT_MAX / (size_t)comm->ranks) {
        sim_report("unsupported", "%s: over MPI all ranks together have at most 2^31 - 1 elements",
                   move.text);
        sim_stop();
    }
    if (as_mpi_likes(call, &type, &op)) {
        in_any_order(&move, type, op);
    } else if (call->kind == COLLECTIVE_ALL_REDUCE) {
        in_pieces(&move, all_reduce);
    } else if (call->kind == COLLECTIVE_REDUCE) {
        in_pieces(&move, reduce);
    } else if (call->kind == COLLECTIVE_REDUCE_SCATTER) {
        in_pieces(&move, reduce_scatter);
    } else if (call->kind == COLLECTIVE_ALL_GATHER) {
        gather(&move);
    } else {
        broadcast(&move);
    }
}
