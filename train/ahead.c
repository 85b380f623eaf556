/* The text as a reader of lab 08, and lab 08 as the one who hands out batches of the text. The
   contract is in ahead.h. */
#include "train/ahead.h"

#include "kernels/base.h"

static int read_text(void *data, int32_t *tokens, int32_t *targets, Batch *batch) {
    return data_read(data, tokens, targets, batch) ? 1 : 0;
}

/* The text is in memory as a whole: to read it cannot fail. */
static bool next(void *prefetch, Batch *batch) {
    int result = prefetch_next(prefetch, batch);
    CHECK(result == 0 || result == 1, "prefetch_next() gives %d where reading cannot fail", result);
    return result == 1;
}

static void stop(void *prefetch) {
    prefetch_stop(prefetch);
}

Prefetch *ahead_open(Data *data, Memory *memory, const TrainOptions *options) {
    size_t tokens = (size_t)data_batch_rows(data) * (size_t)options->T;
    Prefetch *prefetch = prefetch_open(memory, options->workers + 1, tokens,
                                       options->pin_memory != 0, (BatchReader){read_text, data});
    data_set_ahead(data, &(DataAhead){next, stop, prefetch});
    return prefetch;
}

void ahead_close(Prefetch *prefetch, Data *data) {
    if (prefetch != NULL) {
        data_set_ahead(data, NULL);
        prefetch_close(prefetch);
    }
}
