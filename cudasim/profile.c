#include <errno.h>
#include <unistd.h>

#include "check.h"

/* How a warp's accesses look to the memory: for each line of source, how many 32-byte sectors one
   request of 32 lanes touches, and in shared memory how many times it is repeated because lanes
   want different words of one bank. The k-th time that the lanes of a warp come to an access is
   taken as one request. Counted for the warps that sample.c chooses.

   It is a model without caches, and it is exact where a student needs it: neighbouring lanes at
   neighbouring addresses or not. */

enum {
    LINES = 512,
    REQUESTS = 1 << 14, /* looked at per line, warp and launch */
    SECTOR = 32,
    BANKS = 32,
    WIDEST = 16, /* bytes of one lane's access */
    JOINING = 4, /* accesses of a lane that may still grow */
};

typedef struct Request {
    unsigned lanes; /* as bits */
    uintptr_t address[WARP];
} Request;

/* The requests of one warp at one line. */
typedef struct Visits {
    unsigned count[WARP]; /* by lane */
    Request *request;     /* (room) */
    unsigned room;
} Visits;

/* One line of one kernel. */
typedef struct CountedLine {
    const char *kernel;
    Site site;
    bool write, shared;
    size_t bytes;       /* of one lane */
    uint64_t total;     /* requests */
    uint64_t lanes;     /* that took part, over all requests */
    double cost, ideal; /* sectors or repetitions */
    Visits visits[SAMPLES];
} CountedLine;

static CountedLine lines[LINES];
static int line_count;

/* ---- requests -------------------------------------------------------------------------------- */

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
    if (line_count == LINES) {
        return NULL;
    }
    lines[line_count] = (CountedLine){.kernel = kernel,
                                      .site = access->site,
                                      .write = access->write,
                                      .shared = access->shared,
                                      .bytes = access->bytes};
    return &lines[line_count++];
}

static void add_visit(const Access *access, int s, int lane) {
    CountedLine *line = find_line(access);
    if (line == NULL || line->visits[s].count[lane] >= REQUESTS) {
        return;
    }
    Visits *visits = &line->visits[s];
    unsigned k = visits->count[lane]++;
    if (k >= visits->room) {
        unsigned room = 2 * visits->room + 16;
        visits->request = sim_realloc(visits->request, room * sizeof *visits->request);
        memset(visits->request + visits->room, 0, (room - visits->room) * sizeof(Request));
        visits->room = room;
    }
    visits->request[k].lanes |= 1u << lane;
    visits->request[k].address[lane] = (uintptr_t)access->p;
}

/* ---- accesses that belong together ----------------------------------------------------------- */

/* A compiler may cut the copy of a structure, a float4 for one, into its members, before it calls a
   hook. So accesses of one lane are joined that come from one line of the source, one after
   another, and lie side by side in 16 bytes. A loop that comes to the same instruction again makes
   another request. */

typedef struct Joined {
    Access access;
    Site last;
    bool set;
} Joined;

static Joined joined[SAMPLES][WARP][JOINING];

/* The line of a site: a number by which it can be compared. */
static uint64_t source_line(Site site) {
    enum { KNOWN = 4096 };
    static struct {
        Site site;
        uint64_t line;
    } known[KNOWN];
    uint32_t i = site * 2654435761u % KNOWN;
    if (known[i].site != site || known[i].line == 0) {
        char where[600];
        describe_site(site, where, sizeof where);
        uint64_t line = 14695981039346656037u;
        for (const char *p = where; *p != '\0' && *p != ' '; p++) {
            line = (line ^ (unsigned char)*p) * 1099511628211u;
        }
        known[i].site = site;
        known[i].line = line | 1;
    }
    return known[i].line;
}

static bool belongs_to(const Access *access, const Joined *to) {
    const char *begin = to->access.p, *end = begin + to->access.bytes;
    const char *block = (const char *)((uintptr_t)begin & ~(uintptr_t)(WIDEST - 1));
    return to->set && access->site > to->last && access->write == to->access.write &&
           access->shared == to->access.shared && access->p >= block &&
           access->p + access->bytes <= block + WIDEST &&
           (access->p >= end || access->p + access->bytes <= begin) &&
           source_line(access->site) == source_line(to->last);
}

static void join(Joined *to, const Access *access) {
    const char *end = to->access.p + to->access.bytes, *other = access->p + access->bytes;
    to->access.p = access->p < to->access.p ? access->p : to->access.p;
    to->access.bytes = (size_t)((other > end ? other : end) - to->access.p);
    to->last = access->site;
}

