#include "device.h"
#include "queue.h"

/* Streams as a program makes and asks them. */

struct CUstream_st {
    int slot;
};

int sim_stream_slot(cudaStream_t stream, const char *what, Place place) {
    sim_refuse_in_host_function(what, place);
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
        return queue_default(sim_device());
    }
    for (int s = 1; s < queue_count(); s++) {
        if (queue_of(s)->handle == stream) {
            return s;
        }
    }
    sim_report("use after free", "%s at %s:%d: there is no such stream; was it destroyed?", what,
               sim_file(place), place.line);
    return -1;
}

cudaError_t cudasim_stream_create(const char *file, int line, cudaStream_t *stream,
                                  unsigned flags) {
    ENTER("cudaStreamCreate", file, line);
    Place place = {file, line};
    int slot = queue_take(sim_device(), QUEUE_STREAM);
    if (slot < 0) {
        fprintf(stderr, "[cudasim] %s:%d: at most %d streams\n", file, line, QUEUES);
        return sim_error(cudaErrorMemoryAllocation, "cudaStreamCreate", place, false);
    }
    Queue *queue = queue_of(slot);
    *stream = sim_realloc(NULL, sizeof **stream);
    (*stream)->slot = slot;
    queue->handle = *stream;
    queue->flags = flags;
    queue->priority = 0;
    queue->blocking = flags != cudaStreamNonBlocking;
    queue->made = place;
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

cudaError_t cudasim_stream_create_with_priority(const char *file, int line, cudaStream_t *stream,
                                                unsigned flags, int priority) {
    ENTER("cudaStreamCreateWithPriority", file, line);
    cudaError_t error = cudasim_stream_create(file, line, stream, flags);
    if (error == cudaSuccess) {
        priority = priority < HIGHEST_PRIORITY ? HIGHEST_PRIORITY : priority;
        queue_of((*stream)->slot)->priority =
            priority > LOWEST_PRIORITY ? LOWEST_PRIORITY : priority;
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
    queue_of(slot)->kind = QUEUE_UNUSED;
    queue_of(slot)->handle = NULL;
    queue_of(slot)->blocking = false;
    free(stream);
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
