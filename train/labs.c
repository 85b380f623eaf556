/* Which labs a run needs: the files that are absent are known from the objects that stand in for
   them. The contract is in labs.h. */
#define _DEFAULT_SOURCE
#include "train/labs.h"

#include <string.h>

#include "train/absent.h"

/* The linker's names for begin and end of the section; there is none where no file is absent. */
extern const LabAbsent *const __start_labs_absent[] __attribute__((weak));
extern const LabAbsent *const __stop_labs_absent[] __attribute__((weak));

/* The first file of the lab that is absent and needed, or NULL. */
static const LabAbsent *find_absent(const char *lab, bool gpu) {
    for (const LabAbsent *const *entry = __start_labs_absent; entry < __stop_labs_absent; entry++) {
        bool cu = strstr((*entry)->file, ".cu") != NULL;
        if (strcmp((*entry)->lab, lab) == 0 && (gpu || !cu)) {
            return *entry;
        }
    }
    return NULL;
}

void lab_need(const char *lab, bool gpu) {
    const LabAbsent *absent = find_absent(lab, gpu);
    if (absent != NULL) {
        lab_missing(absent->lab, absent->file);
    }
}

void lab_need_for_options(const char *lab, const TrainOptions *options) {
    const LabAbsent *absent = find_absent(lab, options->device == DEVICE_GPU);
    char words[1000], *rest = words;
    snprintf(words, sizeof words, "%s", absent != NULL ? absent->options : "");
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word != '\0' && options_changed(options, word)) {
            lab_missing(absent->lab, absent->file);
        }
    }
}
