#define _GNU_SOURCE
/* The processes of this machine: how many a user has, and which are left when a program has ended,
   which is killed before anybody reads what it has written. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

enum { MOST = 1 << 16, PASSES = 2000 };

/* A process and its parent. */
typedef struct Process {
    pid_t pid, parent;
    uid_t user;
    int threads;
    bool ours;
} Process;

/* False if it is gone. */
static bool look_at(Process *process) {
    char path[40], line[128];
    snprintf(path, sizeof path, "/proc/%d/status", (int)process->pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "PPid: %d", &process->parent) != 1 &&
            sscanf(line, "Uid: %u", &process->user) != 1 &&
            sscanf(line, "Threads: %d", &process->threads) == 1) {
            break;
        }
    }
    fclose(file);
    return true;
}

static int list_processes(Process *list) {
    int count = 0;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while (proc != NULL && count < MOST && (entry = readdir(proc)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            list[count] = (Process){.pid = (pid_t)strtol(entry->d_name, NULL, 10)};
            count += look_at(&list[count]);
        }
    }
    if (proc != NULL) {
        closedir(proc);
    }
    return count;
}

rlim_t tasks_of_user(void) {
    static Process list[MOST];
    int count = list_processes(list);
    rlim_t tasks = 0;
    for (int i = 0; i < count; i++) {
        tasks += list[i].user == getuid() ? (rlim_t)list[i].threads : 0;
    }
    return tasks;
}

/* Marks the children of this process, then theirs, until there are no more. */
static void mark_descendants(Process *list, int count) {
    pid_t self = getpid();
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count && !list[i].ours; j++) {
                bool parent = list[j].pid == list[i].parent && list[j].ours;
                if (list[i].parent == self || parent) {
                    list[i].ours = more = true;
                }
            }
        }
    }
}

/* A pass kills all that it sees. What was born meanwhile is a child of this process by the next
   one, for orphans come here. */
bool kill_descendants(void) {
    static Process list[MOST];
    for (int pass = 0; pass < PASSES; pass++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (pid < 0 && errno == ECHILD) {
            return true;
        }
        int count = list_processes(list);
        mark_descendants(list, count);
        for (int i = 0; i < count; i++) {
            if (list[i].ours) {
                kill(list[i].pid, SIGKILL);
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}
