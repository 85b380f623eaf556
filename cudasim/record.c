#include "record.h"

#include <errno.h>
#include <unistd.h>

#include "clock/aside.h"
#include "clock/record_file.h"
#include "device.h"
#include "rank.h"

/* An entry for each operation that enters a queue, and for each wait. What comes directly before it
   is read from the clocks, which the queues have anyway: a place of the clock that is later than at
   the entry before in the same queue is an operation that it has to wait for. It is named, unless
   another one that is named comes after it, or the host had waited for it. */

bool sim_recording;

/* The entries of one queue; in a dry run of one rank, whose queues may be others' too. */
typedef struct Lane {
    uint64_t *number; /* (count) of its operations, ascending */
    uint64_t *id;     /* (count) and their entries */
    int count, room;
    uint64_t last; /* its last entry; 0: none */
    Clock *seen;   /* at that entry; NULL: none */
} Lane;

/* One host. */
typedef struct RecordedHost {
    Lane **lane;    /* (QUEUES) made at first use */
    uint64_t last;  /* the last entry of its own: a wait, or a graph; 0: none */
    uint64_t graph; /* whose nodes enter queues now; 0: none */
} RecordedHost;

static CudasimEntry *entries; /* [0, count): entry i has the id i + 1 */
static size_t count, room;
static RecordedHost *callers; /* [0, caller_count) by rank */
static int caller_count;
static AsideFile file;
enum { WIDEST_DRY = 64 /* queues: beyond, the entries of a dry run have no clock */ };
enum { EVENT_LIST = 400 /* bytes of a list of numbers, in an event */ };

/* ---- memory that stays where it is ----------------------------------------------------------- */

static void *keep(const void *from, size_t bytes) {
    enum { PIECE = 1 << 20, ALIGNMENT = 8 };
    static char *piece;
    static size_t left;
    size_t wanted = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (wanted > left) {
        left = wanted > PIECE ? wanted : PIECE;
        piece = sim_realloc(NULL, left);
    }
    char *kept = piece;
    piece += wanted;
    left -= wanted;
    return memcpy(kept, from, bytes);
}

/* ---- queues and hosts ------------------------------------------------------------------------ */

/* That of the host that runs. Threads outside of ranks count as one. */
static int own_rank(void) {
    int rank = sim_host()->rank;
    return rank == NO_RANK ? 0 : rank;
}

static RecordedHost *caller_of(int rank) {
    if (rank >= caller_count) {
        int more = 2 * rank + 1;
        callers = sim_realloc(callers, (size_t)more * sizeof *callers);
        memset(callers + caller_count, 0, (size_t)(more - caller_count) * sizeof *callers);
        caller_count = more;
    }
    return &callers[rank];
}

static Lane *lane_of(int slot, int rank) {
    RecordedHost *owner = caller_of(sim_settings.dry ? rank : 0);
    if (owner->lane == NULL) {
        owner->lane = sim_realloc(NULL, QUEUES * sizeof(Lane *));
        memset(owner->lane, 0, QUEUES * sizeof(Lane *));
    }
    if (owner->lane[slot] == NULL) {
        owner->lane[slot] = sim_realloc(NULL, sizeof(Lane));
        memset(owner->lane[slot], 0, sizeof(Lane));
    }
    return owner->lane[slot];
}

static void add_to(Lane *lane, uint64_t number, uint64_t id) {
    if (lane->count == lane->room) {
        lane->room = 2 * lane->room + 64;
        lane->number = sim_realloc(lane->number, (size_t)lane->room * sizeof *lane->number);
        lane->id = sim_realloc(lane->id, (size_t)lane->room * sizeof *lane->id);
    }
    lane->number[lane->count] = number;
    lane->id[lane->count++] = id;
}

uint64_t record_entry_at(int slot, uint64_t number, int rank) {
    const Lane *lane = lane_of(slot, rank);
    int low = 0, high = lane->count;
    while (low < high) {
        int middle = (low + high) / 2;
        *(lane->number[middle] <= number ? &low : &high) =
            lane->number[middle] <= number ? middle + 1 : middle;
    }
    return low > 0 ? lane->id[low - 1] : 0;
}

/* ---- what comes before an entry -------------------------------------------------------------- */

typedef struct Before {
    uint64_t id;
    int slot;
    uint64_t number;
} Before;

/* Whether one of the others comes after it. */
static bool is_implied(const Before *b, const Before *all, int n) {
    for (int i = 0; i < n; i++) {
        const CudasimEntry *other = &entries[all[i].id - 1];
        if (&all[i] != b && b->slot < other->clock_count && other->clock[b->slot] >= b->number) {
            return true;
        }
    }
    return false;
}

