#include "cudasim/clock/aside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cudasim/clock/memory.h"

bool aside_begin(AsideFile *aside, const char *path) {
    struct stat status;
    bool renames = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    *aside = (AsideFile){.path = path};
    if (renames) {
        aside->aside = clock_new(strlen(path) + sizeof ".part", 1);
        strcat(strcpy(aside->aside, path), ".part");
    }
    aside->file = fopen(renames ? aside->aside : path, "w");
    int reason = errno;
    if (aside->file == NULL) {
        free(aside->aside);
    }
    errno = reason;
    return aside->file != NULL;
}

bool aside_end(AsideFile *aside, bool good) {
    int reason = errno;
    if (fclose(aside->file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && aside->aside != NULL && rename(aside->aside, aside->path) != 0) {
        good = false;
        reason = errno;
    }
    if (!good && aside->aside != NULL) {
        remove(aside->aside);
    }
    free(aside->aside);
    errno = reason;
    return good;
}
