/* Times every op of a device at the shapes of a training step, and holds each against the rate of a
   copy or of a large product, measured on the same device in the same run.

   bench-ops [--device gpu|cpu] [--small] [--batch B] [--precision P] [--only NAME] [--json FILE] */
#include <cuda_runtime.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/bench/cases.h"
#include "common/bench/measure.h"
#include "common/device.h"
#include "common/rng.h"

enum { ROUNDS = 5 };

/* GPT-2 124M on a GPU; less of it on a CPU; a few thousand numbers where only the run counts. */
static const Shape FULL = {.B = 8, .T = 1024, .C = 768, .NH = 12, .V = 50257};
static const Shape CPU_SHAPE = {.B = 1, .T = 256, .C = 768, .NH = 12, .V = 50257};
static const Shape SMALL = {.B = 2, .T = 32, .C = 64, .NH = 2, .V = 512};

/* How large a share of its bound an op must reach. */
static const double AIM = 0.8;

typedef struct Settings {
    const char *device, *precision, *only, *json;
    bool small;
    int B;
} Settings;

/* How long to measure, and on how much memory. */
typedef struct Effort {
    double round_ms;   /* calls of a round take about this long */
    size_t ring_bytes; /* at least so much memory goes by before a call meets the same tensors */
    size_t copy_bytes; /* of the bound */
    int side;          /* of the bound's square matrices */
} Effort;

typedef struct Bench {
    Device *device;
    Settings settings;
    Effort effort;
    float *noise;    /* (NOISE) device memory, in [0, 1) */
    float *centered; /* (NOISE) device memory, in [-1/2, 1/2) */
    FILE *json;
    double copy_rate;   /* bytes per ms */
    double matmul_rate; /* operations per ms, in the precision that is timed */
    char missed[1024];
} Bench;

enum { NOISE = 1 << 16 };

static void *allocate(Device *device, size_t bytes) {
    void *data = device_alloc(device, bytes);
    if (data == NULL) {
        fprintf(stderr, "the %s has no %.1f MiB left\n", device->name,
                (double)bytes / (1024 * 1024));
        exit(1);
    }
    return data;
}

static size_t padded(size_t bytes) {
    return (bytes + DEVICE_ALIGNMENT - 1) / DEVICE_ALIGNMENT * DEVICE_ALIGNMENT;
}

/* ---- what runs in a round: a function of the number of the call ------------------------------ */

typedef void call_fn(void *context, int call);

/* Median time of a call, in ms. Calls are queued one after the other, as in a training step; the
   clock stops when the device has done all of them. */
static double time_calls(const Bench *bench, call_fn *call, void *context) {
    double ms[ROUNDS];
    int calls = 1;
    for (int warm_up = 0; warm_up < 2; warm_up++) {
        double begin = now_ms();
        for (int i = 0; i < calls; i++) {
            call(context, i);
        }
        device_synchronize(bench->device);
        double one = (now_ms() - begin) / calls;
        double enough = bench->effort.round_ms / (one > 1e-3 ? one : 1e-3);
        calls = enough < 1 ? 1 : enough > 5000 ? 5000 : (int)enough;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ms();
        for (int i = 0; i < calls; i++) {
            call(context, i);
        }
        device_synchronize(bench->device);
        ms[round] = (now_ms() - begin) / calls;
    }
    return median(ms, ROUNDS);
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* From device to device, in the order of the ops. */
static void copy(Device *device, void *to, const void *from, size_t bytes) {
    enum { PIECE = 1 << 20 };
    if (!device->host_memory) {
        cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
        CHECK(error == cudaSuccess, "copy: %s", cudaGetErrorString(error));
        return;
    }
#pragma omp parallel for
    for (size_t first = 0; first < bytes; first += PIECE) {
        size_t left = bytes - first;
        memcpy((char *)to + first, (const char *)from + first, left < PIECE ? left : PIECE);
    }
}

static size_t argument_bytes(const Argument *argument, Precision precision) {
    switch (argument->content) {
    case REALS:
        return argument->count * precision_bytes(precision);
    case FLOATS:
        return argument->count * sizeof(float);
    case IDS:
        return argument->count * sizeof(int32_t);
    default:
        return 0;
    }
}

static void fill_ids(Device *device, void *data, size_t count, int V) {
    int32_t *ids = malloc(count * sizeof *ids);
    CHECK(ids != NULL, "no memory for %zu tokens", count);
    /* A prime that is no factor of V reaches every token once, and neighbours are far apart. */
    const uint64_t prime = 7919;
    CHECK(V % (int)prime != 0, "V = %d is a multiple of 7919", V);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)(i * prime % (uint64_t)V);
    }
    device_upload(device, data, ids, count * sizeof *ids);
    free(ids);
}

