#include "device.h"
#include "graph.h"

/* Functions of the host that a stream calls when it gets there. */

typedef struct HostCall {
    cudaStreamCallback_t callback; /* or NULL */
    cudaHostFn_t function;
    cudaStream_t stream;
    HostEnd data;
} HostCall;

static void call_out(void *context) {
    const HostCall *call = context;
    void *data = (void *)(uintptr_t)call->data.first;
    if (call->callback != NULL) {
        call->callback(call->stream, sim_device_error(), data);
    } else {
        call->function(data);
    }
}

/* With data that others have by now it could write to what runs. */
static void run_call(void *context) {
    const HostCall *call = context;
    const char *gone = sim_host_gone(&call->data);
    if (gone == NULL) {
        sim_as_host(call_out, context);
        return;
    }
    const Operation *operation = sim_operation();
    sim_report("use after free", "%s at %s:%d: the data is %s", operation->what,
               sim_file(operation->place), operation->place.line, gone);
    sim_detail("the stream calls the function later: use memory that lives until then");
}

static void release_call(void *context) {
    HostCall *call = context;
    sim_forget_host(&call->data);
    free(call);
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
    HostCall *kept = sim_realloc(NULL, sizeof *kept);
    *kept = call;
    sim_note_host(&kept->data);
    sim_submit(call.stream, (Work){what, place, cudaGraphNodeTypeHost, .run = run_call,
                                   .release = release_call, .context = kept});
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
    return submit(what, place, (HostCall){call, NULL, stream, {.first = data}});
}

cudaError_t cudasim_launch_host_func(const char *file, int line, cudaStream_t stream,
                                     cudaHostFn_t call, void *data) {
    ENTER("cudaLaunchHostFunc", file, line);
    static const char what[] = "cudaLaunchHostFunc";
    return submit(what, (Place){file, line}, (HostCall){NULL, call, stream, {.first = data}});
}
