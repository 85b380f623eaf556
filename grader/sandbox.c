#define _GNU_SOURCE
/* Three processes: the caller, a watcher, the program. The watcher is the parent of all orphans
   that the program leaves, so it can kill what it starts and nothing else; if the watcher
   dies, the program dies too. What it saw goes back in shared memory that ends with
   execve(). */
#include "grader/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/text.h"
#include "grader/sandbox_layers.h"

enum { FILTER_BYTES = 8 << 20 };

/* The watcher's findings. */
typedef struct Watched {
    SandboxResult result;
    size_t length; /* of text */
    char text[];   /* (output + 1) */
} Watched;

/* The program while it runs. */
typedef struct SandboxWatch {
    const Sandbox *sandbox;
    Watched *seen;
    pid_t pid;
    int output;       /* pipe, or -1 once all writers are gone */
    double begin;     /* seconds */
    size_t own_bytes; /* resident size of the process before it became the program */
    int status;       /* as wait4() gives it */
} SandboxWatch;

/* ---- which layers there are ------------------------------------------------------------------ */

/* Whether a forked process can do something. */
static bool can(bool (*something)(void)) {
    pid_t pid = fork();
    if (pid == 0) {
        _exit(something() ? 0 : 1);
    }
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool filter_works(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           filter_system_calls(false, false, (Password){0, 0}) == NULL;
}

static bool user_changes(void) {
    return setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0;
}

static const Layers *layers(void) {
    static Layers found;
    static bool looked;
    if (!looked) {
        found.filter = can(filter_works);
        found.landlock = landlock_version();
        found.other_user = geteuid() == 0 && can(user_changes);
        looked = true;
    }
    return &found;
}

int layers_level(const Layers *found) {
    /* Another user alone keeps no file apart that all may read, a solution for one. */
    return found->filter && found->landlock > 0 ? 2 : 1;
}

int sandbox_level(void) {
    return layers_level(layers());
}

const char *sandbox_describe(void) {
    static char line[160];
    const Layers *found = layers();
    char landlock[32] = "no Landlock";
    if (found->landlock > 0) {
        snprintf(landlock, sizeof landlock, "Landlock %d", found->landlock);
    }
    snprintf(line, sizeof line, "%d: limits, %s, %s, %s", layers_level(found),
             found->filter ? "system call filter (libseccomp)" : "no system call filter", landlock,
             found->other_user ? "another user" : "same user");
    return line;
}

/* A uid that has no passwd entry and that no concurrent sandbox uses. */
static uid_t free_user(void) {
    enum { FIRST = 20000, COUNT = 40000 };
    uid_t user = FIRST + (uid_t)getpid() % COUNT;
    while (getpwuid(user) != NULL) {
        user = FIRST + (user - FIRST + 1) % COUNT;
    }
    return user;
}

/* ---- watching -------------------------------------------------------------------------------- */

/* Takes what there is to read. False if that is too much. */
static bool take_output(SandboxWatch *watch) {
    char piece[65536];
    ssize_t got;
    while (watch->output >= 0 && (got = read(watch->output, piece, sizeof piece)) != -1) {
        if (got == 0) {
            close(watch->output);
            watch->output = -1;
            break;
        }
        size_t room = watch->sandbox->output - watch->seen->length;
        size_t taken = (size_t)got < room ? (size_t)got : room;
        memcpy(watch->seen->text + watch->seen->length, piece, taken);
        watch->seen->length += taken;
        if ((size_t)got > room) {
            return false;
        }
    }
    return true;
}

/* The largest resident size so far. A program can lower what the kernel says of it: never what was
   read before. */
static void look_at_memory(SandboxWatch *watch) {
    char path[40], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)watch->pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "VmHWM:");
    size_t bytes = line == NULL ? 0 : 1024 * strtoul(line + strlen("VmHWM:"), NULL, 10);
    if (bytes > watch->seen->result.peak_bytes) {
        watch->seen->result.peak_bytes = bytes;
    }
}

