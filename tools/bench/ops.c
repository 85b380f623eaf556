/* Times every op of a device at the shapes of a training step, and holds each against the rate of a
   copy or of a large product, measured on the same device in the same run.

   bench-ops [--device gpu|cpu] [--small] [--batch B] [--precision P] [--only NAME] [--json FILE] */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "common/memory.h"
#include "tools/bench/timing.h"

/* GPT-2 124M on a GPU; less of it on a CPU; a few thousand numbers where only the run counts. */
static const OpShape FULL = {.B = 8, .T = 1024, .C = 768, .NH = 12, .V = 50257};
static const OpShape CPU_SHAPE = {.B = 1, .T = 256, .C = 768, .NH = 12, .V = 50257};
static const OpShape SMALL = {.B = 2, .T = 32, .C = 64, .NH = 2, .V = 512};

static const Effort ON_GPU = {
    .round_ms = 20, .ring_bytes = 512 << 20, .copy_bytes = 1 << 30, .side = 8192};
static const Effort ON_CPU = {
    .round_ms = 100, .ring_bytes = 256 << 20, .copy_bytes = 256 << 20, .side = 2048};
static const Effort QUICK = {.round_ms = 0, .ring_bytes = 1, .copy_bytes = 1 << 20, .side = 64};

/* How large a share of its bound an op must reach. */
static const double AIM = 0.8;

/* Updates with small states, and how many times as long as adamw they may take. */
typedef struct Rival {
    const char *op;
    double aim;
} Rival;
static const Rival RIVALS[] = {{"adam8", 2}, {"adafactor", 1.5}};
enum { RIVAL_COUNT = sizeof RIVALS / sizeof *RIVALS };

typedef struct OpsSettings {
    const char *device, *precision, *only, *json;
    bool small;
    int B;
} OpsSettings;

typedef struct Bench {
    Device *device;
    OpsSettings settings;
    Timing timing;
    bool counts; /* whether the times mean something */
    FILE *json;
    double copy_rate;   /* bytes per ms */
    double matmul_rate; /* operations per ms, in the precision that is timed */
    char missed[4096];
    int ratios, ratios_missed;
} Bench;

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
    double bytes = item->cost.bytes, flops = item->cost.flops;
    double gb = bytes / ms * 1e-6, tflop = flops / ms * 1e-9;
    bool copies = flops == 0; /* memory limits it, not arithmetic */
    double share = copies ? bytes / ms / bench->copy_rate : flops / ms / bench->matmul_rate;
    const char *bound = copies ? "copy" : "matmul";
    const char *where = item->where != NULL ? item->where : "";
    printf("%-22s %-7s %-5s %10.1f %10.2f %10.2f %9.1f %9.2f", item->op, where, precision, 1e3 * ms,
           1e-6 * bytes, 1e-9 * flops, gb, tflop);
    if (bench->counts) {
        printf("  %5.1f %% of %s", 100 * share, bound);
    }
    putchar('\n');
    fflush(stdout);
    write_line(bench, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s, s:f}", "op",
                                item->op, "where", where, "precision", precision, "microseconds",
                                1e3 * ms, "bytes", bytes, "flops", flops, "gb_per_s", gb,
                                "tflop_per_s", tflop, "bound", bound, "share", share));
    if (copies && !(share >= AIM)) {
        size_t used = strlen(bench->missed);
        snprintf(bench->missed + used, sizeof bench->missed - used, "%s%s%s%s %s %.0f %%",
                 used > 0 ? ", " : "", item->op, where[0] != '\0' ? " " : "", where, precision,
                 100 * share);
    }
}

static void report_ratio(Bench *bench, const Rival *rival, double ratio) {
    printf("%s takes %.2f times as long as adamw", rival->op, ratio);
    if (bench->counts) {
        printf(", aim %.1f%s", rival->aim, ratio <= rival->aim ? "" : "  MISSED");
    }
    putchar('\n');
    fflush(stdout);
    write_line(bench, json_pack("{s:s, s:s, s:f, s:f}", "ratio", rival->op, "to", "adamw", "times",
                                ratio, "aim", rival->aim));
    bench->ratios++;
    bench->ratios_missed += !(ratio <= rival->aim);
}

static void report_verdict(const Bench *bench) {
    if (bench->counts && bench->ratios > 0) {
        printf("%d of %d aims missed\n", bench->ratios_missed, bench->ratios);
    }
    if (!bench->counts) {
        printf("\nno verdict: %s\n", bench->device->simulated
                                         ? "a simulated GPU has no rates"
                                         : "at this size an op's time is that of its call");
    } else if (bench->missed[0] == '\0') {
        printf("\nevery bandwidth-bound op reaches %.0f %% of the copy rate\n", 100 * AIM);
    } else {
        printf("\nbelow %.0f %% of the copy rate: %s\n", 100 * AIM, bench->missed);
    }
}

