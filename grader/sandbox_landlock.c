#define _GNU_SOURCE
/* Landlock: a process gives up all of the file system but what it lists. The kernel's header may be
   older than the kernel, so the few numbers of the interface stand here; they never change. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grader/sandbox_layers.h"

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_FILE = 1 << 8,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    FIRST_VERSION = (1 << 13) - 1,

    LOOK = EXECUTE | READ_FILE | READ_DIR,
    /* Links, pipes, sockets and devices cannot be made. */
    WORK = LOOK | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_FILE | REFER,
    OF_FILES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE,
};

/* The kernel's argument; it grew by a field with some versions. */
typedef struct Ruleset {
    uint64_t files;
    uint64_t tcp;    /* since 4: bind, connect */
    uint64_t scoped; /* since 6: abstract sockets, signals */
} Ruleset;

typedef struct __attribute__((packed)) PathRule {
    uint64_t allowed;
    int32_t folder;
} PathRule;

int landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

/* All rights that a version knows are handled: what is not given is refused. */
static int new_ruleset(int version, uint64_t *files) {
    Ruleset ruleset = {.files = FIRST_VERSION};
    size_t size = sizeof ruleset.files;
    ruleset.files |= version >= 2 ? REFER : 0;
    ruleset.files |= version >= 3 ? TRUNCATE : 0;
    ruleset.files |= version >= 5 ? 1 << 15 : 0;
    if (version >= 4) {
        ruleset.tcp = 3;
        size = 2 * sizeof ruleset.files;
    }
    if (version >= 6) {
        ruleset.scoped = 3;
        size = sizeof ruleset;
    }
    *files = ruleset.files;
    return (int)syscall(CREATE_RULESET, &ruleset, size, 0);
}

/* Gives back the rights to one path. One that is not there needs none. */
static bool give(int ruleset, const char *path, uint64_t rights) {
    int at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0) {
        return errno == ENOENT || errno == ENOTDIR;
    }
    struct stat status;
    if (fstat(at, &status) == 0 && !S_ISDIR(status.st_mode)) {
        rights &= OF_FILES;
    }
    PathRule rule = {rights, at};
    bool good = syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
    close(at);
    return good;
}

static bool give_all(int ruleset, const char *const *paths, uint64_t rights) {
    for (; paths != NULL && *paths != NULL; paths++) {
        if (!give(ruleset, *paths, rights)) {
            return false;
        }
    }
    return true;
}

const char *landlock_restrict(const Sandbox *sandbox) {
    /* No file without an end, such as /dev/zero: a compiler would read it all. */
    static const char *const libraries[] = {"/lib",
                                            "/lib64",
                                            "/usr/lib",
                                            "/usr/lib64",
                                            "/usr/local/lib",
                                            "/etc/ld.so.cache",
                                            "/sys/devices/system",
                                            NULL};
    static const char *const programs[] = {"/usr", "/bin", NULL};

    uint64_t files;
    int ruleset = new_ruleset(landlock_version(), &files);
    if (ruleset < 0) {
        return "Landlock: no rules";
    }
    bool good = give_all(ruleset, libraries, LOOK) &&
                give(ruleset, "/dev/null", (READ_FILE | WRITE_FILE | TRUNCATE) & files) &&
                (!sandbox->may_execute || give_all(ruleset, programs, LOOK)) &&
                give(ruleset, sandbox->argv[0], LOOK) &&
                give_all(ruleset, sandbox->readable, LOOK) &&
                (sandbox->folder == NULL || give(ruleset, sandbox->folder, WORK & files));
    bool restricted = good && syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    return restricted ? NULL : good ? "Landlock: refused" : "Landlock: a listed path is closed";
}
