/* The record of a probe, read from its events. The contract is in judge_record.h. */
#include "grader/judge_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_WORDS = 16, ENTRY_LINE = 1024 };

static const char entry_mark[] = "cudasim entry ";

/* A list "3,4" as numbers that are freed with the check. */
static const uint64_t *entry_list(Check *check, const char *text, int *count) {
    *count = *text != '-';
    for (const char *p = text; *p != '\0'; p++) {
        *count += *p == ',';
    }
    uint64_t *list = (uint64_t *)check_doubles(check, (size_t)*count + 1);
    for (int i = 0; i < *count; i++) {
        list[i] = strtoull(text, (char **)&text, 10);
        text += *text == ',';
    }
    return list;
}

static char *entry_word(Check *check, const char *word) {
    char *kept = (char *)check_doubles(check, strlen(word) / sizeof(double) + 1);
    return strcpy(kept, word);
}

/* One line; false where it is not as the simulator writes it. */
static bool entry_read(Check *check, const char *line, CudasimEntry *e) {
    char after[ENTRY_LINE], clock[ENTRY_LINE], file[ENTRY_LINE], op[ENTRY_LINE], name[ENTRY_LINE];
    unsigned long long id, number;
    int kind, way, precision;
    *e = (CudasimEntry){.read = -1, .written = -1};
    int words = sscanf(line, "%llu %d %d %d %d %llu %d %lf %lf %d %s %s %s %d %s %[^\n]", &id,
                       &kind, &e->rank, &e->device, &e->stream, &number, &way, &e->bytes, &e->flops,
                       &precision, after, clock, file, &e->line, op, name);
    if (words != ENTRY_WORDS) {
        return false;
    }
    e->id = id;
    e->number = number;
    e->kind = (CudasimKind)kind;
    e->way = (CudasimWay)way;
    e->precision = (CudasimPrecision)precision;
    e->after = entry_list(check, after, &e->after_count);
    e->clock = entry_list(check, clock, &e->clock_count);
    e->file = entry_word(check, file);
    e->op = strcmp(op, "-") != 0 ? entry_word(check, op) : NULL;
    e->name = entry_word(check, name);
    return true;
}

static size_t entries_told(const char *events) {
    size_t count = 0;
    for (const char *p = events; (p = strstr(p, entry_mark)) != NULL; p++) {
        count++;
    }
    return count;
}

/* The rest of a collective: the line that follows its entry's. */
static bool entry_read_meeting(const char *line, CudasimEntry *e) {
    unsigned long long id, communicator, call, group;
    int collective;
    bool good = sscanf(line, "\n\ncudasim meets %llu %d %llu %llu %llu %d %d %d", &id, &collective,
                       &communicator, &call, &group, &e->ranks, &e->comm_rank, &e->peer) == 8 &&
                id == e->id;
    if (good) {
        e->collective = (CudasimCollective)collective;
        e->communicator = communicator;
        e->call = call;
        e->group = group;
    }
    return good;
}

bool record_take(Check *check, CudasimRecord *record) {
    const char *events = check_events(check);
    size_t told = entries_told(events), count = 0;
    CudasimEntry *entry =
        (CudasimEntry *)check_doubles(check, (told + 1) * sizeof *entry / sizeof(double) + 1);
    for (const char *p = events; (p = strstr(p, entry_mark)) != NULL; p++) {
        char line[ENTRY_LINE];
        const char *from = p + strlen(entry_mark);
        size_t length = strcspn(from, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1),
                 from);
        if (!entry_read(check, line, &entry[count]) || entry[count].id != count + 1 ||
            (entry[count].kind == CUDASIM_COLLECTIVE &&
             !entry_read_meeting(from + length, &entry[count]))) {
            break;
        }
        count++;
    }
    *record = (CudasimRecord){entry, count};
    if (count < told || count == 0) {
        check_fail(check, "the record of the run is not one: entry %zu of %zu", count + 1, told);
        return false;
    }
    return true;
}

bool record_before(const CudasimEntry *a, const CudasimEntry *b) {
    return a->stream >= 0 && a->stream < b->clock_count && b->clock[a->stream] >= a->number &&
           a->id < b->id;
}

bool record_may_overlap(const CudasimEntry *a, const CudasimEntry *b) {
    return a != b && !record_before(a, b) && !record_before(b, a);
}

bool record_waits(const CudasimRecord *record, const CudasimEntry *e) {
    for (int i = 0; i < e->after_count && e->kind == CUDASIM_HOST_WAIT; i++) {
        if (record->entry[e->after[i] - 1].stream >= 0) {
            return true;
        }
    }
    return false;
}

const char *record_place(const CudasimEntry *e, char *text) {
    snprintf(text, CHECK_LABEL, "%s at %s:%d", e->op != NULL ? e->op : e->name, e->file, e->line);
    return text;
}

bool record_makespan(Check *check, const CudasimRecord *record, const Machine *machine,
                     Makespan *result) {
    bool good = makespan(record, machine, NULL, result);
    if (!good) {
        check_fail(check, "the record has no makespan");
    }
    return good;
}