/* Zeros would do for the time of a copy, but a product of zeros needs less power, and so runs at a
   higher clock, than one of numbers. */
static void fill(const Bench *bench, void *data, const Argument *argument, const Place *place,
                 Precision precision) {
    if (argument->content == IDS) {
        fill_ids(bench->device, data, argument->count, place->shape.V);
        return;
    }
    bool reals = argument->content == REALS;
    size_t size = reals ? precision_bytes(precision) : sizeof(float);
    for (size_t first = 0; first < argument->count; first += NOISE) {
        size_t left = argument->count - first, count = left < NOISE ? left : NOISE;
        void *to = (char *)data + first * size;
        if (reals) {
            place->ops->cast_from_float(to, bench->centered, count);
        } else {
            copy(bench->device, to, bench->noise, count * sizeof(float));
        }
    }
}

/* ---- one case -------------------------------------------------------------------------------- */

/* Copies of a case's tensors: a call takes the next one, so that it finds nothing in a cache but
   what it has brought there itself. */
typedef struct Ring {
    const Case *item;
    const Place *place;
    char *data;
    size_t bytes; /* of all tensors of one copy */
    int copies;
    Precision precision;
} Ring;

static void take(const Ring *ring, int number, void **tensors) {
    char *next = ring->data + (size_t)(number % ring->copies) * ring->bytes;
    for (int i = 0; i < CASE_ARGUMENTS; i++) {
        const Argument *argument = &ring->item->arguments[i];
        tensors[i] = argument->content == NOTHING ? NULL : next;
        next += padded(argument_bytes(argument, ring->precision));
    }
}

static void call_case(void *context, int call) {
    const Ring *ring = context;
    void *tensors[CASE_ARGUMENTS];
    take(ring, call, tensors);
    ring->item->run(ring->item, ring->place, tensors);
}

static double time_case(const Bench *bench, const Case *item, const Place *place,
                        Precision precision) {
    Ring ring = {.item = item, .place = place, .precision = precision};
    for (int i = 0; i < CASE_ARGUMENTS; i++) {
        ring.bytes += padded(argument_bytes(&item->arguments[i], precision));
    }
    ring.copies = (int)((bench->effort.ring_bytes + ring.bytes - 1) / ring.bytes);
    size_t total = ring.bytes * (size_t)ring.copies;
    ring.data = allocate(bench->device, total);
    for (int number = 0; number < ring.copies; number++) {
        void *tensors[CASE_ARGUMENTS];
        take(&ring, number, tensors);
        for (int i = 0; i < CASE_ARGUMENTS; i++) {
            if (tensors[i] != NULL) {
                fill(bench, tensors[i], &item->arguments[i], place, precision);
            }
        }
    }
    double ms = time_calls(bench, call_case, &ring);
    device_release(bench->device, ring.data, total);
    return ms;
}

/* ---- the bounds ------------------------------------------------------------------------------ */

typedef struct Copy {
    Device *device;
    char *to, *from;
    size_t bytes;
} Copy;

static void call_copy(void *context, int call) {
    const Copy *c = context;
    (void)call;
    copy(c->device, c->to, c->from, c->bytes);
}

/* Bytes per ms of a copy, which reads each byte and writes it. */
static double measure_copy(const Bench *bench) {
    size_t bytes = bench->effort.copy_bytes;
    char *data = allocate(bench->device, 2 * bytes);
    device_fill(bench->device, data, 1, 2 * bytes);
    Copy c = {bench->device, data + bytes, data, bytes};
    double ms = time_calls(bench, call_copy, &c);
    device_release(bench->device, data, 2 * bytes);
    return 2 * (double)bytes / ms;
}

static void call_square(const Case *self, const Place *place, void **t) {
    place->ops->matmul_forward(t[0], t[1], t[2], NULL, self->C, self->C, self->C,
                               &place->workspace);
}

