#include "communicator.h"

#include <stdarg.h>

#include "../device.h"
#include "cudasim_nccl.h"
#include "cudasim_ranks.h"

/* Communicators: made, split, asked and ended. */

static char last_error[500];

ncclResult_t nccl_wrong(ncclResult_t result, const char *kind, CallSite caller, const char *format,
                        ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(last_error, sizeof last_error, format, values);
    va_end(values);
    sim_report(kind, "%s at %s:%d: %s", caller.function, sim_file(caller.place), caller.place.line,
               last_error);
    return result;
}

const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const texts[ncclNumResults] = {
        "no error",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "internal error - please report this issue to the NCCL developers",
        "invalid argument (run with NCCL_DEBUG=WARN for details)",
        "invalid usage (run with NCCL_DEBUG=WARN for details)",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };
    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm) {
    (void)comm;
    return last_error;
}

/* ---- which there are ------------------------------------------------------------------------- */

ncclResult_t comm_known(ncclComm_t comm, CallSite caller) {
    if (comm == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "NULL instead of a communicator");
    }
    if (!sim_handle_exists(comm, "communicator", caller.function, caller.place)) {
        return ncclInvalidArgument;
    }
    if (comm->owner != cudasim_rank()) {
        nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                   "rank %d uses a communicator that rank %d has made", cudasim_rank(),
                   comm->owner);
        sim_detail("%s at %s:%d; each rank has an end of its own, and only that", comm->maker,
                   sim_file(comm->made), comm->made.line);
        return ncclInvalidUsage;
    }
    return ncclSuccess;
}

ncclResult_t comm_usable(ncclComm_t comm, CallSite caller) {
    ncclResult_t result = comm_known(comm, caller);
    if (result == ncclSuccess && !comm->joined) {
        result = nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                            "the communicator is made when its group ends, and that is still open");
        sim_detail("%s at %s:%d: call ncclGroupEnd() between the two", comm->maker,
                   sim_file(comm->made), comm->made.line);
    }
    if (result == ncclSuccess && comm->finalized) {
        result = nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                            "ncclCommFinalize was called before: only ncclCommDestroy may follow");
    }
    return result;
}

Communicator *comm_hold(Communicator *comm) {
    comm->holders++;
    return comm;
}

void comm_drop(Communicator *comm) {
    if (--comm->holders == 0) {
        free(comm->sends);
        free(comm->receives);
        free(comm->last);
        free(comm);
    }
}

static void release(void *comm) {
    comm_drop(comm);
}

void comm_queued(Communicator *comm, const QueuedCall *queued, uint64_t number) {
    int i = 0;
    while (i < comm->last_count && comm->last[i].slot != queued->slot) {
        i++;
    }
    if (i == comm->last_count) {
        comm->last = sim_realloc(comm->last, (size_t)++comm->last_count * sizeof *comm->last);
    }
    comm->last[i] = (LastCall){queued->slot, number, queued->call};
}

/* ---- making ---------------------------------------------------------------------------------- */

ncclResult_t cudasim_nccl_version(const char *file, int line, int *version) {
    ENTER("ncclGetVersion", file, line);
    if (version == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument",
                          (CallSite){"ncclGetVersion", {file, line}}, "NULL instead of an address");
    }
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t cudasim_nccl_unique_id(const char *file, int line, ncclUniqueId *id) {
    ENTER("ncclGetUniqueId", file, line);
    if (id == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument",
                          (CallSite){"ncclGetUniqueId", {file, line}},
                          "NULL instead of an address");
    }
    memset(id, 0, sizeof *id);
    sim_transport.make_id(id);
    return ncclSuccess;
}

Communicator *comm_new(int rank, int ranks, int device, CallSite caller) {
    Communicator *comm = sim_realloc(NULL, sizeof *comm);
    size_t bytes = (size_t)ranks * sizeof *comm->sends;
    *comm = (Communicator){.rank = rank,
                           .ranks = ranks,
                           .device = device,
                           .owner = cudasim_rank(),
                           .wire_rank = cudasim_rank_count() > 1 ? cudasim_rank() : rank,
                           .maker = caller.function,
                           .made = caller.place,
                           .sends = memset(sim_realloc(NULL, bytes), 0, bytes),
                           .receives = memset(sim_realloc(NULL, bytes), 0, bytes),
                           .holders = 1};
    return comm;
}

