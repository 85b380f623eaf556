#include "communicator.h"

#include "../device.h"
#include "../graph.h"

/* The calls that move data: their arguments are checked, and then they are given to the group. */

/* ---- are the arguments good? ----------------------------------------------------------------- */

/* The status of a call whose arguments are wrong: its group comes to nothing. Ranks that run by
   themselves would wait for it forever, so then the program ends. */
static ncclResult_t refuse(ncclResult_t result) {
    if (sim_host()->rank != NO_RANK) {
        sim_stop();
    }
    group_fail(result);
    return result;
}

static ncclResult_t check_numbers(const CollectiveCall *call, CallSite caller) {
    bool rooted = call->kind == COLLECTIVE_REDUCE || call->kind == COLLECTIVE_BROADCAST;
    bool pair = call->kind == COLLECTIVE_SEND || call->kind == COLLECTIVE_RECV;
    if (collective_type_name(call->type) == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "there is no type %d",
                          call->type);
    }
    if (collective_op_name(call->op) == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "there is no operation %d",
                          call->op);
    }
    if ((rooted || pair) && (call->peer < 0 || call->peer >= call->ranks)) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "the %s is rank %d, but ranks are 0 to %d", rooted ? "root" : "peer",
                          call->peer, call->ranks - 1);
    }
    if (pair && call->peer == call->rank && !group_is_open()) {
        nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                   "rank %d is its own peer, outside of a group", call->rank);
        sim_detail("a send waits for its receive: call both between ncclGroupStart() and "
                   "ncclGroupEnd()");
        return ncclInvalidUsage;
    }
    if (call->count > SIZE_MAX / 64 / (size_t)call->ranks) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "%zu elements: a negative count?", call->count);
    }
    return ncclSuccess;
}

/* A buffer of host memory, where the communicator takes that. */
static ncclResult_t check_host_buffer(const char *end, const void *p, CallSite caller) {
    if (!sim_on_device(p)) {
        return ncclSuccess;
    }
    nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
               "the %s is a DEVICE pointer, but the communicator takes host memory", end);
    sim_detail("as cudasim_comm_on_host() has said");
    return ncclInvalidArgument;
}

static ncclResult_t check_device_buffer(const QueuedCall *queued, const char *end, const void *p,
                                        size_t bytes, CallSite caller) {
    if (!sim_on_device(p)) {
        nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "the %s is %p, a HOST pointer",
                   end, p);
        sim_detail("give it memory from cudaMalloc, of device %d", queued->comm->device);
        return ncclInvalidArgument;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, %s,", caller.function, end);
    if (!sim_check_range(what, p, bytes, caller.place.file, caller.place.line)) {
        sim_detail("count is in elements: %zu x %s%s", queued->call.count,
                   collective_type_name(queued->call.type),
                   bytes > queued->call.count * collective_type_bytes(queued->call.type)
                       ? ", for each rank"
                       : "");
        return ncclInvalidArgument;
    }
    int device = sim_allocation(p)->device;
    if (device != queued->comm->device) {
        nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                   "the %s is memory of device %d, but the communicator's rank %d is on device %d",
                   end, device, queued->comm->rank, queued->comm->device);
        sim_detail_address(p);
        return ncclInvalidArgument;
    }
    return ncclSuccess;
}

static ncclResult_t check_buffer(const QueuedCall *queued, const char *end, const void *p,
                                 size_t bytes, CallSite caller) {
    if (bytes == 0) {
        return ncclSuccess;
    }
    if (p == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "the %s is NULL", end);
    }
    if ((uintptr_t)p % collective_type_bytes(queued->call.type) != 0) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "the %s is %p, which is not an address of a %s", end, p,
                          collective_type_name(queued->call.type));
    }
    return queued->comm->on_host ? check_host_buffer(end, p, caller)
                                 : check_device_buffer(queued, end, p, bytes, caller);
}

/* Where a call may have its result in its own input: exactly there. */
static const char *place_in_place(const CollectiveCall *call) {
    ptrdiff_t block = (ptrdiff_t)(call->count * collective_type_bytes(call->type)) * call->rank;
    return (const char *)call->in + (call->kind == COLLECTIVE_REDUCE_SCATTER ? block
                                     : call->kind == COLLECTIVE_ALL_GATHER   ? -block
                                                                             : 0);
}

static ncclResult_t check_overlap(const CollectiveCall *call, CallSite caller) {
    const char *in = call->in, *out = call->out;
    size_t in_bytes = collective_in_bytes(call), out_bytes = collective_out_bytes(call);
    if (in_bytes == 0 || out_bytes == 0 || in >= out + out_bytes || out >= in + in_bytes ||
        out == place_in_place(call)) {
        return ncclSuccess;
    }
    nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
               "the buffers of rank %d overlap, and not as in a call in place", call->rank);
    sim_detail("in place is %s",
               call->kind == COLLECTIVE_REDUCE_SCATTER ? "receive = send + rank * count"
               : call->kind == COLLECTIVE_ALL_GATHER   ? "send = receive + rank * count"
                                                       : "send = receive");
    return ncclInvalidArgument;
}