/* Operations per ms of a large square product. */
static double measure_matmul(const Bench *bench, const Place *place, Precision precision) {
    int side = bench->effort.side;
    Argument square = {REALS, (size_t)side * side};
    Case item = {
        .op = "matmul", .run = call_square, .C = side, .arguments = {square, square, square}};
    return 2.0 * side * side * side / time_case(bench, &item, place, precision);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void write_line(const Bench *bench, json_t *line) {
    json_object_set_new(line, "device", json_string(bench->device->name));
    json_object_set_new(line, "simulated", json_boolean(bench->device->simulated));
    if (bench->json != NULL) {
        json_dumpf(line, bench->json, JSON_REAL_PRECISION(6));
        fputc('\n', bench->json);
    }
    json_decref(line);
}

static void report_bound(const Bench *bench, const char *name, const char *precision,
                         const char *rate_name, double rate) {
    write_line(bench, json_pack("{s:s, s:s, s:f}", "bound", name, "precision", precision, rate_name,
                                rate));
}

static void report_case(Bench *bench, const Case *item, const char *precision, double ms) {
    double gb = item->bytes / ms * 1e-6, tflop = item->flops / ms * 1e-9;
    double share = item->bound == COPY_RATE ? item->bytes / ms / bench->copy_rate
                                            : item->flops / ms / bench->matmul_rate;
    const char *bound = item->bound == COPY_RATE ? "copy" : "matmul";
    const char *where = item->where != NULL ? item->where : "";
    printf("%-22s %-7s %-5s %10.1f %10.2f %10.2f %9.1f %9.2f  %5.1f %% of %s\n", item->op, where,
           precision, 1e3 * ms, 1e-6 * item->bytes, 1e-9 * item->flops, gb, tflop, 100 * share,
           bound);
    fflush(stdout);
    write_line(bench, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "op",
                                item->op, "where", where, "precision", precision, "microseconds",
                                1e3 * ms, "bytes", item->bytes, "flops", item->flops, "gb_per_s",
                                gb, "tflop_per_s", tflop, "bound", bound, "share", share));
    if (item->bound == COPY_RATE && !(share >= AIM)) {
        size_t used = strlen(bench->missed);
        snprintf(bench->missed + used, sizeof bench->missed - used, "%s%s%s%s %s %.0f %%",
                 used > 0 ? ", " : "", item->op, where[0] != '\0' ? " " : "", where, precision,
                 100 * share);
    }
}

