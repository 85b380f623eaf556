#define _GNU_SOURCE
/* Between fork() and exec(): the process that will be the program gives up what it has, in an order
   that matters. The steps that need root come first, the filter of system calls last. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

enum {
    FILE_BYTES = 256 << 20, /* the largest file that a compiler may write */
    STACK_BYTES = 8 << 20,  /* of a probe; threads of the C library take as much */
    PROCESSES = 512,        /* and threads, of the program and all that it starts */
    FAILED = 125,           /* exit status; the line in the pipe is what counts */
    VARIABLES = 32,         /* in the environment */
};

/* The pipe that takes the line; closed by execve(). */
static int failure_pipe;

__attribute__((noreturn)) static void fail(const char *what, const char *name) {
    char line[200];
    int length = errno != 0 ? snprintf(line, sizeof line, "%s %s: %s", what, name, strerror(errno))
                            : snprintf(line, sizeof line, "%s %s", what, name);
    if (length >= (int)sizeof line) {
        length = sizeof line - 1;
    }
    if (write(failure_pipe, line, (size_t)length) < 0) {
        _exit(FAILED);
    }
    _exit(FAILED);
}

/* Signals as a new program expects them, and death with the process that watches. */
static void forget_signals(void) {
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0 is empty, 1 and 2 are the pipe, 3 to 6 are given; nothing else is left open but one pipe. The
   copies above all of these numbers are there so that none is overwritten before it is moved. */
static void arrange_descriptors(const Sandbox *sandbox, int output) {
    int wanted[] = {open("/dev/null", O_RDONLY),
                    output,
                    output,
                    sandbox->in,
                    sandbox->out,
                    sandbox->events > 0 ? sandbox->events : -1,
                    sandbox->beside > 0 ? sandbox->beside : -1,
                    failure_pipe};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    for (int i = 0; i < COUNT; i++) {
        if (wanted[i] >= 0 && (wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, 64)) < 0) {
            fail("cannot copy", "descriptors");
        }
    }
    for (int i = 0; i < COUNT; i++) {
        close(i);
        if (wanted[i] >= 0 && dup3(wanted[i], i, i == COUNT - 1 ? O_CLOEXEC : 0) < 0) {
            fail("cannot move", "descriptors");
        }
    }
    failure_pipe = COUNT - 1;
    if (syscall(SYS_close_range, COUNT, ~0u, 0) != 0) {
        long most = sysconf(_SC_OPEN_MAX);
        for (int i = COUNT; i < most; i++) {
            close(i);
        }
    }
}

static void limit(int resource, rlim_t value) {
    struct rlimit old, new = {value, value};
    if (getrlimit(resource, &old) == 0 && old.rlim_max < value) {
        new.rlim_cur = new.rlim_max = old.rlim_max;
    }
    if (setrlimit(resource, &new) != 0) {
        fail("cannot set", "limits");
    }
}

/* Processor time is watched from outside as well, to the fraction of a second. */
static void set_limits(const Sandbox *sandbox, bool other_user) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)ceil(sandbox->cpu_seconds) + 1);
    limit(RLIMIT_FSIZE, sandbox->folder != NULL ? FILE_BYTES : 0);
    limit(RLIMIT_NOFILE, sandbox->may_execute || sandbox->uses_gpu ? 256 : 64);
    limit(RLIMIT_STACK, sandbox->may_execute ? 8 * STACK_BYTES : STACK_BYTES);
    /* All processes of a user count: none of a fresh one, the student's own otherwise. */
    limit(RLIMIT_NPROC, PROCESSES + (other_user ? 0 : tasks_of_user()));
}

static void become_user(uid_t user) {
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0) {
        fail("cannot become", "another user");
    }
}

/* Root that may not become another user, as in a container without that right,
   gives up the rest. */
static void drop_capabilities(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    syscall(SYS_capset, &header, none);
}

/* The environment is written anew; what is given comes last. */
static const char *const *new_environment(const Sandbox *sandbox) {
    static char temporary[4200];
    static const char *variables[VARIABLES] = {"PATH=/usr/bin:/bin", "HOME=/", "LC_ALL=C"};
    int count = 3;
    if (sandbox->folder != NULL) {
        snprintf(temporary, sizeof temporary, "TMPDIR=%s", sandbox->folder);
        variables[count++] = temporary;
    }
    for (const char *const *given = sandbox->environment; given != NULL && *given != NULL;
         given++) {
        if (count == VARIABLES - 1) {
            errno = 0;
            fail("too many variables in the", "environment");
        }
        variables[count++] = *given;
    }
    return variables;
}

void child_become(const Sandbox *sandbox, const Layers *layers, uid_t user, int output,
                  int failure) {
    failure_pipe = failure;
    forget_signals();
    setsid();
    arrange_descriptors(sandbox, output);
    umask(022);
    set_limits(sandbox, layers->other_user);
    if (layers->other_user) {
        become_user(user);
    } else {
        drop_capabilities();
    }
    const char *folder = sandbox->folder != NULL ? sandbox->folder : "/";
    if (chdir(folder) != 0) {
        fail("cannot enter", folder);
    }
    if (access(sandbox->argv[0], X_OK) != 0) {
        fail(layers->other_user ? "as another user, cannot execute" : "cannot execute",
             sandbox->argv[0]);
    }
    const char *const *environment = new_environment(sandbox);
    Password password;
    if (getrandom(&password, sizeof password, 0) != sizeof password) {
        fail("no", "random numbers");
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        fail("cannot give up", "privileges");
    }
    bool filtered = !sandbox->uses_gpu;
    const char *failed = filtered && layers->landlock > 0 ? landlock_restrict(sandbox) : NULL;
    if (failed != NULL) {
        fail(failed, "");
    }
    failed = filtered && layers->filter
                 ? filter_system_calls(sandbox->may_execute, sandbox->folder != NULL, password)
                 : NULL;
    if (failed != NULL) {
        fail(failed, "");
    }
    /* Last, for this process is still as large as the judge. */
    if (sandbox->memory > 0) {
        limit(RLIMIT_AS, sandbox->memory);
    }
    syscall(SYS_execve, sandbox->argv[0], sandbox->argv, environment, password.first,
            password.second);
    fail("cannot start", sandbox->argv[0]);
}