/* The queue of the call's stream, NULL being the default one of the communicator's device. */
static ncclResult_t check_stream(QueuedCall *queued, cudaStream_t stream, CallSite caller) {
    Host *host = sim_host();
    int device = host->device;
    host->device = queued->comm->device;
    cudaError_t error = sim_may_submit(stream, caller.function, caller.place, &queued->slot);
    host->device = device;
    if (error != cudaSuccess) {
        return ncclUnhandledCudaError;
    }
    if (capture_takes(queued->slot)) {
        return nccl_wrong(ncclInvalidUsage, "unsupported", caller,
                          "the stream is captured: collectives in graphs are not simulated");
    }
    device = queue_of(queued->slot)->device;
    if (device != queued->comm->device) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "the stream is of device %d, but the communicator's rank %d is on "
                          "device %d",
                          device, queued->comm->rank, queued->comm->device);
    }
    return ncclSuccess;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static ncclResult_t check(QueuedCall *queued, cudaStream_t stream, CallSite caller) {
    CollectiveCall *call = &queued->call;
    ncclResult_t result = check_numbers(call, caller);
    if (result != ncclSuccess || (result = check_stream(queued, stream, caller)) != ncclSuccess) {
        return result;
    }
    size_t in = collective_in_bytes(call), out = collective_out_bytes(call);
    if ((result = check_buffer(queued, "send buffer", call->in, in, caller)) != ncclSuccess ||
        (result = check_buffer(queued, "receive buffer", call->out, out, caller)) != ncclSuccess) {
        return result;
    }
    return check_overlap(call, caller);
}

static ncclResult_t enqueue(CollectiveCall call, ncclComm_t comm, cudaStream_t stream) {
    CallSite caller = {collective_name(call.kind), call.place};
    ncclResult_t result = comm_usable(comm, caller);
    if (result != ncclSuccess) {
        return refuse(result);
    }
    call.rank = comm->rank;
    call.ranks = comm->ranks;
    QueuedCall queued = {.call = call, .comm = comm, .caller = sim_host()};
    result = check(&queued, stream, caller);
    if (result != ncclSuccess) {
        return refuse(result);
    }
    group_add_call(queued);
    return sim_device_error() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/* ---- what programs call ---------------------------------------------------------------------- */

ncclResult_t cudasim_nccl_all_reduce(const char *file, int line, const void *send, void *receive,
                                     size_t count, ncclDataType_t type, ncclRedOp_t op,
                                     ncclComm_t comm, cudaStream_t stream) {
    ENTER("ncclAllReduce", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_ALL_REDUCE,
                                    .in = send,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .op = op,
                                    .peer = -1,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_reduce(const char *file, int line, const void *send, void *receive,
                                 size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                                 ncclComm_t comm, cudaStream_t stream) {
    ENTER("ncclReduce", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_REDUCE,
                                    .in = send,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .op = op,
                                    .peer = root,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_reduce_scatter(const char *file, int line, const void *send,
                                         void *receive, size_t count, ncclDataType_t type,
                                         ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    ENTER("ncclReduceScatter", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_REDUCE_SCATTER,
                                    .in = send,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .op = op,
                                    .peer = -1,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_all_gather(const char *file, int line, const void *send, void *receive,
                                     size_t count, ncclDataType_t type, ncclComm_t comm,
                                     cudaStream_t stream) {
    ENTER("ncclAllGather", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_ALL_GATHER,
                                    .in = send,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .peer = -1,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_broadcast(const char *file, int line, const void *send, void *receive,
                                    size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                                    cudaStream_t stream) {
    ENTER("ncclBroadcast", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_BROADCAST,
                                    .in = send,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .peer = root,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_bcast(const char *file, int line, void *buffer, size_t count,
                                ncclDataType_t type, int root, ncclComm_t comm,
                                cudaStream_t stream) {
    return cudasim_nccl_broadcast(file, line, buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t cudasim_nccl_send(const char *file, int line, const void *send, size_t count,
                               ncclDataType_t type, int peer, ncclComm_t comm,
                               cudaStream_t stream) {
    ENTER("ncclSend", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_SEND,
                                    .in = send,
                                    .count = count,
                                    .type = type,
                                    .peer = peer,
                                    .place = {file, line}},
                   comm, stream);
}

ncclResult_t cudasim_nccl_recv(const char *file, int line, void *receive, size_t count,
                               ncclDataType_t type, int peer, ncclComm_t comm,
                               cudaStream_t stream) {
    ENTER("ncclRecv", file, line);
    return enqueue((CollectiveCall){.kind = COLLECTIVE_RECV,
                                    .out = receive,
                                    .count = count,
                                    .type = type,
                                    .peer = peer,
                                    .place = {file, line}},
                   comm, stream);
}
