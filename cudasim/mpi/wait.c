/* Waiting for other processes. Every wait is a question asked again and again, so that one that
   never ends can be told from a long one. The contract is in link.h. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

enum {
    SECONDS = 60, /* a wait may take, unless CUDASIM_MPI_TIMEOUT says otherwise */
    SPINS = 2000, /* questions before the process sleeps between two */
    NAP = 50,     /* microseconds */
    GRACE = 1,    /* seconds in which others speak: mpirun ends all with the first that ends */
    ENDED = 5,    /* seconds after which it has done that for sure */
};

static int read_limit(void) {
    const char *text = getenv("CUDASIM_MPI_TIMEOUT");
    char *end = NULL;
    long seconds = text != NULL ? strtol(text, &end, 10) : SECONDS;
    if (text != NULL && (end == text || *end != '\0' || seconds < 0 || seconds > 1 << 24)) {
        fprintf(stderr,
                "[cudasim] CUDASIM_MPI_TIMEOUT must be a number of seconds, 0 for no limit, "
                "not %s\n",
                text);
        _exit(2);
    }
    return (int)seconds;
}

bool patience_lasts(Patience *patience) {
    static int limit = -1;
    if (limit < 0) {
        limit = read_limit();
    }
    if (patience->asked++ == 0) {
        patience->began = MPI_Wtime();
    }
    /* There may be more processes than cores: the one that is waited for needs this one's. */
    if (patience->asked < SPINS) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = NAP * 1000}, NULL);
    }
    return limit == 0 || MPI_Wtime() - patience->began < limit;
}

void patience_ends(int rank, const char *what, const char *whom) {
    sim_report("deadlock", "rank %d waits in %s for %s, which does not come", rank, what, whom);
    fflush(stderr);
    sleep(GRACE);
    sim_stop();
}

static void tell_missing(MPI_Request *requests, const int *peers, int count, int rank,
                         const char *what) {
    char whom[256] = "";
    for (int i = 0, done; i < count && peers != NULL; i++) {
        MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        size_t length = strlen(whom);
        char text[32];
        snprintf(text, sizeof text, "%srank %d", length > 0 ? ", " : "", peers[i]);
        if (!done && strstr(whom, text) == NULL && length + sizeof text < sizeof whom) {
            strcat(whom, text);
        }
    }
    patience_ends(rank, what, *whom != '\0' ? whom : "another rank");
}

void link_wait(MPI_Request *requests, const int *peers, int count, int rank, const char *what) {
    Patience patience = {0};
    for (int done = 0; MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE), !done;) {
        if (!patience_lasts(&patience)) {
            tell_missing(requests, peers, count, rank, what);
        }
    }
}

void link_compare(const CollectiveCall *const calls[], int count, bool speaks) {
    if (!speaks) {
        sim_capture();
    }
    bool good = collective_check(calls, count);
    char *report = speaks ? NULL : sim_captured();
    if (!good && report != NULL) {
        sleep(ENDED);
        sim_report_captured("collective mismatch", report);
    }
    free(report);
    if (!good) {
        sim_stop();
    }
}
