#include <errno.h>
#include <unistd.h>

#include "check.h"

/* How a warp's accesses look to the memory: for each line of source, how many 32-byte sectors one
   request of 32 lanes touches, and in shared memory how many times it is repeated because lanes
   want different words of one bank. Counted for the first warp of the first block; the k-th time
   that the lanes come to a line is taken as one request.

   It is a model without caches, and it is exact where a student needs it: neighbouring lanes at
   neighbouring addresses or not. */

enum {
    LINES = 512,
    REQUESTS = 256, /* looked at per line and launch */
    LAUNCHES = 32,  /* looked at per kernel */
    SECTOR = 32,
    BANKS = 32,
};

typedef struct Request {
    unsigned lanes; /* as bits */
    uintptr_t address[WARP];
} Request;

/* One line of one kernel. */
typedef struct CountedLine {
    const char *kernel;
    Site site;
    bool write, shared;
    size_t bytes;         /* of one lane */
    uint64_t total;       /* requests */
    uint64_t lanes;       /* that took part, over all requests */
    double cost, ideal;   /* sectors or repetitions */
    unsigned count[WARP]; /* in this launch, by lane */
    Request *request;     /* (REQUESTS) */
} CountedLine;

static CountedLine lines[LINES];
static int line_count;
static struct {
    const char *name;
    int launches;
} kernels[LINES];
static bool sampling;

static CountedLine *find_line(const Access *access) {
    const char *kernel = sim_worker->launch->site.name;
    for (int i = 0; i < line_count; i++) {
        CountedLine *line = &lines[i];
        if (line->site == access->site && line->write == access->write &&
            line->shared == access->shared && line->bytes == access->bytes &&
            strcmp(line->kernel, kernel) == 0) {
            return line;
        }
    }
    Request *request = line_count < LINES ? malloc(REQUESTS * sizeof *request) : NULL;
    if (request == NULL) {
        return NULL;
    }
    lines[line_count] = (CountedLine){.kernel = kernel,
                                      .site = access->site,
                                      .write = access->write,
                                      .shared = access->shared,
                                      .bytes = access->bytes,
                                      .request = request};
    return &lines[line_count++];
}

void profile_access(const Access *access) {
    const Worker *worker = sim_worker;
    int lane = worker->fiber->thread;
    if (!sampling || lane >= WARP || worker->block != sim_first_block()) {
        return;
    }
    CountedLine *line = find_line(access);
    if (line == NULL || line->count[lane] >= REQUESTS) {
        return;
    }
    unsigned k = line->count[lane]++;
    bool first = true;
    for (int other = 0; other < WARP; other++) {
        first = first && (other == lane || line->count[other] <= k);
    }
    Request *request = &line->request[k];
    if (first) {
        request->lanes = 0;
    }
    request->lanes |= 1u << lane;
    request->address[lane] = (uintptr_t)access->p;
}

/* ---- the cost of a request ------------------------------------------------------------------- */

static int add_distinct(uintptr_t *set, int n, uintptr_t value) {
    for (int i = 0; i < n; i++) {
        if (set[i] == value) {
            return n;
        }
    }
    set[n] = value;
    return n + 1;
}

static int sectors(const Request *request, size_t bytes) {
    uintptr_t touched[2 * WARP];
    int n = 0;
    for (int lane = 0; lane < WARP; lane++) {
        if (request->lanes >> lane & 1) {
            uintptr_t p = request->address[lane];
            n = add_distinct(touched, n, p / SECTOR);
            n = add_distinct(touched, n, (p + bytes - 1) / SECTOR);
        }
    }
    return n;
}

/* Different words of one bank are served one after the other. */
static int repetitions(const Request *request, size_t bytes) {
    uintptr_t words[BANKS][WARP * 4];
    int n[BANKS] = {0}, most = 0;
    for (int lane = 0; lane < WARP; lane++) {
        if (request->lanes >> lane & 1) {
            uintptr_t first = request->address[lane] / 4;
            uintptr_t last = (request->address[lane] + bytes - 1) / 4;
            for (uintptr_t word = first; word <= last && word < first + 4; word++) {
                int bank = (int)(word % BANKS);
                n[bank] = add_distinct(words[bank], n[bank], word);
                most = n[bank] > most ? n[bank] : most;
            }
        }
    }
    return most;
}

