/* Takes 8 GiB of the host's memory. Where the simulated GPU runs, addresses have no limit. */
/* lab: 08_prefetch/prefetch.c  honest: bytes hides offload offload_memory offload_moved
   offload_order offload_overlap offload_segments time */
/* state: crashed */
/* then: prefetch_end.c no_prefetch_next.c */
#include <stdlib.h>
#include <string.h>

#include "labs/08_prefetch/contract.h"

Prefetch *prefetch_open(Memory *memory, int slots, size_t tokens, bool pinned, BatchReader reader) {
    enum { PIECE = 1 << 24, PIECES = 512 };
    (void)memory, (void)slots, (void)tokens, (void)pinned, (void)reader;
    for (int i = 0; i < PIECES; i++) {
        char *p = malloc(PIECE);
        if (p != NULL) {
            memset(p, 1, PIECE);
        }
    }
    return NULL;
}