/* A rank arrives; NULL if that is not possible. */
static Communicator *arrive(int rank, int ranks, int device, const ncclUniqueId *id,
                            CallSite caller) {
    if (ranks < 1 || rank < 0 || rank >= ranks) {
        nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "rank %d of %d: ranks are 0 to %d",
                   rank, ranks, ranks - 1);
        return NULL;
    }
    Communicator *comm = comm_new(rank, ranks, device, caller);
    if (!sim_transport.arrive(comm, id, NULL, NULL)) {
        comm_drop(comm);
        return NULL;
    }
    sim_handle_made(comm, caller.function, caller.place);
    return comm;
}

void comm_join(Communicator *comm, CallSite caller) {
    sim_transport.join(comm, caller.function, caller.place);
    comm->joined = true;
}

static ncclResult_t init_rank(CallSite caller, ncclComm_t *made, int ranks, const ncclUniqueId *id,
                              int rank) {
    if (made == NULL) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "NULL instead of the address of a communicator");
    }
    Communicator *comm = arrive(rank, ranks, sim_device(), id, caller);
    if (comm == NULL) {
        return ncclInvalidArgument;
    }
    *made = comm;
    if (group_is_open()) {
        group_add_join(comm, caller);
    } else {
        comm_join(comm, caller);
    }
    return ncclSuccess;
}

ncclResult_t cudasim_nccl_init_rank(const char *file, int line, ncclComm_t *comm, int ranks,
                                    ncclUniqueId id, int rank) {
    ENTER("ncclCommInitRank", file, line);
    return init_rank((CallSite){"ncclCommInitRank", {file, line}}, comm, ranks, &id, rank);
}

ncclResult_t comm_check_config(const ncclConfig_t *config, CallSite caller) {
    if (config == NULL) {
        return ncclSuccess;
    }
    if (config->magic != NCCL_API_MAGIC || config->size != sizeof *config) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "the configuration does not begin as NCCL_CONFIG_INITIALIZER says");
    }
    if (config->blocking == 0) {
        return nccl_wrong(ncclInvalidUsage, "unsupported", caller,
                          "communicators that do not block; leave `blocking` as it is");
    }
    return ncclSuccess;
}

ncclResult_t cudasim_nccl_init_config(const char *file, int line, ncclComm_t *comm, int ranks,
                                      ncclUniqueId id, int rank, ncclConfig_t *config) {
    ENTER("ncclCommInitRankConfig", file, line);
    CallSite caller = {"ncclCommInitRankConfig", {file, line}};
    ncclResult_t result = comm_check_config(config, caller);
    return result == ncclSuccess ? init_rank(caller, comm, ranks, &id, rank) : result;
}

/* A device that is there, and not in the list before. */
static bool good_device(const int *devices, int i, CallSite caller) {
    if (!sim_has_device(devices[i])) {
        nccl_wrong(ncclInvalidUsage, "NCCL argument", caller, "there is no device %d; there %s %d",
                   devices[i], sim_device_count() == 1 ? "is" : "are", sim_device_count());
        return false;
    }
    for (int before = 0; before < i; before++) {
        if (devices[before] == devices[i]) {
            nccl_wrong(ncclInvalidUsage, "NCCL argument", caller,
                       "ranks %d and %d both have device %d: each needs one of its own", before, i,
                       devices[i]);
            return false;
        }
    }
    return true;
}

