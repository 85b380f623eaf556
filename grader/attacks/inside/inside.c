/* What sandbox_test.c runs inside of the sandbox: tries one thing, and says "refused" or "got
   through". It is compiled by the test, in the sandbox. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Each attempt tells by the usual sign, -1, that it was refused. */
static void tell(const char *what, long result) {
    printf("%s %s\n", result == -1 ? "refused" : "GOT THROUGH", what);
}

static void ignore_signals(void) {
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_IGN);
    }
}

static void spin(void) {
    ignore_signals();
    for (volatile long i = 0;; i++) {
    }
}

/* As a probe does, whose handler says where it is. */
static void say_that_it_is_over(int number) {
    static const char in_first[] = "over in the first\n", in_other[] = "over in another\n";
    bool first = syscall(SYS_gettid) == getpid();
    write(STDOUT_FILENO, first ? in_first : in_other, strlen(first ? in_first : in_other));
    _exit(128 + number);
}

static void *spin_on(void *unused) {
    for (volatile long i = 0;; i++) {
    }
    return unused;
}

static void spin_and_say(void) {
    signal(SIGXCPU, say_that_it_is_over);
    spin_on(NULL);
}

/* The first thread waits for one that does not end. */
static void wait_and_say(void) {
    pthread_t other;
    signal(SIGXCPU, say_that_it_is_over);
    pthread_create(&other, NULL, spin_on, NULL);
    pthread_join(other, NULL);
}

static void flood(void) {
    static char line[4096];
    memset(line, 'x', sizeof line);
    while (fwrite(line, 1, sizeof line, stdout) > 0) {
    }
}

static void bomb(void) {
    for (int i = 0; i < 5000; i++) {
        if (fork() == 0) {
            for (;;) {
                fork();
            }
        }
    }
}

/* In a session of its own, with its streams closed, and the parent gone; writes when it is told. */
static void leave_daemon(const char *path) {
    if (fork() == 0) {
        char told[200];
        snprintf(told, sizeof told, "%s.now", path);
        setsid();
        close(1);
        close(2);
        while (access(told, F_OK) != 0) {
            usleep(10000);
        }
        close(open(path, O_WRONLY | O_CREAT, 0644));
        pause();
    }
}