static int by_id(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Operations with a place in the clock that neither its queue's last entry nor its host has. */
static int find_before(const Clock *clock, const Clock *seen, int own, Before *before) {
    const Clock *host = sim_host()->clock;
    int n = 0;
    for (int s = 0; s < clock->width; s++) {
        uint64_t number = clock->of[s];
        bool known = s == own || (seen != NULL && clock_at(seen, s) >= number) ||
                     clock_at(host, s) >= number;
        uint64_t id = known || number == 0 ? 0 : record_entry_at(s, number, own_rank());
        if (id != 0) {
            before[n++] = (Before){id, s, number};
        }
    }
    return n;
}

static void set_after(CudasimEntry *e, const Clock *clock, const Lane *lane) {
    Before before[QUEUES];
    uint64_t after[QUEUES + 2], last = lane != NULL ? lane->last : 0;
    uint64_t host = caller_of(e->rank)->last;
    int found = find_before(clock, lane != NULL ? lane->seen : NULL, e->stream, before), n = 0;
    for (int i = 0; i < found; i++) {
        if (!is_implied(&before[i], before, found)) {
            after[n++] = before[i].id;
        }
    }
    if (last != 0) {
        after[n++] = last;
    }
    if (host > last) {
        after[n++] = host;
    }
    qsort(after, (size_t)n, sizeof *after, by_id);
    e->after = keep(after, (size_t)n * sizeof *after);
    e->after_count = n;
}

static void set_clock(CudasimEntry *e, const Clock *clock) {
    if (!sim_settings.dry || clock->width <= WIDEST_DRY) {
        e->clock = keep(clock->of, (size_t)clock->width * sizeof clock->of[0]);
        e->clock_count = clock->width;
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

/* In a dry run each rank has a device of its own, however many there are. */
static int own_device(int stream) {
    int device = stream >= 0 ? queue_of(stream)->device : sim_host()->device;
    return sim_settings.dry && own_rank() >= sim_device_count() ? own_rank() : device;
}

static CudasimEntry *new_entry(CudasimKind kind, const char *name, Place place, int stream) {
    if (count == room) {
        room = 2 * room + 1024;
        entries = sim_realloc(entries, room * sizeof *entries);
    }
    CudasimEntry *e = &entries[count++];
    *e = (CudasimEntry){.id = count,
                        .kind = kind,
                        .name = name,
                        .file = place.file,
                        .line = place.line,
                        .rank = own_rank(),
                        .device = own_device(stream),
                        .stream = stream,
                        .graph = caller_of(own_rank())->graph,
                        .read = -1,
                        .written = -1};
    return e;
}

/* "3,4" or, of none, "-". */
static const char *listed(const uint64_t *number, int n, char text[EVENT_LIST]) {
    int length = snprintf(text, EVENT_LIST, "%s", n > 0 ? "" : "-");
    for (int i = 0; i < n && length < EVENT_LIST; i++) {
        length += snprintf(text + length, (size_t)(EVENT_LIST - length), "%s%llu", i > 0 ? "," : "",
                           (unsigned long long)number[i]);
    }
    return text;
}

/* To a judge at once: what is in the record could be changed until the program ends. */
static void tell(const CudasimEntry *e) {
    if (sim_settings.events < 0) {
        return;
    }
    char after[EVENT_LIST], clock[EVENT_LIST];
    sim_event("entry %llu %d %d %d %d %llu %d %.17g %.17g %d %s %s %s %d %s %s",
              (unsigned long long)e->id, (int)e->kind, e->rank, e->device, e->stream,
              (unsigned long long)e->number, (int)e->way, e->bytes, e->flops, (int)e->precision,
              listed(e->after, e->after_count, after), listed(e->clock, e->clock_count, clock),
              e->file != NULL ? sim_file((Place){e->file, e->line}) : "-", e->line,
              e->op != NULL ? e->op : "-", e->name);
    if (e->kind == CUDASIM_COLLECTIVE) {
        sim_event("meets %llu %d %llu %llu %llu %d %d %d", (unsigned long long)e->id,
                  (int)e->collective, (unsigned long long)e->communicator,
                  (unsigned long long)e->call, (unsigned long long)e->group, e->ranks, e->comm_rank,
                  e->peer);
    }
}

static CudasimKind kind_of(const Work *work) {
    switch (work->type) {
    case cudaGraphNodeTypeEventRecord:
        return CUDASIM_EVENT;
    case cudaGraphNodeTypeWaitEvent:
        return CUDASIM_WAIT;
    case cudaGraphNodeTypeHost:
        return CUDASIM_HOST_CALL;
    default:
        return CUDASIM_MARK;
    }
}

static void follow(Lane *lane, const CudasimEntry *e, const Clock *clock) {
    lane->last = e->id;
    lane->seen = clock_keep(lane->seen, clock);
}

void record_operation(const Operation *operation) {
    const HeldWork *job = operation->job;
    Lane *lane = lane_of(operation->stream, own_rank());
    CudasimEntry *e =
        new_entry(kind_of(&job->work), operation->what, operation->place, operation->stream);
    e->number = operation->number;
    if (job->work.account != NULL) {
        job->work.account(job->work.context, e);
    }
    if (job->note.op != NULL) {
        e->op = job->note.op;
        e->flops = job->note.flops;
        e->bytes = job->note.bytes;
        e->precision = job->note.in_op ? job->note.precision : e->precision;
    }
    set_after(e, operation->clock, lane);
    set_clock(e, operation->clock);
    add_to(lane, operation->number, e->id);
    follow(lane, e, operation->clock);
    tell(e);
}

void record_stream_wait(int slot, const char *what, Place place) {
    Clock clock;
    Lane *lane = lane_of(slot, own_rank());
    sim_clock_of(slot, &clock);
    CudasimEntry *e = new_entry(CUDASIM_WAIT, what, place, slot);
    e->number = queue_of(slot)->submitted;
    set_after(e, &clock, lane);
    set_clock(e, &clock);
    follow(lane, e, &clock);
    tell(e);
}

void record_host_wait(const Clock *clock) {
    if (sim_ending()) {
        return;
    }
    Clock all;
    clock_copy(&all, sim_host()->clock);
    clock_join(&all, clock);
    const Host *host = sim_host();
    CudasimEntry *e = new_entry(CUDASIM_HOST_WAIT, host->call, host->call_place, -1);
    set_after(e, &all, NULL);
    set_clock(e, &all);
    caller_of(e->rank)->last = e->id;
    tell(e);
}

void record_graph(const char *what, Place place) {
    CudasimEntry *e = new_entry(CUDASIM_GRAPH, what, place, -1);
    set_after(e, sim_host()->clock, NULL);
    set_clock(e, sim_host()->clock);
    caller_of(e->rank)->last = caller_of(e->rank)->graph = e->id;
    tell(e);
}

void record_graph_over(void) {
    caller_of(own_rank())->graph = 0;
}

void record_traffic(const Operation *operation) {
    double read, written;
    if (traffic_of_operation(&read, &written)) {
        uint64_t id = record_entry_at(operation->stream, operation->number, own_rank());
        if (id != 0 && entries[id - 1].number == operation->number) {
            entries[id - 1].read = read;
            entries[id - 1].written = written;
        }
    }
}

/* ---- notes ----------------------------------------------------------------------------------- */

static __thread Note next_note;

void cudasim_note(const char *name, double flops, double bytes) {
    next_note = (Note){.op = name, .flops = flops, .bytes = bytes};
}

void cudasim_op_begin(const char *name, double flops, double bytes, CudasimPrecision precision) {
    next_note = (Note){name, flops, bytes, true, precision};
}

void cudasim_op_end(void) {
    next_note = (Note){0};
}

Note record_note_for(const Work *work) {
    CudasimEntry e = {.kind = kind_of(work)};
    if (next_note.op == NULL || work->account == NULL) {
        return (Note){0};
    }
    work->account(work->context, &e);
    if (e.kind != CUDASIM_LAUNCH && e.kind != CUDASIM_PRODUCT) {
        return (Note){0};
    }
    Note note = next_note;
    next_note = note.in_op ? (Note){note.op, 0, 0, true, note.precision} : (Note){0};
    return note;
}

/* ---- what a program asks --------------------------------------------------------------------- */

void cudasim_record_begin(void) {
    ENTER("cudasim_record_begin", NULL, 0);
    sim_recording = true;
}

bool cudasim_recording(void) {
    ENTER("cudasim_recording", NULL, 0);
    return sim_recording;
}

CudasimRecord cudasim_record(void) {
    return (CudasimRecord){entries, count};
}

const CudasimEntry *cudasim_entry(uint64_t id) {
    return id >= 1 && id <= count ? &entries[id - 1] : NULL;
}

bool cudasim_dry(void) {
    sim_begin();
    return sim_settings.dry;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool fails(void) {
    fprintf(stderr, "[cudasim] CUDASIM_RECORD: %s: %s\n", file.path, strerror(errno));
    return false;
}

/* %p stands for the number of the process: several may have one environment. */
static const char *file_named(const char *pattern) {
    static char name[4096];
    const char *number = strstr(pattern, "%p");
    int length = number != NULL ? (int)(number - pattern) : 0;
    if (number == NULL) {
        return pattern;
    }
    snprintf(name, sizeof name, "%.*s%d%s", length, pattern, (int)getpid(), number + 2);
    return name;
}

/* Before anything is recorded, since at the end it is too late to complain. */
void record_open(void) {
    const char *named = getenv("CUDASIM_RECORD");
    if (named == NULL || *named == '\0') {
        return;
    }
    if (!aside_begin(&file, file_named(named))) {
        fails();
        _exit(2);
    }
    sim_recording = true;
}

bool record_close(void) {
    FILE *to = file.file;
    if (to == NULL) {
        return true;
    }
    CudasimRecord record = cudasim_record();
    bool good = aside_end(&file, record_file_write(&record, to)) || fails();
    file.file = NULL;
    return good;
}
