#include "graph.h"

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
    int slot;
    cudaError_t error = sim_may_submit(call.stream, what, place, &slot);
    if (error != cudaSuccess) {
        return error;
    }
    if (call.callback == NULL && call.function == NULL) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    Work work = {what, place, cudaGraphNodeTypeHost, .run = run_call, .context = &call};
    sim_submit_copy(call.stream, work, sizeof call);
    return sim_device_error();
}

cudaError_t cudasim_stream_add_callback(const char *file, int line, cudaStream_t stream,
                                        cudaStreamCallback_t call, void *data, unsigned flags) {
    ENTER("cudaStreamAddCallback", file, line);
    static const char what[] = "cudaStreamAddCallback";
    Place place = {file, line};
    if (flags != 0) {
        return sim_error(cudaErrorInvalidValue, what, place, false);
    }
    if (capture_takes(sim_stream_slot(stream, what, place))) {
        return graph_misuse(cudaErrorStreamCaptureUnsupported, what, place,
                            "the stream is captured; use cudaLaunchHostFunc");
    }
    return submit(what, place, (HostCall){call, NULL, stream, data});
}

cudaError_t cudasim_launch_host_func(const char *file, int line, cudaStream_t stream,
                                     cudaHostFn_t call, void *data) {
    ENTER("cudaLaunchHostFunc", file, line);
    static const char what[] = "cudaLaunchHostFunc";
    return submit(what, (Place){file, line}, (HostCall){NULL, call, stream, data});
}
