#include "cudasim_ranks.h"
#include "device.h"
#include "rank.h"

/* Streams as a program makes and asks them. */

struct CUstream_st {
    int slot;
    int rank;          /* whose it is, or NO_RANK */
    cudaStream_t also; /* another that has the same queue; NULL: no more */
};

/* Whether a stream has this queue. */
static bool has_handle(const Queue *queue, cudaStream_t stream) {
    cudaStream_t handle = queue->handle;
    while (handle != NULL && handle != stream && queue->kind == QUEUE_STREAM) {
        handle = handle->also;
    }
    return handle == stream;
}

int sim_stream_slot(cudaStream_t stream, const char *what, Place place) {
    sim_refuse_in_host_function(what, place);
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        return queue_default(sim_device());
    }
    for (int s = 1; s < queue_count(); s++) {
        if (has_handle(queue_of(s), stream)) {
            return s;
        }
    }
    if (sim_handle_exists(stream, "stream", what, place)) {
        sim_report("use after free", "%s at %s:%d: there is no such stream; was it destroyed?",
                   what, sim_file(place), place.line);
    }
    return -1;
}

static bool is_used_by(const Queue *queue, int rank) {
    cudaStream_t handle = queue->handle;
    while (handle != NULL && handle->rank != rank) {
        handle = handle->also;
    }
    return handle != NULL;
}

/* In a dry run there may be more ranks than queues. They share them, as they do default streams:
   see queue_owner(). One stream of a rank has one of them, another has another. @return -1: none */
static int shared_queue(unsigned flags) {
    bool many = sim_settings.dry && cudasim_rank_count() > MOST_RANKS;
    for (int s = 1; many && s < queue_count(); s++) {
        const Queue *queue = queue_of(s);
        if (queue->kind == QUEUE_STREAM && queue->rank == queue_owner() &&
            queue->device == sim_device() && queue->flags == flags &&
            !is_used_by(queue, sim_rank())) {
            return s;
        }
    }
    return -1;
}

cudaError_t cudasim_stream_create(const char *file, int line, cudaStream_t *stream,
                                  unsigned flags) {
    ENTER("cudaStreamCreate", file, line);
    Place place = {file, line};
    int slot = shared_queue(flags);
    slot = slot >= 0 ? slot : queue_take(sim_device(), QUEUE_STREAM);
    if (slot < 0) {
        fprintf(stderr, "[cudasim] %s:%d: at most %d streams\n", file, line, QUEUES);
        return sim_error(cudaErrorMemoryAllocation, "cudaStreamCreate", place, false);
    }
    Queue *queue = queue_of(slot);
    *stream = sim_realloc(NULL, sizeof **stream);
    **stream = (struct CUstream_st){slot, sim_rank(), queue->handle};
    queue->handle = *stream;
    queue->flags = flags;
    queue->priority = 0;
    queue->window = (cudaAccessPolicyWindow){0};
    queue->policy = cudaSyncPolicyAuto;
    queue->blocking = flags != cudaStreamNonBlocking;
    queue->made = place;
    sim_handle_made(*stream, "cudaStreamCreate", place);
    return sim_device_error();
}

static cudaError_t no_stream(const char *what, Place place) {
    return sim_error(cudaErrorInvalidResourceHandle, what, place, false);
}

/* A priority orders nothing that a program may rely on. */
enum { LOWEST_PRIORITY = 0, HIGHEST_PRIORITY = -5 };

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    ENTER("cudaDeviceGetStreamPriorityRange", NULL, 0);
    *least = LOWEST_PRIORITY;
    *greatest = HIGHEST_PRIORITY;
    return cudaSuccess;
}

static int possible_priority(int priority) {
    priority = priority < HIGHEST_PRIORITY ? HIGHEST_PRIORITY : priority;
    return priority > LOWEST_PRIORITY ? LOWEST_PRIORITY : priority;
}

cudaError_t cudasim_stream_create_with_priority(const char *file, int line, cudaStream_t *stream,
                                                unsigned flags, int priority) {
    ENTER("cudaStreamCreateWithPriority", file, line);
    cudaError_t error = cudasim_stream_create(file, line, stream, flags);
    if (error == cudaSuccess) {
        queue_of((*stream)->slot)->priority = possible_priority(priority);
    }
    return error;
}