static void take_access(const Access *access, int s, int lane) {
    Joined *of_lane = joined[s][lane];
    for (int i = 0; i < JOINING; i++) {
        if (belongs_to(access, &of_lane[i])) {
            join(&of_lane[i], access);
            return;
        }
    }
    Joined *oldest = &of_lane[JOINING - 1];
    if (oldest->set) {
        add_visit(&oldest->access, s, lane);
    }
    memmove(of_lane + 1, of_lane, (JOINING - 1) * sizeof *of_lane);
    of_lane[0] = (Joined){*access, access->site, true};
}

static void take_the_last(int s) {
    for (int lane = 0; lane < WARP; lane++) {
        for (int i = JOINING - 1; i >= 0; i--) {
            if (joined[s][lane][i].set) {
                add_visit(&joined[s][lane][i].access, s, lane);
            }
        }
    }
    memset(joined[s], 0, sizeof joined[s]);
}

/* ---- accesses of the warps that are looked at ---------------------------------------------- */

static void forget_visits(Visits *visits) {
    memset(visits->count, 0, sizeof visits->count);
    if (visits->room > 0) {
        memset(visits->request, 0, visits->room * sizeof *visits->request);
    }
}

/* Another warp takes the place of this sample. */
static void forget_sample(int s) {
    memset(joined[s], 0, sizeof joined[s]);
    for (int i = 0; i < line_count; i++) {
        forget_visits(&lines[i].visits[s]);
    }
}

void profile_access(const Access *access) {
    if (sim_settings.profile == NULL) {
        return;
    }
    int fresh = access->shared ? -1 : sample_consider();
    if (fresh >= 0) {
        forget_sample(fresh);
    }
    for (int s = 0; s < SAMPLES; s++) {
        int lane = sample_lane(s);
        if (lane < 0) {
            continue;
        }
        /* A range is what a lane would take piece by piece. */
        Access piece = *access;
        for (size_t done = 0; done < access->bytes; done += piece.bytes) {
            piece.p = access->p + done;
            piece.bytes = access->bytes - done < WIDEST ? access->bytes - done : WIDEST;
            take_access(&piece, s, lane);
        }
    }
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

/* The requests of one warp at one line, added up. */
typedef struct Sum {
    uint64_t requests, lanes;
    double cost, ideal, worst; /* worst: the most that one request costs beyond its ideal */
} Sum;

static Sum sum_of(const CountedLine *line, const Visits *visits) {
    Sum sum = {0};
    for (unsigned k = 0; k < visits->room && visits->request[k].lanes != 0; k++) {
        const Request *request = &visits->request[k];
        int lanes = __builtin_popcount(request->lanes);
        size_t moved = (size_t)lanes * line->bytes;
        double cost =
            line->shared ? repetitions(request, line->bytes) : sectors(request, line->bytes);
        double ideal = line->shared ? (double)((moved + 4 * BANKS - 1) / (4 * BANKS))
                                    : (double)((moved + SECTOR - 1) / SECTOR);
        sum.requests++;
        sum.lanes += (uint64_t)lanes;
        sum.cost += cost;
        sum.ideal += ideal;
        sum.worst = cost - ideal > sum.worst ? cost - ideal : sum.worst;
    }
    return sum;
}

static void add_up(CountedLine *line, int s) {
    Visits *visits = &line->visits[s];
    Sum sum = sum_of(line, visits);
    if (sum.requests == 0) {
        return;
    }
    line->total += sum.requests;
    line->lanes += sum.lanes;
    line->cost += sum.cost;
    line->ideal += sum.ideal;
    if (!line->shared) {
        sim_event("traffic %s %zu %llu %llu %.0f %.0f %.0f %s", line->write ? "write" : "read",
                  line->bytes, (unsigned long long)sum.requests, (unsigned long long)sum.lanes,
                  sum.cost, sum.ideal, sum.worst, line->kernel);
    }
    forget_visits(visits);
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

/* ---- launches -------------------------------------------------------------------------------- */

void profile_launch_begins(const Launch *launch) {
    static bool registered;
    if (sim_settings.profile == NULL) {
        return;
    }
    if (!registered) {
        registered = true;
        open_output();
        atexit(at_end);
    }
    sample_launch_begin(launch);
}

void profile_launch_ends(void) {
    if (sim_settings.profile == NULL) {
        return;
    }
    for (int s = 0; s < SAMPLES; s++) {
        take_the_last(s);
        for (int i = 0; i < line_count; i++) {
            add_up(&lines[i], s);
        }
    }
    sample_launch_end();
}
