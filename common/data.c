/* A text file as batches: rows are cut once, and an epoch draws their order. The contract, with
   both ways to cut, is in data.h. */
#include "common/data.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/rng.h"
#include "common/text.h"
#include "kernels/base.h"

/* Inputs start ... start + length - 1 of the text, each with the byte after it as its target. Where
   batches were given, a row is a whole batch and its length the batch's valid targets. */
typedef struct Row {
    size_t start;
    int length;
} Row;

struct Data {
    DataOptions options;
    unsigned char *text;
    size_t bytes;
    Batch *given; /* (row_count) by data_from_batches(); NULL for a text */
    Row *rows;
    size_t row_count, train_rows;
    DataShare share; /* data_share(); ranks is 1 where nobody has called it */
    uint32_t *order; /* of the training rows in this epoch */
    DataPosition position;
    uint64_t read; /* row from which data_read() reads next */
    DataAhead ahead;
    int32_t *tokens, *targets; /* (B, T) */
};

/* A place where a batch goes. */
typedef struct Into {
    int32_t *tokens, *targets; /* (B, T) */
} Into;

/* A text longer than this is a mistake: row numbers are 32 bits wide. */
#define MOST_BYTES ((size_t)UINT32_MAX)

static unsigned char *read_text(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (file == NULL || fstat(fileno(file), &status) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        if (file != NULL) {
            fclose(file);
        }
        return NULL;
    }
    unsigned char *text = NULL;
    if (!S_ISREG(status.st_mode)) {
        fprintf(stderr, "%s: not a regular file\n", path);
    } else if (status.st_size == 0) {
        fprintf(stderr, "%s: the file is empty\n", path);
    } else if ((size_t)status.st_size > MOST_BYTES) {
        fprintf(stderr, "%s: %lld bytes are too many (at most 4294967295)\n", path,
                (long long)status.st_size);
    } else {
        *bytes = (size_t)status.st_size;
        text = malloc(*bytes);
        if (text == NULL || fread(text, 1, *bytes, file) != *bytes) {
            fprintf(stderr, "%s: cannot read %zu bytes: %s\n", path, *bytes, strerror(errno));
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

/* The length of the document that begins at `start`: up to and with the first empty line, and
   further empty lines. */
static size_t document_bytes(const Data *data, size_t start) {
    if (!data->options.documents) {
        return data->bytes - start;
    }
    size_t end = start;
    while (end < data->bytes) {
        bool empty_line = end > start && data->text[end] == '\n' && data->text[end - 1] == '\n';
        end++;
        if (empty_line && (end == data->bytes || data->text[end] != '\n')) {
            break;
        }
    }
    return end - start;
}

/* Cuts the text into rows; with rows == NULL only counts them. */
static size_t cut_rows(const Data *data, Row *rows) {
    size_t count = 0, T = (size_t)data->options.T;
    for (size_t start = 0; start < data->bytes;) {
        size_t document = document_bytes(data, start);
        for (size_t at = 0; at + 1 < document; at += T) {
            size_t length = document - 1 - at < T ? document - 1 - at : T;
            if (rows != NULL) {
                rows[count] = (Row){.start = start + at, .length = (int)length};
            }
            count++;
        }
        start += document;
    }
    return count;
}

/* Fisher-Yates; the permutation is a function of seed and epoch. Given batches stay in order. */
static void shuffle(Data *data) {
    Rng rng = rng_new(data->options.seed, RNG_DATA);
    rng.offset = data->position.epoch << 34; /* room for 2^34 draws an epoch */
    for (size_t i = 0; i < data->train_rows; i++) {
        data->order[i] = (uint32_t)i;
    }
    if (data->given != NULL) {
        return;
    }
    for (size_t i = data->train_rows; i > 1; i--) {
        size_t j = rng_below(&rng, i);
        uint32_t swapped = data->order[i - 1];
        data->order[i - 1] = data->order[j];
        data->order[j] = swapped;
    }
}

Data *data_new(DataOptions options) {
    CHECK(options.B > 0 && options.T > 0, "B = %d, T = %d", options.B, options.T);
    CHECK(options.eval_fraction >= 0 && options.eval_fraction < 1, "eval_fraction = %g",
          options.eval_fraction);
    Data *data = calloc(1, sizeof *data);
    CHECK(data != NULL, "no memory for a few bytes");
    data->options = options;
    data->share.ranks = 1;
    data->text = read_text(options.path, &data->bytes);
    if (data->text == NULL) {
        data_free(data);
        return NULL;
    }
    data->row_count = cut_rows(data, NULL);
    size_t eval_rows = (size_t)ceil(options.eval_fraction * (double)data->row_count);
    if (data->row_count < eval_rows + 1) {
        fprintf(stderr, "%s: %zu bytes are too few for training%s with sequences of %d\n",
                options.path, data->bytes, options.eval_fraction > 0 ? " and validation" : "",
                options.T);
        data_free(data);
        return NULL;
    }
    data->train_rows = data->row_count - eval_rows;
    size_t batch = (size_t)options.B * (size_t)options.T;
    data->rows = malloc(data->row_count * sizeof *data->rows);
    data->order = malloc(data->train_rows * sizeof *data->order);
    data->tokens = malloc(batch * sizeof *data->tokens);
    data->targets = malloc(batch * sizeof *data->targets);
    if (!data->rows || !data->order || !data->tokens || !data->targets) {
        fprintf(stderr, "no memory for batches of %d x %d tokens\n", options.B, options.T);
        data_free(data);
        return NULL;
    }
    cut_rows(data, data->rows);
    shuffle(data);
    return data;
}

Data *data_from_batches(const Batch *batches, int count) {
    CHECK(count >= 1, "%d batches", count);
    size_t rows = (size_t)count, most = 0;
    Data *data = calloc(1, sizeof *data);
    CHECK(data != NULL, "no memory for a few bytes");
    data->options = (DataOptions){.B = 1, .T = 1};
    data->share.ranks = 1;
    data->row_count = data->train_rows = rows;
    data->given = malloc(rows * sizeof *data->given);
    data->rows = malloc(rows * sizeof *data->rows);
    data->order = malloc(rows * sizeof *data->order);
    CHECK(data->given && data->rows && data->order, "no memory for %d batches", count);
    for (size_t i = 0; i < rows; i++) {
        size_t N = (size_t)batches[i].B * (size_t)batches[i].T;
        data->given[i] = batches[i];
        data->rows[i] = (Row){.start = 0, .length = batches[i].valid};
        most = N > most ? N : most;
    }
    data->tokens = malloc(most * sizeof *data->tokens);
    data->targets = malloc(most * sizeof *data->targets);
    CHECK(data->tokens && data->targets, "no memory for a batch of %zu tokens", most);
    shuffle(data);
    return data;
}

void data_free(Data *data) {
    if (data == NULL) {
        return;
    }
    free(data->text);
    free(data->given);
    free(data->rows);
    free(data->order);
    free(data->tokens);
    free(data->targets);
    free(data);
}

/* Writes a row into line b of a batch; returns its valid targets. */
static int fill_line(const Data *data, Into into, int b, Row row) {
    int T = data->options.T;
    for (int t = 0; t < T; t++) {
        bool inside = t < row.length;
        size_t at = (size_t)b * (size_t)T + (size_t)t;
        into.tokens[at] = inside ? data->text[row.start + (size_t)t] : 0;
        into.targets[at] = inside ? data->text[row.start + (size_t)t + 1] : IGNORE_INDEX;
    }
    return row.length;
}

void data_share(Data *data, DataShare share) {
    CHECK(share.rank >= 0 && share.rank < share.ranks, "rank %d of %d", share.rank, share.ranks);
    CHECK(data->position.row == 0, "%" PRIu64 " rows are handed out already", data->position.row);
    data->share = share;
}

static Batch batch_of(int B, int T, Into into, int valid) {
    return (Batch){.B = B, .T = T, .tokens = into.tokens, .targets = into.targets, .valid = valid};
}

/* A copy, so that a batch ends here as well when the next one comes. */
static Batch copy_given(const Batch *given, Into into) {
    size_t N = (size_t)given->B * (size_t)given->T;
    memcpy(into.tokens, given->tokens, N * sizeof *into.tokens);
    memcpy(into.targets, given->targets, N * sizeof *into.targets);
    return batch_of(given->B, given->T, into, given->valid);
}

/* The rows of the batch that begins at a row; where several begin there, of this rank's. */
static size_t rows_at(const Data *data, uint64_t begin, size_t *first) {
    const DataShare *share = &data->share;
    size_t B = (size_t)data->options.B, left = data->train_rows - begin;
    *first = begin;
    return share->ranks == 1
               ? (left < B ? left : B)
               : share->rows(begin, data->train_rows, B, share->rank, share->ranks, first);
}

/* The row after that many batches. */
static uint64_t rows_end(const Data *data, uint64_t begin, size_t batches) {
    const DataShare *share = &data->share;
    size_t B = (size_t)data->options.B, left = data->train_rows - begin;
    if (share->ranks > 1) {
        return share->end(begin, data->train_rows, B, share->ranks, batches);
    }
    return batches < (left + B - 1) / B ? begin + batches * B : data->train_rows;
}

/* A rank that has no rows left gets a sequence to run, and nothing to learn. */
static Batch batch_at(const Data *data, uint64_t begin, Into into) {
    int T = data->options.T, valid = 0;
    size_t first, rows = rows_at(data, begin, &first);
    if (rows == 0) {
        return batch_of(1, T, into, fill_line(data, into, 0, (Row){0}));
    }
    CHECK(first < data->train_rows && rows <= data->train_rows - first &&
              rows <= (size_t)data->options.B,
          "rows %zu to %zu of %zu", first, first + rows, (size_t)data->train_rows);
    if (data->given != NULL) {
        return copy_given(&data->given[data->order[first]], into);
    }
    for (size_t b = 0; b < rows; b++) {
        valid += fill_line(data, into, (int)b, data->rows[data->order[first + b]]);
    }
    return batch_of((int)rows, T, into, valid);
}

/* A place that is shared must move on, and not beyond the end. */
static uint64_t row_after(const Data *data, uint64_t begin) {
    uint64_t end = rows_end(data, begin, 1);
    CHECK(end > begin && end <= data->train_rows, "row %" PRIu64 " comes after row %" PRIu64, end,
          begin);
    return end;
}

bool data_read(Data *data, int32_t *tokens, int32_t *targets, Batch *batch) {
    if (data->read == data->train_rows) {
        return false;
    }
    *batch = batch_at(data, data->read, (Into){tokens, targets});
    data->read = row_after(data, data->read);
    return true;
}

void data_set_ahead(Data *data, const DataAhead *ahead) {
    data->ahead = ahead != NULL ? *ahead : (DataAhead){0};
    data->read = data->position.row;
}

bool data_next(Data *data, Batch *batch) {
    uint64_t begin = data->position.row;
    bool more = data->ahead.next != NULL ? data->ahead.next(data->ahead.context, batch)
                                         : begin < data->train_rows;
    if (more) {
        data->position.row = row_after(data, begin);
    }
    if (more && data->ahead.next == NULL) {
        *batch = batch_at(data, begin, (Into){data->tokens, data->targets});
        data->read = data->position.row;
    }
    return more;
}

/* Who reads ahead begins anew. */
static void go_to(Data *data, DataPosition position) {
    if (data->ahead.stop != NULL) {
        data->ahead.stop(data->ahead.context);
    }
    data->position = position;
    data->read = position.row;
    shuffle(data);
}

size_t data_window_tokens(const Data *data, int batches) {
    uint64_t end = rows_end(data, data->position.row, (size_t)batches);
    size_t tokens = 0;
    for (size_t i = data->position.row; i < data->train_rows && i < end; i++) {
        tokens += (size_t)data->rows[data->order[i]].length;
    }
    return tokens;
}

int data_batch_rows(const Data *data) {
    size_t B = (size_t)data->options.B;
    int rows = (int)(data->train_rows < B ? data->train_rows : B);
    for (size_t i = 0; data->given != NULL && i < data->row_count; i++) {
        rows = data->given[i].B > rows ? data->given[i].B : rows;
    }
    return rows;
}

size_t data_batches_left(const Data *data) {
    const DataShare *share = &data->share;
    size_t B = (size_t)data->options.B, left = data->train_rows - data->position.row;
    return share->ranks == 1 ? (left + B - 1) / B
                             : share->turns(data->position.row, data->train_rows, B, share->ranks);
}

void data_next_epoch(Data *data) {
    go_to(data, (DataPosition){.epoch = data->position.epoch + 1, .row = 0});
}

DataPosition data_position(const Data *data) {
    return data->position;
}

int data_seek(Data *data, DataPosition position) {
    if (position.row > data->train_rows || position.epoch >> 29 != 0) {
        return -1;
    }
    go_to(data, position);
    return 0;
}

bool data_eval(Data *data, size_t index, Batch *batch) {
    size_t B = (size_t)data->options.B; /* no rows are left for this where batches were given */
    if (index >= (data->row_count - data->train_rows + B - 1) / B) {
        return false;
    }
    size_t first = data->train_rows + index * B, end = first + B;
    Into into = {data->tokens, data->targets};
    int valid = 0, lines = 0;
    for (size_t row = first; row < end && row < data->row_count; row++) {
        valid += fill_line(data, into, lines++, data->rows[row]);
    }
    *batch = batch_of(lines, data->options.T, into, valid);
    return true;
}

size_t data_epoch_tokens(const Data *data) {
    size_t tokens = 0;
    for (size_t row = 0; row < data->train_rows; row++) {
        tokens += (size_t)data->rows[row].length;
    }
    return tokens;
}

double data_unigram_entropy(const Data *data) {
    size_t count[256] = {0};
    for (size_t i = 0; i < data->bytes; i++) {
        count[data->text[i]]++;
    }
    double entropy = 0;
    for (int byte = 0; byte < 256; byte++) {
        if (count[byte] > 0) {
            double p = (double)count[byte] / (double)data->bytes;
            entropy -= p * log(p);
        }
    }
    return entropy;
}

size_t data_bytes(const Data *data) {
    return data->bytes;
}

uint64_t data_fingerprint(const Data *data) {
    /* Of the text, then of what decides how it is cut. */
    uint64_t hash = HASH_BEGIN;
    for (size_t i = 0; i < data->bytes; i++) {
        hash = hash_add(hash, data->text[i]);
    }
    uint64_t cut[] = {(uint64_t)data->options.T, data->options.documents, data->train_rows,
                      data->options.seed};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        hash = hash_add(hash, cut[i]);
    }
    return hash;
}