static void add_up(CountedLine *line) {
    for (unsigned k = 0; k < REQUESTS; k++) {
        bool any = false;
        for (int lane = 0; lane < WARP; lane++) {
            any = any || line->count[lane] > k;
        }
        if (!any) {
            break;
        }
        const Request *request = &line->request[k];
        int lanes = __builtin_popcount(request->lanes);
        line->total++;
        line->lanes += (uint64_t)lanes;
        size_t moved = (size_t)lanes * line->bytes;
        if (line->shared) {
            line->cost += repetitions(request, line->bytes);
            line->ideal += (double)((moved + 4 * BANKS - 1) / (4 * BANKS));
        } else {
            line->cost += sectors(request, line->bytes);
            line->ideal += (double)((moved + SECTOR - 1) / SECTOR);
        }
    }
    memset(line->count, 0, sizeof line->count);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_line(const CountedLine *line, const char *where) {
    double requests = (double)line->total;
    double ratio = line->ideal > 0 ? line->cost / line->ideal : 1;
    fprintf(stderr, "  %-40s %-6s %-5s %6.0f requests %5.1f lanes %2zu bytes  ", where,
            line->shared ? "shared" : "global", line->write ? "write" : "read", requests,
            (double)line->lanes / requests, line->bytes);
    if (line->shared) {
        fprintf(stderr, "%.1f-way%s\n", ratio, ratio > 1.9 ? "   <-- bank conflicts" : "");
    } else {
        fprintf(stderr, "%.1f sectors, best %.1f%s\n", line->cost / requests,
                line->ideal / requests, ratio > 1.9 ? "   <-- not coalesced" : "");
    }
}

static void write_line(FILE *file, const CountedLine *line, const char *where) {
    fprintf(file,
            "{\"kernel\": \"%s\", \"line\": \"%.*s\", \"memory\": \"%s\", \"access\": \"%s\", "
            "\"bytes\": %zu, \"requests\": %llu, \"lanes\": %llu, \"%s\": %.0f, \"ideal\": %.0f}\n",
            line->kernel, (int)strcspn(where, " "), where, line->shared ? "shared" : "global",
            line->write ? "write" : "read", line->bytes, (unsigned long long)line->total,
            (unsigned long long)line->lanes, line->shared ? "ways" : "sectors", line->cost,
            line->ideal);
}

static FILE *output; /* for JSON lines; NULL: the table goes to stderr */

/* Before anything is counted, since at the end it is too late to complain. */
static void open_output(void) {
    if (strcmp(sim_settings.profile, "1") == 0) {
        return;
    }
    output = fopen(sim_settings.profile, "a");
    if (output == NULL) {
        fprintf(stderr, "[cudasim] CUDASIM_PROFILE: %s: %s\n", sim_settings.profile,
                strerror(errno));
        _exit(2);
    }
}

static void at_end(void) {
    const char *kernel = "";
    for (int i = 0; i < line_count; i++) {
        char where[600];
        describe_site(lines[i].site, where, sizeof where);
        if (lines[i].total == 0) {
            continue;
        }
        if (output != NULL) {
            write_line(output, &lines[i], where);
            continue;
        }
        if (strcmp(kernel, lines[i].kernel) != 0) {
            kernel = lines[i].kernel;
            fprintf(stderr, "[cudasim] memory profile of %s (first warp of a launch)\n", kernel);
        }
        print_line(&lines[i], where);
    }
    if (output != NULL && fclose(output) != 0) {
        fprintf(stderr, "[cudasim] CUDASIM_PROFILE: %s: %s\n", sim_settings.profile,
                strerror(errno));
        _exit(1);
    }
}

int cudasim_profile(int i, cudasim_traffic *traffic) {
    if (i >= line_count) {
        return 0;
    }
    const CountedLine *line = &lines[i];
    *traffic = (cudasim_traffic){.kernel = line->kernel,
                                 .write = line->write,
                                 .shared = line->shared,
                                 .cost = line->cost,
                                 .ideal = line->ideal};
    return 1;
}

/* ---- launches -------------------------------------------------------------------------------- */

static bool wanted(const char *kernel) {
    int i = 0;
    while (i < LINES - 1 && kernels[i].name != NULL && strcmp(kernels[i].name, kernel) != 0) {
        i++;
    }
    kernels[i].name = kernel;
    return kernels[i].launches++ < LAUNCHES;
}

void profile_launch(const Launch *launch, bool begins) {
    static bool registered;
    if (sim_settings.profile == NULL) {
        return;
    }
    if (!registered) {
        registered = true;
        open_output();
        atexit(at_end);
    }
    sampling = begins && wanted(launch->site.name);
    for (int i = 0; !begins && i < line_count; i++) {
        add_up(&lines[i]);
    }
}
