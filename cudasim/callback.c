#include "sim.h"

/* Functions of the host that a stream calls when it gets there. */

typedef struct HostCall {
    cudaStreamCallback_t callback; /* or NULL */
    cudaHostFn_t function;
    cudaStream_t stream;
    void *data;
} HostCall;

static void call_out(void *context) {
    const HostCall *call = context;
    if (call->callback != NULL) {
        call->callback(call->stream, sim_device_error(), call->data);
    } else {
        call->function(call->data);
    }
}

static void run_call(void *context) {
    sim_as_host(call_out, context);
}

static cudaError_t submit(const char *what, Place place, HostCall call) {
    sim_begin();
    if (sim_stream_slot(call.stream, what, place) < 0) {
        return sim_error(cudaErrorInvalidResourceHandle, what, place, false);
    }
    if (call.callback == NULL && call.function == NULL) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    sim_submit(call.stream, what, place.file, place.line, run_call, &call, sizeof call);
    return sim_device_error();
}

cudaError_t cudasim_stream_add_callback(const char *file, int line, cudaStream_t stream,
                                        cudaStreamCallback_t call, void *data, unsigned flags) {
    Place place = {file, line};
    if (flags != 0) {
        return sim_error(cudaErrorInvalidValue, "cudaStreamAddCallback", place, false);
    }
    return submit("cudaStreamAddCallback", place, (HostCall){call, NULL, stream, data});
}

cudaError_t cudasim_launch_host_func(const char *file, int line, cudaStream_t stream,
                                     cudaHostFn_t call, void *data) {
    return submit("cudaLaunchHostFunc", (Place){file, line}, (HostCall){NULL, call, stream, data});
}