static void network(void) {
    tell("tcp", socket(AF_INET, SOCK_STREAM, 0));
    tell("udp", socket(AF_INET, SOCK_DGRAM, 0));
    tell("unix", socket(AF_UNIX, SOCK_STREAM, 0));
    int pair[2];
    tell("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void parent(void) {
    char path[40];
    pid_t pid = getppid();
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    tell("parent's memory", open(path, O_RDONLY));
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    tell("parent's environment", open(path, O_RDONLY));
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    tell("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0));
    tell("ptrace", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
    tell("kill", kill(pid, SIGTERM));
    tell("kill all", kill(-1, 0));
    tell("kill group", kill(0, 0));
}

static void memory(void) {
    size_t bytes = (size_t)1 << 30;
    tell("malloc", malloc(bytes) == NULL ? -1 : 0);
    tell("shared",
         mmap(NULL, bytes, PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
    tell("memfd", (long)syscall(SYS_memfd_create, "spill", 0));
    struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    tell("higher limit", setrlimit(RLIMIT_AS, &none));
}

/* Takes all that it gets. */
static void fill(void) {
    enum { PIECE = 1 << 20 };
    for (char *p; (p = malloc(PIECE)) != NULL;) {
        memset(p, 1, PIECE);
    }
}

/* Touches 64 MiB, gives them back, and wipes the trace. */
static void reset_peak(void) {
    size_t bytes = 64 << 20;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, bytes);
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
    munmap(p, bytes);
    tell("clear_refs", open("/proc/self/clear_refs", O_WRONLY));
}

static void descriptors(void) {
    for (int i = 0; i < 1024; i++) {
        if (fcntl(i, F_GETFD) != -1) {
            printf("%d ", i);
        }
    }
}

static void programs(void) {
    char name[] = "true", *argv[] = {name, NULL}, *none[] = {NULL};
    tell("fork", fork());
    tell("vfork", syscall(SYS_vfork));
    tell("execve", execve("/bin/true", argv, none));
    tell("execveat", syscall(SYS_execveat, AT_FDCWD, "/bin/true", argv, none, 0));
    tell("raw execve", syscall(SYS_execve, "/bin/true", argv, none, 1L, 1L));
}

static void exotic(void) {
    tell("unshare", syscall(SYS_unshare, 0x10000000L));
    tell("setns", syscall(SYS_setns, 0, 0));
    tell("mount", syscall(SYS_mount, "none", "/", "tmpfs", 0, 0));
    tell("bpf", syscall(SYS_bpf, 0, 0, 0));
    tell("io_uring", syscall(SYS_io_uring_setup, 1, 0));
    tell("userfaultfd", syscall(SYS_userfaultfd, 1));
    tell("keyctl", syscall(SYS_keyctl, 0, -3, 1));
    tell("inotify", syscall(SYS_inotify_init1, 0));
    tell("personality", syscall(SYS_personality, 0));
    tell("perf", syscall(SYS_perf_event_open, 0, 0, 0, 0, 0));
    tell("pidfd", syscall(SYS_pidfd_open, getppid(), 0));
    tell("dumpable", prctl(PR_SET_DUMPABLE, 1));
    tell("death signal", prctl(PR_SET_PDEATHSIG, 0));
    tell("subreaper", prctl(PR_SET_CHILD_SUBREAPER, 1));
    tell("setuid", setuid(0));
    tell("a call of next year", syscall(1000));
}

static void files(const char *folder) {
    char path[4200];
    snprintf(path, sizeof path, "%s/made", folder);
    tell("create", open(path, O_WRONLY | O_CREAT, 0644));
    tell("symlink", symlink("/etc/passwd", path));
    tell("fifo", mkfifo(path, 0644));
    tell("mkdir", mkdir(path, 0755));
    tell("/dev/shm", open("/dev/shm/x", O_RDWR | O_CREAT, 0600));
    tell("/tmp", open("/tmp/x-from-sandbox", O_RDWR | O_CREAT, 0600));
    tell("/etc/passwd", open("/etc/passwd", O_RDONLY));
    tell("/proc/self/maps", open("/proc/self/maps", O_RDONLY));
    tell("/", open("/", O_RDONLY | O_DIRECTORY));
}

static void *in_thread(void *number) {
    *(int *)number = 42;
    return NULL;
}

static void thread(void) {
    pthread_t other;
    int number = 0;
    if (pthread_create(&other, NULL, in_thread, &number) == 0) {
        pthread_join(other, NULL);
    }
    printf("thread: %d\n", number);
}

static void environment(char **variables) {
    for (; *variables != NULL; variables++) {
        puts(*variables);
    }
}

int main(int argc, char **argv, char **variables) {
    setvbuf(stdout, NULL, _IONBF, 0);
    const char *task = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";
    const struct {
        const char *name;
        void (*run)(void);
    } tasks[] = {
        {"spin", spin},
        {"flood", flood},
        {"bomb", bomb},
        {"network", network},
        {"parent", parent},
        {"memory", memory},
        {"thread", thread},
        {"programs", programs},
        {"descriptors", descriptors},
        {"exotic", exotic},
        {"reset", reset_peak},
        {"fill", fill},
        {"spin and say", spin_and_say},
        {"wait and say", wait_and_say},
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        if (strcmp(task, tasks[i].name) == 0) {
            tasks[i].run();
        }
    }
    if (strcmp(task, "exit") == 0) {
        exit(7);
    } else if (strcmp(task, "abort") == 0) {
        abort();
    } else if (strcmp(task, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(task, "daemon") == 0) {
        leave_daemon(path);
    } else if (strcmp(task, "read") == 0) {
        tell(path, open(path, O_RDONLY));
    } else if (strcmp(task, "files") == 0) {
        files(path);
    } else if (strcmp(task, "environment") == 0) {
        environment(variables);
    } else if (strcmp(task, "given") == 0) {
        char text[16] = "";
        tell("given", read(3, text, sizeof text - 1));
        char *taken = mmap(NULL, sizeof text, PROT_WRITE, MAP_SHARED, 4, 0);
        tell("taken", taken == MAP_FAILED ? -1 : 0);
        memcpy(taken, text, sizeof text);
        tell("grown", ftruncate(4, 1 << 20));
    } else if (strcmp(task, "escape") == 0) {
        printf("\033[2J\rred \303\244 \t|\n");
    }
    return 0;
}