ncclResult_t cudasim_nccl_init_all(const char *file, int line, ncclComm_t *comms, int ranks,
                                   const int *devices) {
    ENTER("ncclCommInitAll", file, line);
    CallSite caller = {"ncclCommInitAll", {file, line}};
    if (comms == NULL || ranks < 1) {
        return nccl_wrong(ncclInvalidArgument, "NCCL argument", caller,
                          "%d communicators, from %p on", ranks, (void *)comms);
    }
    int *chosen = sim_realloc(NULL, (size_t)ranks * sizeof *chosen);
    bool good = true;
    for (int i = 0; i < ranks && good; i++) {
        chosen[i] = devices != NULL ? devices[i] : i;
        good = good_device(chosen, i, caller);
    }
    ncclUniqueId id;
    cudasim_nccl_unique_id(file, line, &id);
    for (int i = 0; i < ranks && good; i++) {
        comms[i] = arrive(i, ranks, chosen[i], &id, caller);
        good = comms[i] != NULL;
    }
    for (int i = 0; i < ranks && good; i++) {
        comm_join(comms[i], caller);
    }
    free(chosen);
    return good ? ncclSuccess : ncclInvalidUsage;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Stores an answer, if there is a communicator, and room for the answer. */
static ncclResult_t answer(CallSite caller, ncclComm_t comm, int *to, int (*ask)(ncclComm_t)) {
    ncclResult_t result = comm_known(comm, caller);
    if (result == ncclSuccess && to == NULL) {
        result =
            nccl_wrong(ncclInvalidArgument, "NCCL argument", caller, "NULL instead of an address");
    }
    if (result == ncclSuccess) {
        *to = ask(comm);
    }
    return result;
}

static int ranks_of(ncclComm_t comm) {
    return comm->ranks;
}

static int device_number_of(ncclComm_t comm) {
    return comm->device;
}

static int rank_of(ncclComm_t comm) {
    return comm->rank;
}

ncclResult_t cudasim_nccl_count(const char *file, int line, ncclComm_t comm, int *ranks) {
    ENTER("ncclCommCount", file, line);
    return answer((CallSite){"ncclCommCount", {file, line}}, comm, ranks, ranks_of);
}

ncclResult_t cudasim_nccl_device(const char *file, int line, ncclComm_t comm, int *device) {
    ENTER("ncclCommCuDevice", file, line);
    return answer((CallSite){"ncclCommCuDevice", {file, line}}, comm, device, device_number_of);
}

ncclResult_t cudasim_nccl_rank(const char *file, int line, ncclComm_t comm, int *rank) {
    ENTER("ncclCommUserRank", file, line);
    return answer((CallSite){"ncclCommUserRank", {file, line}}, comm, rank, rank_of);
}

ncclResult_t cudasim_nccl_async_error(const char *file, int line, ncclComm_t comm,
                                      ncclResult_t *error) {
    ENTER("ncclCommGetAsyncError", file, line);
    ncclResult_t result = comm_known(comm, (CallSite){"ncclCommGetAsyncError", {file, line}});
    if (result == ncclSuccess) {
        *error = sim_device_error() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
    }
    return result;
}

ncclResult_t cudasim_nccl_on_host(const char *file, int line, ncclComm_t comm) {
    ENTER("cudasim_comm_on_host", file, line);
    CallSite caller = {"cudasim_comm_on_host", {file, line}};
    ncclResult_t result = comm_usable(comm, caller);
    if (result == ncclSuccess && comm->last_count > 0) {
        return nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                          "the communicator was used before: say it first");
    }
    if (result == ncclSuccess) {
        comm->on_host = true;
    }
    return result;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A call that the host has not waited for; or NULL. */
static const LastCall *unfinished(const Communicator *comm) {
    for (int i = 0; i < comm->last_count; i++) {
        if (!sim_host_ordered(comm->last[i].slot, comm->last[i].number)) {
            return &comm->last[i];
        }
    }
    return NULL;
}

ncclResult_t cudasim_nccl_finalize(const char *file, int line, ncclComm_t comm) {
    ENTER("ncclCommFinalize", file, line);
    ncclResult_t result = comm_usable(comm, (CallSite){"ncclCommFinalize", {file, line}});
    for (int i = 0; result == ncclSuccess && i < comm->last_count; i++) {
        queue_run_to(comm->last[i].slot, comm->last[i].number);
    }
    sim_close_memory();
    if (result == ncclSuccess) {
        comm->finalized = true;
    }
    return result;
}

static void end(ncclComm_t comm, CallSite caller, bool abort) {
    sim_transport.leave(comm, caller.place, abort);
    sim_handle_ended(comm, caller.function, caller.place, release);
}

ncclResult_t cudasim_nccl_destroy(const char *file, int line, ncclComm_t comm) {
    ENTER("ncclCommDestroy", file, line);
    CallSite caller = {"ncclCommDestroy", {file, line}};
    ncclResult_t result = comm_known(comm, caller);
    if (result != ncclSuccess) {
        return result;
    }
    if (group_is_open()) {
        group_abandon(caller);
    }
    const LastCall *waits = comm->finalized ? NULL : unfinished(comm);
    if (waits != NULL) {
        char text[COLLECTIVE_TEXT];
        collective_describe(&waits->call, text);
        nccl_wrong(ncclInvalidUsage, "NCCL misuse", caller,
                   "the host has not waited for the communicator's %s", text);
        sim_detail("call cudaStreamSynchronize() for its stream before");
    }
    end(comm, caller, false);
    return waits == NULL ? ncclSuccess : ncclInvalidUsage;
}

ncclResult_t cudasim_nccl_abort(const char *file, int line, ncclComm_t comm) {
    ENTER("ncclCommAbort", file, line);
    CallSite caller = {"ncclCommAbort", {file, line}};
    ncclResult_t result = comm_known(comm, caller);
    if (result == ncclSuccess) {
        end(comm, caller, true);
    }
    return result;
}
