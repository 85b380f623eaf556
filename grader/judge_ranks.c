/* Several ranks in a judge. The contract is in judge_ranks.h. */
#include "grader/judge_ranks.h"

#include <stdio.h>
#include <string.h>

#include "grader/judge_profile.h"

/* ---- what is given, and comes back ----------------------------------------------------------- */

void ranks_give(Check *check, const int32_t *option, size_t budget) {
    uint64_t bytes = budget;
    CHECK(option[RANKS_COUNT] >= 1 && option[RANKS_COUNT] <= MOST_RANKS, "%d ranks",
          option[RANKS_COUNT]);
    check_give(check, "ranks", WIRE_I32, option, RANK_OPTIONS);
    check_give(check, "budget", WIRE_U64, &bytes, 1);
    check_memory(check, 0); /* the simulator reserves addresses */
    profile_want(check);
}

void ranks_want(Check *check, int ranks, const char *what, int times, size_t n) {
    char name[WIRE_NAME];
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < times; i++) {
            check_want(check, rank_name(name, what, r, "window", i), WIRE_F32, n);
        }
    }
}

const float *ranks_got(const Check *check, const char *what, int rank, int i) {
    char name[WIRE_NAME];
    return check_got(check, rank_name(name, what, rank, "window", i), WIRE_F32);
}

void ranks_want_bytes(Check *check, int ranks) {
    check_want(check, "bytes", WIRE_U64, (size_t)ranks * (MEMORY_KINDS + 1));
}

MemoryUse ranks_bytes(const Check *check, int rank) {
    const uint64_t *bytes = check_got(check, "bytes", WIRE_U64);
    MemoryUse use;
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        use.bytes[kind] = bytes[rank * (MEMORY_KINDS + 1) + kind];
    }
    return use;
}

static const char *mismatch_of(const Check *check) {
    return strstr(check_text(check), "[cudasim] collective mismatch:");
}

void ranks_tell_unmet(Check *check) {
    const char *text = check_text(check);
    if (strstr(text, "[cudasim] deadlock:") != NULL) {
        check_fail(check, "the ranks wait for each other, and none of them can ever go on: each "
                          "line above is a rank, its call, and whom it waits for");
    } else if (mismatch_of(check) != NULL) {
        bool messages = strstr(text, " calls ncclSend #") != NULL;
        check_fail(check,
                   messages ? "calls that have to meet are different ones: a rank receives as many "
                              "numbers, of the same type, as the other one sends, message after "
                              "message"
                            : "calls that have to meet are different ones: all ranks make the same "
                              "calls of a communicator, in the same order, with the same counts");
    }
}

bool ranks_asked_alone(const Check *check) {
    const char *line = mismatch_of(check);
    const char *end = line != NULL ? strchr(line, '\n') : NULL;
    int asking = 0;
    while (line != NULL && (line = strstr(line, " (1 x ")) != NULL && (end == NULL || line < end)) {
        asking++;
        line++;
    }
    return asking == 1;
}

bool ranks_start(Check *check, const char *probe_case, double seconds) {
    if (check_run(check, probe_case, seconds)) {
        return true;
    }
    ranks_tell_unmet(check);
    return false;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const char call_mark[] = "cudasim wire ";

bool ranks_take_calls(Check *check, RankCalls *calls) {
    const char *events = check_events(check);
    int told = 0, count = 0;
    for (const char *p = events; (p = strstr(p, call_mark)) != NULL; p++) {
        told++;
    }
    RankCall *call =
        (RankCall *)check_doubles(check, ((size_t)told + 1) * sizeof *call / sizeof(double) + 1);
    for (const char *p = events; (p = strstr(p, call_mark)) != NULL; p++) {
        RankCall *c = &call[count];
        unsigned long long communicator, number;
        if (sscanf(p + strlen(call_mark), "%d %23s %llu %llu %lf", &c->rank, c->name, &communicator,
                   &number, &c->bytes) != 5) {
            break;
        }
        c->communicator = communicator;
        c->number = number;
        c->at = (size_t)(p - events);
        count++;
    }
    *calls = (RankCalls){call, count};
    if (count < told) {
        check_fail(check, "the calls of the run are not told as the simulator tells them");
    }
    return count == told;
}

double ranks_sent(const RankCalls *calls, int rank) {
    double bytes = 0;
    for (int i = 0; i < calls->count; i++) {
        bytes += rank < 0 || calls->call[i].rank == rank ? calls->call[i].bytes : 0;
    }
    return bytes;
}

int ranks_called(const RankCalls *calls, int rank, const char *name) {
    int count = 0;
    for (int i = 0; i < calls->count; i++) {
        const RankCall *call = &calls->call[i];
        count += call->rank == rank && (name == NULL || strcmp(call->name, name) == 0);
    }
    return count;
}