static double processor_time(pid_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The resource usage of the end. Its peak includes the process before execve(), which was as large
   as the judge and what making the filter took: it counts where it is larger, or where
   a program was too quick to be looked at. */
static void note_usage(SandboxWatch *watch, const struct rusage *usage) {
    SandboxResult *result = &watch->seen->result;
    result->cpu_seconds = (double)usage->ru_utime.tv_sec + 1e-6 * (double)usage->ru_utime.tv_usec +
                          (double)usage->ru_stime.tv_sec + 1e-6 * (double)usage->ru_stime.tv_usec;
    size_t peak = 1024 * (size_t)usage->ru_maxrss;
    bool own = peak <= watch->own_bytes + FILTER_BYTES && result->peak_bytes > 0;
    if (!own && peak > result->peak_bytes) {
        result->peak_bytes = peak;
    }
}

/* Whether a thread of it computes; one that waits does not. */
static bool thread_runs(pid_t pid, const char *thread) {
    char path[60], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *name_ends = strrchr(text, ')'); /* a name may hold anything */
    return name_ends != NULL && strncmp(name_ends, ") R", 3) == 0;
}

/* The thread that has kept it so long: the first one if that computes, else one that does. */
static pid_t busy_thread(pid_t pid) {
    char path[40], first[20];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    snprintf(first, sizeof first, "%d", (int)pid);
    DIR *threads = thread_runs(pid, first) ? NULL : opendir(path);
    pid_t found = pid;
    for (struct dirent *entry;
         threads != NULL && found == pid && (entry = readdir(threads)) != NULL;) {
        found = thread_runs(pid, entry->d_name) ? (pid_t)atoi(entry->d_name) : pid;
    }
    if (threads != NULL) {
        closedir(threads);
    }
    return found;
}

/* Whether the program has ended. */
static bool ended(SandboxWatch *watch) {
    struct rusage usage;
    pid_t pid;
    while ((pid = wait4(-1, &watch->status, WNOHANG, &usage)) > 0) {
        if (pid == watch->pid) {
            note_usage(watch, &usage);
            return true;
        }
    }
    return false;
}

static SandboxEnd end_of(const SandboxWatch *watch) {
    double limit = watch->sandbox->cpu_seconds;
    bool over = watch->seen->result.cpu_seconds >= limit;
    if (WIFEXITED(watch->status)) {
        watch->seen->result.status = WEXITSTATUS(watch->status);
        bool told = watch->seen->result.status == 128 + SIGXCPU; /* as crash.h ends by a signal */
        return told && over ? SANDBOX_TIMEOUT : SANDBOX_EXIT;
    }
    int number = WTERMSIG(watch->status);
    watch->seen->result.status = number;
    bool by_kernel = number == SIGXCPU || number == SIGKILL;
    return by_kernel && over ? SANDBOX_TIMEOUT : SANDBOX_SIGNAL;
}

/* Set when the caller is gone: nobody waits for the result, but what was started must end. */
static volatile sig_atomic_t alone;

static void note_alone(int number) {
    (void)number;
    alone = 1;
}

/* Looks every few milliseconds, until the program ends or is over a limit. */
static SandboxEnd watch_until_end(SandboxWatch *watch) {
    const Sandbox *sandbox = watch->sandbox;
    look_at_memory(watch);
    for (int pause = 1;; pause = pause < 10 ? pause + 1 : 10) {
        struct pollfd output = {watch->output, POLLIN, 0};
        poll(&output, 1, pause);
        if (!take_output(watch)) {
            return SANDBOX_FLOOD;
        }
        look_at_memory(watch);
        if (ended(watch)) {
            return end_of(watch);
        }
        watch->seen->result.cpu_seconds = processor_time(watch->pid);
        if (alone) {
            return SANDBOX_ERROR;
        }
        if (sandbox->resident > 0 && watch->seen->result.peak_bytes > sandbox->resident) {
            return SANDBOX_MEMORY;
        }
        if (now() - watch->begin > sandbox->seconds ||
            watch->seen->result.cpu_seconds > sandbox->cpu_seconds) {
            return SANDBOX_TIMEOUT;
        }
    }
}

/* Its time is over. A probe says where it is, and ends (crash.h); nothing waits long for others. */
static void ask_where(SandboxWatch *watch) {
    enum { MILLISECONDS = 2000, PAUSE = 10 };
    syscall(SYS_tgkill, watch->pid, busy_thread(watch->pid), SIGXCPU);
    for (int i = 0; i < MILLISECONDS / PAUSE && !ended(watch) && take_output(watch); i++) {
        poll(NULL, 0, PAUSE);
    }
}

static size_t resident_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (size_t)usage.ru_maxrss : 0;
}

