#define _GNU_SOURCE /* nftw */
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    errno = EIO; /* for what was lost earlier, whose reason nobody kept */
    return fflush(stdout) == 0 && !ferror(stdout) ? 0
                                                  : file_error("standard output", "cannot write");
}

FILE *file_begin(const char *path) {
    char *part = joined(path, ".part", "");
    FILE *file = fopen(part, "wb");
    if (file == NULL) {
        file_error(path, "cannot write");
    }
    free(part);
    return file;
}

int file_end(FILE *file, const char *path, bool keep) {
    char *part = joined(path, ".part", "");
    bool good = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
    int reason = errno;
    if (fclose(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && keep && rename(part, path) != 0) {
        good = false;
        reason = errno;
    }
    if (!good && keep) {
        errno = reason;
        file_error(path, "cannot write");
    }
    if (!good || !keep) {
        remove(part);
    }
    free(part);
    return good && keep ? 0 : -1;
}
