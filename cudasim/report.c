#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "block.h"
#include "device.h"
#include "rank.h"
#include "record.h"

enum { MOST_REPORTS = 20, STATUS = 86 };

Settings sim_settings = {.events = -1};
static int problems;
static bool muted;    /* the last report is not shown */
static FILE *capture; /* where reports go instead, if not NULL */
static char *captured;
static size_t captured_size;

/* ---- the simulator's own memory -------------------------------------------------------------- */

static void *or_end(void *p) {
    if (p == NULL || p == MAP_FAILED) {
        fprintf(stderr, "[cudasim] out of memory\n");
        fflush(stdout);
        _exit(1);
    }
    return p;
}

void *sim_realloc(void *old, size_t bytes) {
    return or_end(realloc(old, bytes));
}

void *sim_map(size_t bytes) {
    return or_end(mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

/* ---- messages -------------------------------------------------------------------------------- */

/* One more problem; whether it is still shown. */
static bool count_problem(const char *kind) {
    problems++;
    sim_event("problem %s", kind);
    if (problems == MOST_REPORTS + 1) {
        fprintf(stderr, "[cudasim] further reports are not shown\n");
    }
    fflush(stdout);
    return problems <= MOST_REPORTS;
}

/* Whether the kind was reported of this line before: one mistake is seen by each thread, and at
   times by the compiler's check, the simulator's and the processor. */
static bool seen_before(const char *kind, const char *text) {
    enum { MOST = 256 };
    static struct {
        const char *kind;
        char place[100];
    } seen[MOST];
    static int count;
    const char *dot = strstr(text, ".cu:");
    if (dot == NULL) {
        return false;
    }
    const char *begin = dot;
    while (begin > text && begin[-1] != ' ') {
        begin--;
    }
    int length = (int)(dot - begin) + 4 + (int)strspn(dot + 4, "0123456789");
    for (int i = 0; i < count; i++) {
        if (strcmp(seen[i].kind, kind) == 0 && (int)strlen(seen[i].place) == length &&
            strncmp(seen[i].place, begin, (size_t)length) == 0) {
            return true;
        }
    }
    if (count < MOST) {
        seen[count].kind = kind;
        snprintf(seen[count++].place, sizeof seen[0].place, "%.*s", length, begin);
    }
    return false;
}

static const char *rank_prefix(char text[20]) {
    text[0] = '\0';
    if (sim_rank() != NO_RANK) {
        snprintf(text, 20, "[rank %d] ", sim_rank());
    }
    return text;
}

static void print_line(const char *begin, const char *format, va_list values) {
    FILE *to = capture != NULL ? capture : stderr;
    fputs(begin, to);
    vfprintf(to, format, values);
    fputc('\n', to);
}

void sim_report(const char *kind, const char *format, ...) {
    char text[1000], prefix[20];
    if (sim_worker != NULL && sim_worker->in_kernel) {
        sim_in_turn(sim_worker); /* two cores would mix their lines */
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    muted = check_mute() || seen_before(kind, text) || (capture == NULL && !count_problem(kind));
    if (!muted) {
        fprintf(capture != NULL ? capture : stderr, "[cudasim] %s: %s%s\n", kind,
                rank_prefix(prefix), text);
    }
}

void sim_note(const char *format, ...) {
    muted = check_mute() || capture != NULL;
    if (!muted) {
        va_list values;
        va_start(values, format);
        print_line("[cudasim] note: ", format, values);
        va_end(values);
    }
}

void sim_detail(const char *format, ...) {
    if (!muted) {
        va_list values;
        va_start(values, format);
        print_line("          ", format, values);
        va_end(values);
    }
}

void sim_capture(void) {
    capture = open_memstream(&captured, &captured_size);
    or_end(capture);
}

char *sim_captured(void) {
    fclose(capture);
    capture = NULL;
    return captured;
}

void sim_report_captured(const char *kind, const char *text) {
    if (*text != '\0' && count_problem(kind)) {
        fputs(text, stderr);
    }
}

/* ---- the end of a program -------------------------------------------------------------------- */

int cudasim_problems(void) {
    return problems;
}

void sim_stop(void) {
    check_stop();
    record_close();
    fprintf(stderr, "[cudasim] the program was stopped here\n");
    fflush(NULL);
    _exit(STATUS);
}

const char *sim_file(Place place) {
    const char *slash = place.file != NULL ? strrchr(place.file, '/') : NULL;
    return slash != NULL ? slash + 1 : place.file != NULL ? place.file : "?";
}

void sim_detail_thread(void) {
    Worker *worker = sim_worker;
    if (worker == NULL || !worker->in_kernel) {
        return;
    }
    const LaunchSite *site = &worker->launch->site;
    sim_detail("in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", site->name, blockIdx.x,
               blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    sim_detail("launched at %s:%d with <<<(%u,%u,%u), (%u,%u,%u), %zu>>>",
               sim_file((Place){site->file, site->line}), site->line, site->grid.x, site->grid.y,
               site->grid.z, site->block.x, site->block.y, site->block.z, site->shared);
    const Operation *operation = sim_operation();
    if (operation != NULL && operation->replayed.file != NULL) {
        sim_detail("in a graph, by cudaGraphLaunch at %s:%d", sim_file(operation->replayed),
                   operation->replayed.line);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

cudaError_t sim_error(cudaError_t error, const char *what, Place place, bool silent) {
    Host *host = sim_host();
    if (error != cudaSuccess) {
        host->last = host->error = error;
        host->unseen = silent;
        host->what = what;
        host->place = place;
    }
    return error;
}

void sim_fail_device(cudaError_t error) {
    device_of(sim_device())->error = sim_host()->last = error;
    sim_host()->unseen = false;
}

cudaError_t sim_device_error(void) {
    return device_of(sim_device())->error;
}

void sim_detail_error(void) {
    const Host *host = sim_host();
    if (host->what != NULL) {
        sim_detail("%s at %s:%d failed before: \"%s\"; was its status checked?", host->what,
                   sim_file(host->place), host->place.line, cudaGetErrorString(host->error));
    }
}

cudaError_t cudaPeekAtLastError(void) {
    sim_host()->unseen = false;
    sim_host()->refused.file = NULL;
    return sim_device_error() != cudaSuccess ? sim_device_error() : sim_host()->last;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = cudaPeekAtLastError();
    sim_host()->last = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled",
     "profiler disabled while using external profiling tool"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorOperatingSystem, "cudaErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorTimeout, "cudaErrorTimeout", "wait operation timed out"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

static int error_index(cudaError_t error) {
    for (int i = 0; i < (int)(sizeof errors / sizeof errors[0]); i++) {
        if (errors[i].error == error) {
            return i;
        }
    }
    return -1;
}

const char *cudaGetErrorName(cudaError_t error) {
    int i = error_index(error);
    return i >= 0 ? errors[i].name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    int i = error_index(error);
    return i >= 0 ? errors[i].text : "unrecognized error code";
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool ending;

void sim_report_unseen(void) {
    const Host *host = sim_host();
    if (host->unseen) {
        sim_report("unchecked error",
                   "%s failed at %s:%d with \"%s\", and the program never checked", host->what,
                   sim_file(host->place), host->place.line, cudaGetErrorString(host->last));
        sim_detail("check the status of every call, and cudaGetLastError() after every launch");
    }
}

static void at_end(void) {
    ending = true;
    sim_enter_fault();
    /* A kernel that nobody waited for may still have something to report. */
    if (sim_rank() == NO_RANK) { /* else it ends the others in the midst of what they do */
        sim_wait_all();
    }
    sim_report_unseen();
    bool recorded = record_close();
    if (problems > 0) {
        fprintf(stderr, "[cudasim] %d problem%s reported\n", problems, problems == 1 ? "" : "s");
        fflush(NULL);
        _exit(STATUS);
    }
    if (!recorded) {
        fflush(NULL);
        _exit(1);
    }
    sim_leave_fault();
}

bool sim_ending(void) {
    return ending;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* A whole number of at least `least`, or `otherwise` if the variable is not set. */
static int number_setting(const char *name, int least, int otherwise) {
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') {
        return otherwise;
    }
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > 1 << 24) {
        fprintf(stderr, "[cudasim] %s must be a whole number of at least %d, not %s\n", name, least,
                text);
        _exit(2);
    }
    return (int)value;
}

static void read_schedule(const char *text) {
    if (text == NULL || strcmp(text, "forward") == 0 || *text == '\0') {
        sim_settings.schedule = FORWARD;
    } else if (strcmp(text, "reverse") == 0) {
        sim_settings.schedule = REVERSE;
    } else if (strncmp(text, "random:", 7) == 0 && text[7] != '\0' &&
               text[7 + strspn(text + 7, "0123456789")] == '\0') {
        sim_settings.schedule = RANDOM;
        sim_settings.seed = (unsigned)strtoul(text + 7, NULL, 10);
    } else {
        fprintf(stderr, "[cudasim] CUDASIM_SCHED must be forward, reverse or random:N, not %s\n",
                text);
        _exit(2);
    }
}

/* `make cu` defines this name when it links: its programs use all cores, the kit's own do not. */
extern const char cudasim_all_cores[] __attribute__((weak));

static int default_threads(void) {
    return cudasim_all_cores != NULL ? omp_get_num_procs() : 1;
}

/* Loads and stores are seen where the compiler announces them, and nowhere else. */
static void refuse_traffic(void) {
    if (sim_settings.traffic && !sim_checking) {
        fprintf(stderr, "[cudasim] CUDASIM_TRAFFIC counts in builds with ACCESS=1: this one does "
                        "not see what kernels read and write\n");
        _exit(2);
    }
    if (sim_settings.traffic && sim_settings.dry) {
        fprintf(stderr, "[cudasim] CUDASIM_TRAFFIC and CUDASIM_DRY: nothing runs that could be "
                        "counted\n");
        _exit(2);
    }
}

void sim_read_settings(void) {
    read_schedule(getenv("CUDASIM_SCHED"));
    int threads = number_setting("CUDASIM_THREADS", 1, default_threads());
    sim_settings.threads = sim_checking ? 1 : threads;
    sim_settings.timeout = number_setting("CUDASIM_TIMEOUT", 0, 20);
    sim_settings.memory = (size_t)number_setting("CUDASIM_MEMORY", 1, 8192) << 20;
    sim_settings.devices = number_setting("CUDASIM_DEVICES", 1, 0);
    if (sim_settings.devices > MOST_DEVICES) {
        fprintf(stderr, "[cudasim] CUDASIM_DEVICES is %d, the limit is %d\n", sim_settings.devices,
                MOST_DEVICES);
        _exit(2);
    }
    const char *profile = getenv("CUDASIM_PROFILE");
    sim_settings.sample = number_setting("CUDASIM_SAMPLE", 0, -1);
    sim_settings.events = number_setting("CUDASIM_EVENTS", 3, -1);
    sim_settings.dry = number_setting("CUDASIM_DRY", 0, 0) != 0;
    sim_settings.traffic = number_setting("CUDASIM_TRAFFIC", 0, 0) != 0;
    sim_settings.replay = number_setting("CUDASIM_REPLAY", 0, 1) != 0;
    sim_settings.strict = number_setting("CUDASIM_STRICT", 0, 0) != 0;
    sim_settings.profile = profile != NULL && *profile != '\0' ? profile : NULL;
    refuse_traffic();
    mprotect(&sim_settings, sizeof sim_settings, PROT_READ);
    record_open();
    if (sim_settings.dry) {
        fprintf(stderr, "[cudasim] note: CUDASIM_DRY: nothing runs on a device, and what the host "
                        "reads from one is zero\n");
    }
    atexit(at_end);
}
