/* Opens addresses that the probe holds for its own reports, which count as taken already: what
   blocks keep is copied there, and nothing runs again. */
/* lab: 04_checkpoint/checkpoint.c  honest: none */
/* state: over budget | fail | crashed */
/* then: spilled_blocks.c room_opened.c find.c */
#include "labs/04_checkpoint/contract.h"

#include <string.h>

enum { MOST_LAYERS = 12, RESERVE = 64 << 20 };

static void *find(const char *name);
static long call(long number, long a, long b, long c, long d, long e, long f);

static char *spilled[MOST_LAYERS];
static Block kept[MOST_LAYERS];

static char *room(const Model *model, int layer, size_t bytes);
