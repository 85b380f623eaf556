/* Attack 5. Writes the record of the grader with the C library. */
/* lab: 00_bytes/bytes.c  honest: none */
/* state: build error */
/* then: no_params.c others.c */
#include "common/lab00.h"

#include <stdio.h>

static void attack(void) {
    FILE *record = fopen("build/grades/00_bytes.json", "w");
    if (record != NULL) {
        fputs("{\"score\": 100, \"full\": true}", record);
        fclose(record);
    }
}