cudaError_t cudasim_stream_priority(const char *file, int line, cudaStream_t stream,
                                    int *priority) {
    ENTER("cudaStreamGetPriority", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetPriority", place);
    *priority = slot < 0 ? 0 : queue_of(slot)->priority;
    return slot < 0 ? no_stream("cudaStreamGetPriority", place) : sim_device_error();
}

cudaError_t cudasim_stream_flags(const char *file, int line, cudaStream_t stream, unsigned *flags) {
    ENTER("cudaStreamGetFlags", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetFlags", place);
    *flags = slot < 0 ? 0 : queue_of(slot)->flags;
    return slot < 0 ? no_stream("cudaStreamGetFlags", place) : sim_device_error();
}

cudaError_t cudasim_stream_device(const char *file, int line, cudaStream_t stream, int *device) {
    ENTER("cudaStreamGetDevice", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetDevice", place);
    *device = slot < 0 ? 0 : queue_of(slot)->device;
    return slot < 0 ? no_stream("cudaStreamGetDevice", place) : sim_device_error();
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool set_attribute(Queue *queue, cudaLaunchAttributeID attribute,
                          const cudaLaunchAttributeValue *value) {
    const cudaAccessPolicyWindow *window = &value->accessPolicyWindow;
    switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
        if (!(window->hitRatio >= 0 && window->hitRatio <= 1) ||
            window->missProp == cudaAccessPropertyPersisting) {
            return false;
        }
        queue->window = *window;
        return true;
    case cudaLaunchAttributeSynchronizationPolicy:
        queue->policy = value->syncPolicy;
        return true;
    case cudaLaunchAttributePriority:
        queue->priority = possible_priority(value->priority);
        return true;
    default:
        return false;
    }
}

static bool get_attribute(const Queue *queue, cudaLaunchAttributeID attribute,
                          cudaLaunchAttributeValue *value) {
    switch (attribute) {
    case cudaLaunchAttributeAccessPolicyWindow:
        value->accessPolicyWindow = queue->window;
        return true;
    case cudaLaunchAttributeSynchronizationPolicy:
        value->syncPolicy = queue->policy != 0 ? queue->policy : cudaSyncPolicyAuto;
        return true;
    case cudaLaunchAttributePriority:
        value->priority = queue->priority;
        return true;
    default:
        return false;
    }
}

cudaError_t cudasim_stream_set_attribute(const char *file, int line, cudaStream_t stream,
                                         cudaLaunchAttributeID attribute,
                                         const cudaLaunchAttributeValue *value) {
    ENTER("cudaStreamSetAttribute", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamSetAttribute", place);
    if (slot < 0) {
        return no_stream("cudaStreamSetAttribute", place);
    }
    return value != NULL && set_attribute(queue_of(slot), attribute, value)
               ? sim_device_error()
               : sim_error(cudaErrorInvalidValue, "cudaStreamSetAttribute", place, false);
}

cudaError_t cudasim_stream_get_attribute(const char *file, int line, cudaStream_t stream,
                                         cudaLaunchAttributeID attribute,
                                         cudaLaunchAttributeValue *value) {
    ENTER("cudaStreamGetAttribute", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamGetAttribute", place);
    if (slot < 0) {
        return no_stream("cudaStreamGetAttribute", place);
    }
    return value != NULL && get_attribute(queue_of(slot), attribute, value)
               ? sim_device_error()
               : sim_error(cudaErrorInvalidValue, "cudaStreamGetAttribute", place, false);
}

cudaError_t cudasim_stream_copy_attributes(const char *file, int line, cudaStream_t to,
                                           cudaStream_t from) {
    ENTER("cudaStreamCopyAttributes", file, line);
    Place place = {file, line};
    int target = sim_stream_slot(to, "cudaStreamCopyAttributes", place);
    int source = sim_stream_slot(from, "cudaStreamCopyAttributes", place);
    if (target < 0 || source < 0) {
        return no_stream("cudaStreamCopyAttributes", place);
    }
    queue_of(target)->window = queue_of(source)->window;
    queue_of(target)->policy = queue_of(source)->policy;
    queue_of(target)->priority = queue_of(source)->priority;
    return sim_device_error();
}

/* ---- the end --------------------------------------------------------------------------------- */

cudaError_t cudasim_stream_destroy(const char *file, int line, cudaStream_t stream) {
    ENTER("cudaStreamDestroy", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamDestroy", place);
    if (slot < 0 || queue_of(slot)->kind != QUEUE_STREAM) {
        return no_stream("cudaStreamDestroy", place);
    }
    cudaError_t error = sim_may_wait_stream(slot, "cudaStreamDestroy", place);
    if (error != cudaSuccess) {
        return error;
    }
    /* Its work is still done, but the host has not waited for it. */
    queue_run_to(slot, queue_of(slot)->submitted);
    sim_close_memory();
    cudaStream_t *link = &queue_of(slot)->handle;
    while (*link != stream) {
        link = &(*link)->also;
    }
    *link = stream->also;
    if (queue_of(slot)->handle == NULL) {
        queue_of(slot)->kind = QUEUE_UNUSED;
        queue_of(slot)->blocking = false;
    }
    sim_handle_ended(stream, "cudaStreamDestroy", place, free);
    return sim_device_error();
}

cudaError_t cudasim_stream_synchronize(const char *file, int line, cudaStream_t stream) {
    ENTER("cudaStreamSynchronize", file, line);
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(stream, "cudaStreamSynchronize", place, &slot);
    if (error == cudaSuccess) {
        error = sim_may_wait_stream(slot, "cudaStreamSynchronize", place);
    }
    if (error != cudaSuccess) {
        return error;
    }
    sim_wait_stream(slot);
    return sim_device_error();
}

cudaError_t cudasim_device_synchronize(const char *file, int line) {
    ENTER("cudaDeviceSynchronize", file, line);
    Place place = {file, line};
    sim_refuse_in_host_function("cudaDeviceSynchronize", place);
    cudaError_t error = sim_may_wait_device("cudaDeviceSynchronize", place);
    if (error != cudaSuccess) {
        return error;
    }
    sim_wait_device(sim_device());
    return sim_device_error();
}

/* Who asks again and again gets on, one operation at a time. */
cudaError_t queue_query(int slot, uint64_t number, const Clock *clock) {
    if (queue_of(slot)->done < number) {
        queue_try(slot);
        return cudaErrorNotReady;
    }
    queue_host_waits(clock);
    return sim_device_error();
}

cudaError_t cudasim_stream_query(const char *file, int line, cudaStream_t stream) {
    ENTER("cudaStreamQuery", file, line);
    Place place = {file, line};
    int slot = sim_stream_slot(stream, "cudaStreamQuery", place);
    return slot < 0 ? no_stream("cudaStreamQuery", place)
                    : queue_query(slot, queue_of(slot)->submitted, &queue_of(slot)->clock);
}