static void report_verdict(const Bench *bench) {
    if (bench->device->simulated) {
        printf("\nno verdict: a simulated GPU has no rates\n");
    } else if (bench->missed[0] == '\0') {
        printf("\nevery bandwidth-bound op reaches %.0f %% of the copy rate\n", 100 * AIM);
    } else {
        printf("\nbelow %.0f %% of the copy rate: %s\n", 100 * AIM, bench->missed);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void time_precision(Bench *bench, Shape shape, Precision precision) {
    Device *device = bench->device;
    ModelConfig config = {.V = shape.V,
                          .T = shape.T,
                          .L = 1,
                          .NH = shape.NH,
                          .C = shape.C,
                          .precision = precision,
                          .attention = ATTENTION_PLAIN};
    size_t scratch = workspace_bytes(&config, device);
    Place place = {
        .ops = &device->ops[precision],
        .shape = shape,
        .workspace = {.bytes = scratch, .threads = device->threads, .blas = device->blas}};
    place.workspace.data = allocate(device, scratch);
    const char *name = precision_name(precision);
    bench->matmul_rate = measure_matmul(bench, &place, precision);
    printf("\nlarge product in %s: %.2f TFLOP/s\n", name, 1e-9 * bench->matmul_rate);
    report_bound(bench, "matmul", name, "tflop_per_s", 1e-9 * bench->matmul_rate);
    int count;
    Case *cases = cases_new(shape, precision_bytes(precision), &count);
    for (int i = 0; i < count; i++) {
        /* What works on floats is the same three times. */
        bool wanted = strstr(cases[i].op, bench->settings.only) != NULL;
        if (wanted && (!cases[i].is_float || precision == F32)) {
            report_case(bench, &cases[i], name, time_case(bench, &cases[i], &place, precision));
        }
    }
    free(cases);
    device_release(device, place.workspace.data, scratch);
}

/* Two tensors of random numbers on the device, from which all others are filled. */
static void make_noise(Bench *bench) {
    float *host = malloc(NOISE * sizeof *host);
    CHECK(host != NULL, "no memory for random numbers");
    Rng rng = rng_new(1, RNG_DATA);
    bench->noise = allocate(bench->device, NOISE * sizeof *host);
    bench->centered = allocate(bench->device, NOISE * sizeof *host);
    for (int i = 0; i < NOISE; i++) {
        host[i] = (float)rng_below(&rng, 1 << 20) / (1 << 20);
    }
    device_upload(bench->device, bench->noise, host, NOISE * sizeof *host);
    for (int i = 0; i < NOISE; i++) {
        host[i] -= 0.5f;
    }
    device_upload(bench->device, bench->centered, host, NOISE * sizeof *host);
    free(host);
}

static Settings parse(int argc, char **argv) {
    static const struct option names[] = {{"device", 1, NULL, 'd'}, {"small", 0, NULL, 's'},
                                          {"batch", 1, NULL, 'B'},  {"precision", 1, NULL, 'p'},
                                          {"only", 1, NULL, 'o'},   {"json", 1, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    Settings s = {.device = "gpu", .precision = "", .only = ""};
    for (int found; (found = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (found) {
        case 'd':
            s.device = optarg;
            break;
        case 's':
            s.small = true;
            break;
        case 'B':
            s.B = atoi(optarg);
            break;
        case 'p':
            s.precision = optarg;
            break;
        case 'o':
            s.only = optarg;
            break;
        case 'j':
            s.json = optarg;
            break;
        default:
            exit(2);
        }
    }
    return s;
}

/* Whether all words on the command line mean something. */
static bool is_sensible(const Settings *s) {
    bool device = strcmp(s->device, "gpu") == 0 || strcmp(s->device, "cpu") == 0;
    bool precision = s->precision[0] == '\0';
    for (Precision p = F32; p <= BF16; p++) {
        precision |= strcmp(s->precision, precision_name(p)) == 0;
    }
    if (!device || !precision || s->B < 0) {
        fprintf(stderr, "usage: bench-ops [--device gpu|cpu] [--small] [--batch B] "
                        "[--precision f32|f16|bf16] [--only NAME] [--json FILE]\n");
    }
    return device && precision && s->B >= 0;
}

/* A simulated GPU always gets the small shape: the large one would take hours to say nothing. */
static Shape choose_shape(Bench *bench) {
    bool small = bench->settings.small || bench->device->simulated;
    bool cpu = bench->device->host_memory;
    bench->effort =
        small ? (Effort){.round_ms = 0, .ring_bytes = 1, .copy_bytes = 1 << 20, .side = 64}
        : cpu ? (Effort){100, 256 << 20, 256 << 20, 2048}
              : (Effort){20, 512 << 20, 1 << 30, 8192};
    Shape shape = small ? SMALL : cpu ? CPU_SHAPE : FULL;
    shape.B = bench->settings.B > 0 ? bench->settings.B : shape.B;
    return shape;
}

static void print_head(Bench *bench, Shape shape) {
    const Device *device = bench->device;
    printf("%s: %s\n", device->name, device->note);
    printf("B=%d T=%d C=%d NH=%d V=%d; medians of %d rounds\n", shape.B, shape.T, shape.C, shape.NH,
           shape.V, ROUNDS);
    bench->copy_rate = measure_copy(bench);
    printf("copy of %.0f MiB: %.1f GB/s\n", (double)bench->effort.copy_bytes / (1024 * 1024),
           1e-6 * bench->copy_rate);
    report_bound(bench, "copy", "", "gb_per_s", 1e-6 * bench->copy_rate);
    printf("\n%-22s %-7s %-5s %10s %10s %10s %9s %9s  %s\n", "op", "where", "", "us", "MB", "GFLOP",
           "GB/s", "TFLOP/s", "share");
}

int main(int argc, char **argv) {
    Bench bench = {.settings = parse(argc, argv)};
    const Settings *s = &bench.settings;
    if (!is_sensible(s)) {
        return 2;
    }
    bench.device = strcmp(s->device, "cpu") == 0 ? device_cpu_new(0) : device_gpu_new();
    if (bench.device == NULL) {
        return 1;
    }
    if (s->json != NULL && (bench.json = fopen(s->json, "w")) == NULL) {
        fprintf(stderr, "cannot write %s\n", s->json);
        return 1;
    }
    Shape shape = choose_shape(&bench);
    print_head(&bench, shape);
    make_noise(&bench);
    for (Precision precision = F32; precision <= BF16; precision++) {
        if (s->precision[0] == '\0' || strcmp(s->precision, precision_name(precision)) == 0) {
            time_precision(&bench, shape, precision);
        }
    }
    report_verdict(&bench);
    bool written = bench.json == NULL || fclose(bench.json) == 0;
    if (!written) {
        fprintf(stderr, "cannot write %s\n", s->json);
    }
    device_free(bench.device);
    return !written;
}