static const Case *case_of(const Case *cases, int count, const char *op) {
    for (int i = 0; i < count; i++) {
        if (strcmp(cases[i].op, op) == 0) {
            return &cases[i];
        }
    }
    return NULL;
}

static void time_rivals(Bench *bench, const Case *cases, int count, const CasePlace *place) {
    for (int i = 0; i < RIVAL_COUNT; i++) {
        const Rival *rival = &RIVALS[i];
        if (strstr(rival->op, bench->settings.only) != NULL) {
            report_ratio(bench, rival,
                         timing_ratio(&bench->timing, case_of(cases, count, rival->op),
                                      case_of(cases, count, "adamw"), place, F32));
        }
    }
}

static void time_precision(Bench *bench, OpShape shape, Precision precision) {
    Device *device = bench->device;
    ModelConfig config = {.V = shape.V,
                          .T = shape.T,
                          .L = 1,
                          .NH = shape.NH,
                          .C = shape.C,
                          .precision = precision,
                          .attention = ATTENTION_PLAIN};
    size_t scratch = workspace_bytes(&config, device);
    CasePlace place = {
        .ops = &device->ops[precision],
        .shape = shape,
        .workspace = {.bytes = scratch, .threads = device->threads, .blas = device->blas}};
    place.workspace.data = timing_alloc(device, scratch);
    const char *name = precision_name(precision);
    bench->matmul_rate = timing_matmul_rate(&bench->timing, &place, precision);
    printf("\nlarge product in %s: %.2f TFLOP/s\n", name, 1e-9 * bench->matmul_rate);
    report_bound(bench, "matmul", name, "tflop_per_s", 1e-9 * bench->matmul_rate);
    int count;
    Case *cases = cases_new(shape, precision, &count);
    for (int i = 0; i < count; i++) {
        /* Ops on floats are the same in all three precisions. */
        bool wanted = strstr(cases[i].op, bench->settings.only) != NULL;
        if (wanted && (!cases[i].is_float || precision == F32)) {
            report_case(bench, &cases[i], name,
                        timing_case(&bench->timing, &cases[i], &place, precision));
        }
    }
    if (precision == F32) {
        time_rivals(bench, cases, count, &place);
    }
    free(cases);
    device_release(device, place.workspace.data, scratch);
}

static OpsSettings parse(int argc, char **argv) {
    static const struct option names[] = {{"device", 1, NULL, 'd'}, {"small", 0, NULL, 's'},
                                          {"batch", 1, NULL, 'B'},  {"precision", 1, NULL, 'p'},
                                          {"only", 1, NULL, 'o'},   {"json", 1, NULL, 'j'},
                                          {NULL, 0, NULL, 0}};
    OpsSettings s = {.device = "gpu", .precision = "", .only = ""};
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
static bool is_sensible(const OpsSettings *s) {
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
static OpShape begin(Bench *bench) {
    bool small = bench->settings.small || bench->device->simulated;
    bool cpu = bench->device->host_memory;
    bench->counts = !small;
    bench->timing = timing_new(bench->device, small ? QUICK : cpu ? ON_CPU : ON_GPU);
    OpShape shape = small ? SMALL : cpu ? CPU_SHAPE : FULL;
    shape.B = bench->settings.B > 0 ? bench->settings.B : shape.B;
    return shape;
}

static void print_head(Bench *bench, OpShape shape) {
    const Device *device = bench->device;
    printf("%s: %s\n", device->name, device->note);
    printf("B=%d T=%d C=%d NH=%d V=%d; medians of %d rounds\n", shape.B, shape.T, shape.C, shape.NH,
           shape.V, TIMING_ROUNDS);
    bench->copy_rate = timing_copy_rate(&bench->timing);
    printf("copy of %.0f MiB: %.1f GB/s\n", memory_mib(bench->timing.effort.copy_bytes),
           1e-6 * bench->copy_rate);
    report_bound(bench, "copy", "", "gb_per_s", 1e-6 * bench->copy_rate);
    printf("\n%-22s %-7s %-5s %10s %10s %10s %9s %9s  %s\n", "op", "where", "", "us", "MB", "GFLOP",
           "GB/s", "TFLOP/s", "share");
}

int main(int argc, char **argv) {
    Bench bench = {.settings = parse(argc, argv)};
    const OpsSettings *s = &bench.settings;
    if (!is_sensible(s)) {
        return 2;
    }
    bench.device = strcmp(s->device, "cpu") == 0 ? device_cpu_new(0) : device_gpu_new(ops_gpu);
    if (bench.device == NULL) {
        return 1;
    }
    if (s->json != NULL && (bench.json = fopen(s->json, "w")) == NULL) {
        fprintf(stderr, "cannot write %s\n", s->json);
        return 1;
    }
    OpShape shape = begin(&bench);
    print_head(&bench, shape);
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
    return stdout_flush() != 0 || !written;
}
