/* Where the static data of labs' files lies. The contract is in own_data.h. */
#include "common/own_data.h"

#include <cuda_runtime.h>
#ifdef CUDASIM
#include <cudasim_ranks.h>
#endif

/* Of own_data_first.c and own_data_last.c. Weak: nothing takes them out of a library. */
extern char own_data_first[] __attribute__((weak)), own_data_last[] __attribute__((weak));
extern char own_zero_first[] __attribute__((weak)), own_zero_last[] __attribute__((weak));

static OwnData between(char *first, char *last) {
    return (OwnData){first, first != NULL && last != NULL ? (size_t)(last - first) : 0};
}

void own_data(OwnData piece[OWN_DATA_PIECES]) {
    piece[0] = between(own_data_first, own_data_last);
    piece[1] = between(own_zero_first, own_zero_last);
}

bool own_data_for_ranks(void) {
    OwnData piece[OWN_DATA_PIECES];
    own_data(piece);
    if (piece[0].bytes + piece[1].bytes > OWN_DATA_MOST) {
        return false;
    }
#ifdef CUDASIM
    for (int i = 0; i < OWN_DATA_PIECES; i++) {
        if (piece[i].bytes > 0) {
            cudasim_rank_data(piece[i].begin, piece[i].bytes);
        }
    }
#endif
    return true;
}
