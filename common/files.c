/* Files and folders: every error is one line with the path and the reason, and a file appears whole
   or not at all. The contract is in files.h. */
#define _GNU_SOURCE /* nftw */
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"
#include "kernels/base.h"

int file_error(const char *path, const char *what) {
    fprintf(stderr, "%s: %s: %s\n", path, what, strerror(errno));
    return -1;
}

/* a + b + c as a new string. */
static char *joined(const char *a, const char *b, const char *c) {
    size_t bytes = strlen(a) + strlen(b) + strlen(c) + 1;
    char *text = malloc(bytes);
    CHECK(text != NULL, "no memory for %zu bytes", bytes);
    snprintf(text, bytes, "%s%s%s", a, b, c);
    return text;
}

char *path_join(const char *folder, const char *name) {
    return joined(folder, "/", name);
}

int folder_make(const char *path) {
    char *partial = joined(path, "", "");
    int result = 0;
    for (char *slash = partial + 1; slash != NULL && result == 0; slash++) {
        slash = strchr(slash, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
            result = file_error(partial, "cannot create folder");
        }
        if (slash == NULL) {
            break;
        }
        *slash = '/';
    }
    struct stat status;
    if (result == 0 && (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))) {
        errno = ENOTDIR;
        result = file_error(path, "cannot create folder");
    }
    free(partial);
    return result;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)type, (void)walk;
    return remove(path);
}

int tree_remove(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) {
        return errno == ENOENT ? 0 : -1;
    }
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

int path_sync(const char *path) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) {
        return file_error(path, "cannot open");
    }
    int result = fsync(descriptor) == 0 ? 0 : file_error(path, "cannot sync");
    close(descriptor);
    return result;
}

int stdout_flush(void) {
    errno = EIO; /* an earlier write failed, and its reason was not kept */
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : file_error("standard output", "cannot write");
}

/* A device or a pipe is written as it is: a rename would put a file in its place. errno stays, as
   it may be that of a write. */
static bool is_renamed_to(const char *path) {
    int reason = errno;
    struct stat status;
    bool other = stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    errno = reason;
    return !other;
}

/* The name of a file until it is whole. Another process that writes the path has another one. */
static char *part_of(const char *path) {
    char end[32];
    snprintf(end, sizeof end, ".%d.part", (int)getpid());
    return joined(path, end, "");
}

FILE *file_begin(const char *path) {
    char *part = is_renamed_to(path) ? part_of(path) : joined(path, "", "");
    FILE *file = fopen(part, "wb");
    if (file == NULL) {
        file_error(path, "cannot write");
    }
    free(part);
    return file;
}

int file_end(FILE *file, const char *path, bool keep) {
    char *part = part_of(path);
    bool renamed = is_renamed_to(path);
    bool good = fflush(file) == 0 && !ferror(file) && (!renamed || fsync(fileno(file)) == 0);
    int reason = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && keep && renamed && rename(part, path) != 0) {
        good = false;
        reason = errno;
    }
    if (!good && keep) {
        errno = reason;
        file_error(path, "cannot write");
    }
    if (renamed && (!good || !keep)) {
        remove(part);
    }
    free(part);
    return good && keep ? 0 : -1;
}

int file_save_json(const json_t *json, const char *path) {
    FILE *file = file_begin(path);
    if (file == NULL) {
        return -1;
    }
    CHECK(json != NULL, "no memory for %s", path);
    json_dumpf(json, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', file);
    return file_end(file, path, true); /* the stream remembers a write that failed */
}

json_t *file_load_json(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        file_error(path, "cannot read");
        return NULL;
    }
    json_error_t error = {0};
    json_t *json = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (json == NULL) {
        text_plain(error.text, strlen(error.text), "");
        fprintf(stderr, "%s: not a JSON object: line %d: %s\n", path, error.line, error.text);
    } else if (!json_is_object(json)) {
        fprintf(stderr, "%s: not a JSON object\n", path);
        json_decref(json);
        json = NULL;
    }
    return json;
}

/* All bytes from one open file to another. */
static bool copy_bytes(int from, int to) {
    char piece[1 << 14];
    ssize_t got;
    while ((got = read(from, piece, sizeof piece)) > 0) {
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, piece + done, (size_t)(got - done));
            if (put < 0) {
                return false;
            }
        }
    }
    return got == 0;
}

int file_copy(const char *from, const char *to) {
    char process[20];
    snprintf(process, sizeof process, ".%d", (int)getpid());
    char *aside = joined(to, process, "");
    struct stat status;
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    if (in >= 0 && fstat(in, &status) == 0) {
        unlink(aside); /* left by a process that was killed */
        out = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0777);
    }
    bool good = out >= 0 && copy_bytes(in, out);
    good = out >= 0 && close(out) == 0 && good && rename(aside, to) == 0;
    int reason = errno;
    if (in >= 0) {
        close(in);
    }
    if (!good && out >= 0) {
        unlink(aside);
    }
    free(aside);
    errno = reason;
    return good ? 0 : -1;
}