/* ---- the watcher ----------------------------------------------------------------------------- */

static void set_error(Watched *seen, const char *error) {
    seen->result.end = SANDBOX_ERROR;
    snprintf(seen->result.error, sizeof seen->result.error, "%s", error);
}

/* Starts the program. False if it did not come to be one. */
static bool start(SandboxWatch *watch, uid_t user) {
    int output[2], failure[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
        set_error(watch->seen, "no pipes");
        return false;
    }
    watch->pid = fork();
    if (watch->pid == 0) {
        child_become(watch->sandbox, layers(), user, output[1], failure[1]);
    }
    close(output[1]);
    close(failure[1]);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    watch->output = output[0];
    char *error = watch->seen->result.error;
    ssize_t length = read(failure[0], error, sizeof watch->seen->result.error - 1);
    close(failure[0]);
    if (watch->pid < 0 || length != 0) {
        error[length > 0 ? length : 0] = '\0';
        watch->seen->result.end = SANDBOX_ERROR;
        return false;
    }
    error[0] = '\0';
    return true;
}

/* The program of a dead watcher dies too, but what that has started, as a compiler does, would not:
   so this one learns that it is alone, and kills them. */
static void die_with(pid_t caller) {
    signal(SIGTERM, note_alone);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != caller) {
        alone = 1;
    }
}

static void watch_program(const Sandbox *sandbox, Watched *seen, uid_t user, pid_t caller) {
    SandboxWatch watch = {
        .sandbox = sandbox, .seen = seen, .begin = now(), .own_bytes = resident_bytes()};
    die_with(caller);
    signal(SIGCHLD, SIG_DFL);
    SandboxEnd end = SANDBOX_ERROR;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        set_error(seen, "cannot become the parent of orphans");
    } else if (start(&watch, user)) {
        end = watch_until_end(&watch);
        seen->result.seconds = now() - watch.begin;
    }
    if (end == SANDBOX_TIMEOUT) {
        ask_where(&watch);
    }
    if (!kill_descendants()) {
        set_error(seen, "processes are left that cannot be killed");
    } else if (end != SANDBOX_ERROR) {
        bool fits = take_output(&watch); /* what was in the pipe when it ended */
        seen->result.end = fits || end != SANDBOX_EXIT ? end : SANDBOX_FLOOD;
    }
    _exit(0);
}

/* ---- the caller ------------------------------------------------------------------------------ */

/* Text that a student is shown must not steer a terminal. */
static char *plain_text(const char *text, size_t length) {
    char *plain = malloc(length + 1);
    if (plain == NULL) {
        return NULL;
    }
    memcpy(plain, text, length);
    text_plain(plain, length, "\n\t");
    plain[length] = '\0';
    return plain;
}

/* Lends the folder to another user while the program runs. */
static bool lend(const Sandbox *sandbox, uid_t user) {
    return sandbox->folder == NULL || !layers()->other_user ||
           chown(sandbox->folder, user, user) == 0;
}

/* Runs the watcher, and waits for it. */
static void run_watcher(const Sandbox *sandbox, Watched *seen) {
    set_error(seen, "the watcher died");
    uid_t user = layers()->other_user ? free_user() : 0;
    if (!lend(sandbox, user)) {
        set_error(seen, "cannot lend the folder");
        return;
    }
    pid_t caller = getpid(), watcher = fork();
    if (watcher == 0) {
        watch_program(sandbox, seen, user, caller);
    }
    int status;
    while (watcher > 0 && waitpid(watcher, &status, 0) < 0 && errno == EINTR) {
    }
    if (!lend(sandbox, 0)) {
        set_error(seen, "cannot take the folder back");
    }
}

SandboxResult sandbox_run(const Sandbox *sandbox) {
    SandboxResult failed = {.end = SANDBOX_ERROR, .error = "no memory"};
    size_t bytes = sizeof(Watched) + sandbox->output;
    Watched *seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (seen == MAP_FAILED) {
        return failed;
    }
#ifndef __SANITIZE_ADDRESS__ /* its search for leaks needs a process that can be looked at */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    run_watcher(sandbox, seen);
    SandboxResult result = seen->result;
    result.level = sandbox->uses_gpu ? 1 : sandbox_level();
    result.text = plain_text(seen->text, seen->length);
    munmap(seen, bytes);
    if (result.text == NULL) {
        return failed;
    }
    return result;
}
