/* A temporary folder for a test, with paths and files in it. The contract is in scratch.h. */
#include "common/testkit/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "kernels/base.h"

enum { PATHS = 256, PATH_BYTES = 512 };

static char folder[64];
static char paths[PATHS][PATH_BYTES];
static int path_count;

const char *scratch_folder(void) {
    if (folder[0] == '\0') {
        strcpy(folder, "/tmp/gradus-test-XXXXXX");
        CHECK(mkdtemp(folder) != NULL, "cannot create a folder in /tmp");
    }
    return folder;
}

const char *scratch_path(const char *name) {
    CHECK(path_count < PATHS, "more than %d paths in one test", PATHS);
    char *path = paths[path_count++];
    snprintf(path, PATH_BYTES, "%s/%s", scratch_folder(), name);
    return path;
}

const char *scratch_file(const char *name, const void *bytes, size_t count) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL, "cannot write %s", path);
    CHECK(fwrite(bytes, 1, count, file) == count, "cannot write %zu bytes to %s", count, path);
    CHECK(fclose(file) == 0, "cannot write %s", path);
    return path;
}

void scratch_remove(void) {
    if (folder[0] != '\0') {
        tree_remove(folder);
    }
    folder[0] = '\0';
    path_count = 0;
}
