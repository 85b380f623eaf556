/**
 * @file device.h
 * @brief Where tensors live and ops run.
 * @ingroup common
 *
 * A device is a table of ops and a place for memory. Nothing above it knows which one it is: the
 * model passes pointers that it cannot read, and copies between host and device explicitly.
 *
 *     Device *device = device_cpu_new(0);
 *     device->ops[F32].gelu_forward(out, in, NULL, N, C);
 *     device_free(device);
 */
#ifndef COMMON_DEVICE_H
#define COMMON_DEVICE_H

#include <stdbool.h>

#include "common/config.h"
#include "kernels/ops.h"

/** Every tensor starts on a multiple of this many bytes. */
enum { DEVICE_ALIGNMENT = 256 };

/** The last bytes of a workspace are not scratch: they hold single results, such as a norm. */
enum { WORKSPACE_RESULT_BYTES = 256 };

/** Lists of all parameters that a step needs: gradients, weights, and the two moments. */
enum { WORKSPACE_LISTS = 4 };

/** One device. Read the fields freely; call the functions through the wrappers below. */
typedef struct Device Device;

/** See #Device. */
struct Device {
    const char *name;    /**< "cpu" or "gpu" */
    const char *note;    /**< part of every report: threads, BLAS, core type */
    const char *warning; /**< why it is slower than it could be, or NULL */
    bool host_memory;    /**< whether the host can read its memory directly */
    bool simulated;      /**< not a real GPU: its time means nothing */
    int threads;         /**< CPU: threads that share the work; else 0 */
    int capability;      /**< GPU: 10 * major + minor of its compute capability; else 0 */
    void *blas;          /**< GPU: a cublasHandle_t, for Workspace; else NULL */
    const Ops *ops;      /**< (3) by Precision */
    void *state;         /**< the device's own */

    /** device_alloc() */
    void *(*alloc)(Device *device, size_t bytes);
    /** device_release() */
    void (*release)(Device *device, void *data, size_t bytes);
    /** device_fill() */
    void (*fill)(Device *device, void *data, int byte, size_t bytes);
    /** device_upload() */
    void (*upload)(Device *device, void *to, const void *from, size_t bytes);
    /** device_download() */
    void (*download)(Device *device, void *to, const void *from, size_t bytes);
    /** device_synchronize() */
    void (*synchronize)(Device *device);
    /** Scratch memory of the ops; workspace_bytes() adds lists and results. */
    size_t (*workspace_bytes)(const Device *device, const ModelConfig *config);
    /** device_overhead() */
    size_t (*overhead)(const Device *device);
    /** device_free() */
    void (*destroy)(Device *device);
};

/**
 * The CPU: its memory is one reserved range of addresses, of which pages are taken as they are
 * first touched and kept when a tensor is freed, so that a training step costs no page faults.
 *
 * Tensors that are released newest first lie one above the other. Where one is released below
 * others, its place is filled again by the next tensor that fits into it; until then it is lost to
 * a larger one.
 *
 * @param capacity bytes of the range; 0 for as much as the machine has memory
 * @return a device, to be given to device_free(); NULL (and a line on stderr) if the range cannot
 *         be reserved
 */
Device *device_cpu_new(size_t capacity);

/**
 * The GPU: the one that cudaSetDevice() has made current, else the first of the machine. It must be
 * current whenever the device is used. In a build with BACKEND=sim, the default, it is simulated;
 * with BACKEND=cuda it is real.
 *
 * Tensors come from CUDA's stream-ordered pool, which keeps what is freed; copies go through a
 * pinned buffer; ops, copies and fills run one after the other in the default stream. Those calls
 * may return before their work is done. Where the GPU reports an error, the program ends.
 *
 * @param ops (3) the GPU's ops by precision: `ops_gpu` of kernels/ops.h, an object outside of the
 *            library, for labs write some of them; NULL where nothing runs and only bytes are asked
 * @return a device, to be given to device_free(); NULL (and a line on stderr) where there is no GPU
 *         or its driver does not fit
 */
Device *device_gpu_new(const Ops *ops);

/**
 * From here on each launch and each product of a GPU waits until it has ended, so that a fault is
 * reported by the op that has made it and not by a later one: CUDA_LAUNCH_BLOCKING=1, which CUDA
 * reads when it starts. To be called before device_gpu_new(). The simulator names the kernel in any
 * case. What is captured into a graph does not wait.
 */
void device_gpu_wait_for_launches(void);

/** Why this device cannot compute in this precision, or NULL: a GPU multiplies bf16 from compute
 * capability 8.0 on. */
const char *device_lacks(const Device *device, Precision precision);

/** Gives the device back with all its memory. NULL is fine. */
void device_free(Device *device);

/**
 * Memory for one tensor, aligned to DEVICE_ALIGNMENT.
 *
 * @param device the device
 * @param bytes  size; may be 0
 * @return the memory, content undefined; NULL if there is no more
 */
static inline void *device_alloc(Device *device, size_t bytes) {
    return device->alloc(device, bytes);
}

/**
 * Takes back a tensor, in any order. `bytes` is its size as allocated. A place that is not
 * allocated, or not any more, is a caller's bug.
 */
static inline void device_release(Device *device, void *data, size_t bytes) {
    device->release(device, data, bytes);
}

/** Sets every byte of device memory. In the order of the ops; may return before it is done. */
static inline void device_fill(Device *device, void *data, int byte, size_t bytes) {
    device->fill(device, data, byte, bytes);
}

/** Copies from host to device, after the ops before it; `from` may be reused on return. */
static inline void device_upload(Device *device, void *to, const void *from, size_t bytes) {
    device->upload(device, to, from, bytes);
}

/** Copies from device to host, after the ops before it; complete on return. */
static inline void device_download(Device *device, void *to, const void *from, size_t bytes) {
    device->download(device, to, from, bytes);
}

/** Waits until everything that was started has ended. */
static inline void device_synchronize(Device *device) {
    device->synchronize(device);
}

/**
 * The addresses of a CPU's memory, whole pages.
 *
 * @param      device a CPU
 * @param[out] bytes  length
 * @return its begin
 */
void *device_cpu_range(const Device *device, size_t *bytes);

/** Gives a CPU's pages without a tensor back to the system: what they held is gone. */
void device_cpu_forget(Device *device);

/**
 * Bytes in use on the device that belong to no tensor: a GPU's context and loaded
 * kernels, cuBLAS and its workspace, and what other programs hold there. 0 on the CPU.
 */
static inline size_t device_overhead(const Device *device) {
    return device->overhead(device);
}

/** Bytes of one list of a model's parameters: a TensorEntry each, rounded up to 256. */
size_t workspace_list_bytes(const ModelConfig *config);

/**
 * Bytes for the gradients of one frozen layer norm, which nobody reads, rounded up to 256; 0 where
 * nothing is frozen.
 */
size_t workspace_unread_bytes(const ModelConfig *config);

/**
 * Bytes of workspace that a step of this model takes on this device: the scratch memory of its ops,
 * WORKSPACE_LISTS lists of its parameters, of which the model makes one and the optimizer the
 * others, 256 bytes for single results, and workspace_unread_bytes(). It is a line of its own in
 * every count because, unlike weights, gradients, states and activations, it depends on the device
 * (on a CPU on the number of threads).
 *
 * @param config the model
 * @param device the device
 */
size_t workspace_bytes(const ModelConfig *config, const Device *device);

#endif
