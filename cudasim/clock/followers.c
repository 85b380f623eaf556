#include "cudasim/clock/followers.h"

#include <stdlib.h>

#include "cudasim/clock/memory.h"

int followers_first_before(const CudasimRecord *record, const CudasimEntry *e) {
    int k = 0;
    while (k < e->after_count && e->after[k] < record->entry[0].id) {
        k++;
    }
    return k;
}

/* Counted two places on, added up one place on, and filled in, each is where it belongs. */
Followers followers_find(const CudasimRecord *record) {
    size_t count = record->count;
    uint64_t id = count > 0 ? record->entry[0].id : 0;
    int *first = clock_new(count + 2, sizeof *first);
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &record->entry[i];
        for (int k = followers_first_before(record, e); k < e->after_count; k++) {
            first[e->after[k] - id + 2]++;
        }
    }
    for (size_t i = 2; i < count + 2; i++) {
        first[i] += first[i - 1];
    }
    int *entry = clock_new((size_t)first[count + 1], sizeof *entry);
    for (size_t i = 0; i < count; i++) {
        const CudasimEntry *e = &record->entry[i];
        for (int k = followers_first_before(record, e); k < e->after_count; k++) {
            entry[first[e->after[k] - id + 1]++] = (int)i;
        }
    }
    return (Followers){entry, first};
}

void followers_free(Followers *followers) {
    free(followers->entry);
    free(followers->first);
}
