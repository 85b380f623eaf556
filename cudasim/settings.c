#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "record.h"

/* The environment, as the simulator takes it. */

Settings sim_settings = {.events = -1};

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
    if (sim_settings.traffic && !sim_announced) {
        fprintf(stderr, "[cudasim] CUDASIM_TRAFFIC: this build does not see what kernels read and "
                        "write; build it with TRAFFIC=1: make cu FILE=x.cu TRAFFIC=1, make train "
                        "TRAFFIC=1 ARGS=...\n");
        _exit(2);
    }
    if (sim_settings.traffic && sim_settings.dry) {
        fprintf(stderr, "[cudasim] CUDASIM_TRAFFIC and CUDASIM_DRY: nothing runs that could be "
                        "counted\n");
        _exit(2);
    }
}

static void refuse_profile(void) {
    if (sim_settings.profile != NULL && !sim_checking) {
        fprintf(stderr,
                "[cudasim] CUDASIM_PROFILE: only check mode looks at each line of a kernel; "
                "build with ACCESS=1: make cu FILE=x.cu ACCESS=1, make train ACCESS=1 "
                "ARGS=...\n");
        _exit(2);
    }
}

/* A name that is mistyped would be taken for none. */
static void refuse_unknown(void) {
    static const char *const known[] = {"BLOCKS", "DEVICES", "DRY",       "EVENTS",      "EXITED",
                                        "LEAKS",  "MEMORY",  "MPI_ORDER", "MPI_TIMEOUT", "PROFILE",
                                        "RECORD", "REFUSE",  "REPLAY",    "SAMPLE",      "SCHED",
                                        "STRICT", "THREADS", "TIMEOUT",   "TRAFFIC",     "WITHOUT"};
    static const char prefix[] = "CUDASIM_";
    for (char **name = environ; *name != NULL; name++) {
        size_t begin = sizeof prefix - 1, length = strcspn(*name, "="), k = 0, n = length - begin;
        if (strncmp(*name, prefix, begin) != 0) {
            continue;
        }
        while (k < sizeof known / sizeof known[0] &&
               !(strlen(known[k]) == n && strncmp(known[k], *name + begin, n) == 0)) {
            k++;
        }
        if (k == sizeof known / sizeof known[0]) {
            fprintf(stderr, "[cudasim] %.*s is not a setting; docs/cudasim.md lists them\n",
                    (int)length, *name);
            _exit(2);
        }
    }
}

bool sim_left_out(const char *kernel) {
    size_t length = strlen(kernel);
    for (const char *name = sim_settings.without; name != NULL; name = strchr(name, ',')) {
        name += *name == ',';
        if (strncmp(name, kernel, length) == 0 && (name[length] == ',' || name[length] == '\0')) {
            return true;
        }
    }
    return false;
}

void sim_read_settings(void) {
    refuse_unknown();
    read_schedule(getenv("CUDASIM_SCHED"));
    int threads = number_setting("CUDASIM_THREADS", 1, default_threads());
    sim_settings.threads = sim_announced ? 1 : threads;
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
    bool only_counts = sim_announced && !sim_checking;
    sim_settings.traffic = number_setting("CUDASIM_TRAFFIC", 0, only_counts) != 0;
    sim_settings.replay = number_setting("CUDASIM_REPLAY", 0, 1) != 0;
    sim_settings.leaks = number_setting("CUDASIM_LEAKS", 0, 0) != 0;
    sim_settings.exited = number_setting("CUDASIM_EXITED", 0, 0) != 0;
    sim_settings.strict = number_setting("CUDASIM_STRICT", 0, 0) != 0;
    sim_settings.profile = profile != NULL && *profile != '\0' ? profile : NULL;
    sim_settings.without = getenv("CUDASIM_WITHOUT");
    sim_settings.blocks = number_setting("CUDASIM_BLOCKS", 0, 0);
    sim_settings.refuse = number_setting("CUDASIM_REFUSE", 0, 0);
    refuse_traffic();
    refuse_profile();
    mprotect(&sim_settings, sizeof sim_settings, PROT_READ);
    record_open();
    if (sim_settings.dry) {
        fprintf(stderr, "[cudasim] note: CUDASIM_DRY: nothing runs on a device, and what the host "
                        "reads from one is zero\n");
    }
}
