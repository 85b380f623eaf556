#include "common/data.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/testkit/compare.h"
#include "common/testkit/scratch.h"
#include "common/text.h"
#include "kernels/base.h"
#include "labs/11_data_parallel/contract.h"

enum { BYTES = 1009 };

/* Printable bytes, with empty lines at awkward places:
   at the start, three in a row, twice close. */
static const char *text_file(unsigned char *text) {
    for (int i = 0; i < BYTES; i++) {
        text[i] = (unsigned char)(i % 97 + 33);
    }
    static const int breaks[] = {0, 40, 43, 100, 131, 500, 1000};
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        text[breaks[i]] = text[breaks[i] + 1] = '\n';
    }
    text[44] = '\n'; /* three in a row */
    return scratch_file("text", text, BYTES);
}

static DataOptions options_for(const char *path, int B, int T, bool documents) {
    return (DataOptions){
        .path = path, .B = B, .T = T, .documents = documents, .eval_fraction = 0.2, .seed = 3};
}

/* How often each (byte, following byte) occurs in the batches: 65536 counters. */
static void count_pairs(const Batch *batch, int *pairs) {
    int valid = 0;
    for (int i = 0; i < batch->B * batch->T; i++) {
        if (batch->targets[i] != IGNORE_INDEX) {
            pairs[batch->tokens[i] * 256 + batch->targets[i]]++;
            valid++;
        } else {
            cr_assert_eq(batch->tokens[i], 0);
        }
    }
    cr_assert_eq(valid, batch->valid);
}

/* One epoch and the validation rows together have each pair of the text once. */
static void check_cover(bool documents, int B, int T) {
    static int pairs[65536], want[65536];
    unsigned char text[BYTES];
    const char *path = text_file(text);
    memset(pairs, 0, sizeof pairs);
    memset(want, 0, sizeof want);
    for (int i = 0; i + 1 < BYTES; i++) {
        bool ends_document = i > 0 && text[i] == '\n' && text[i - 1] == '\n' && text[i + 1] != '\n';
        want[text[i] * 256 + text[i + 1]] += !(documents && ends_document);
    }
    Data *data = data_new(options_for(path, B, T, documents));
    cr_assert_not_null(data);
    Batch batch;
    size_t batches = data_batches_left(data), tokens = 0;
    for (; data_next(data, &batch); batches--) {
        cr_assert(batch.B >= 1 && batch.B <= B && batch.T == T);
        count_pairs(&batch, pairs);
        tokens += (size_t)batch.valid;
    }
    cr_assert_eq(batches, 0);
    cr_assert_eq(tokens, data_epoch_tokens(data));
    for (size_t i = 0; data_eval(data, i, &batch); i++) {
        count_pairs(&batch, pairs);
    }
    cr_assert_arr_eq(pairs, want, sizeof pairs, "documents %d, B %d, T %d", documents, B, T);
    data_free(data);
    scratch_remove();
}

Test(data, nothing_repeated_nothing_lost) {
    for (int T = 1; T <= 300; T = 2 * T + 1) {
        check_cover(false, 3, T);
        check_cover(true, 3, T);
        check_cover(true, 1, T);
    }
}

Test(data, documents_are_ragged) {
    unsigned char text[BYTES];
    Data *data = data_new(options_for(text_file(text), 1, 200, true));
    Batch batch;
    int shortest = 200, longest = 0;
    while (data_next(data, &batch)) {
        shortest = batch.valid < shortest ? batch.valid : shortest;
        longest = batch.valid > longest ? batch.valid : longest;
        for (int t = 1; t < batch.valid; t++) { /* targets are the inputs, one further */
            cr_assert_eq(batch.tokens[t], batch.targets[t - 1]);
        }
    }
    cr_assert(shortest <= 3 && longest == 200, "%d %d", shortest, longest);
    data_free(data);
    scratch_remove();
}

Test(data, window_tokens_are_told_before) {
    unsigned char text[BYTES];
    Data *data = data_new(options_for(text_file(text), 2, 50, true));
    for (int window = 1; data_batches_left(data) > 0; window++) {
        size_t want = data_window_tokens(data, window), got = 0;
        Batch batch;
        for (int i = 0; i < window && data_next(data, &batch); i++) {
            got += (size_t)batch.valid;
        }
        cr_assert_eq(got, want);
    }
    cr_assert_eq(data_window_tokens(data, 5), 0);
    data_free(data);
    scratch_remove();
}

/* Of any shapes, in their order, and each only until the next one comes. */
Test(data, batches_can_be_given) {
    static const int32_t tokens[] = {1, 2, 3, 4, 5, 6};
    static const int32_t targets[] = {2, 3, IGNORE_INDEX, 5, IGNORE_INDEX, 7};
    const Batch given[] = {
        {.B = 2, .T = 1, .tokens = tokens, .targets = targets, .valid = 2},
        {.B = 1, .T = 1, .tokens = tokens + 2, .targets = targets + 2},
        {.B = 1, .T = 3, .tokens = tokens + 3, .targets = targets + 3, .valid = 2}};
    Data *data = data_from_batches(given, 3);
    cr_assert_eq(data_batch_rows(data), 2);
    cr_assert_eq(data_epoch_tokens(data), 4);
    for (int epoch = 0; epoch < 2; epoch++) {
        Batch batch = {0};
        cr_assert_eq(data_window_tokens(data, 2), 2);
        cr_assert_eq(data_window_tokens(data, 9), 4);
        for (size_t i = 0; i < 3; i++) {
            cr_assert_eq(data_batches_left(data), 3 - i);
            cr_assert(data_next(data, &batch));
            cr_assert_eq(batch.B, given[i].B);
            cr_assert_eq(batch.T, given[i].T);
            cr_assert_eq(batch.valid, given[i].valid);
            size_t bytes = (size_t)(batch.B * batch.T) * sizeof *tokens;
            cr_assert_arr_eq(batch.tokens, given[i].tokens, bytes);
            cr_assert_arr_eq(batch.targets, given[i].targets, bytes);
        }
        cr_assert_not(data_next(data, &batch));
        cr_assert_not(data_eval(data, 0, &batch));
        data_next_epoch(data);
    }
    cr_assert_eq(data_seek(data, (DataPosition){.epoch = 1, .row = 2}), 0);
    cr_assert_eq(data_window_tokens(data, 9), 2);
    data_free(data);
}

static void expect_same(Data *a, Data *b, int batches) {
    Batch x, y;
    for (int i = 0; i < batches; i++) {
        while (!data_next(a, &x)) {
            data_next_epoch(a);
        }
        while (!data_next(b, &y)) {
            data_next_epoch(b);
        }
        cr_assert_eq(x.B, y.B);
        size_t bytes = (size_t)(x.B * x.T) * sizeof *x.tokens;
        cr_assert_arr_eq(x.tokens, y.tokens, bytes);
        cr_assert_arr_eq(x.targets, y.targets, bytes);
    }
}

Test(data, a_position_can_be_gone_back_to) {
    unsigned char text[BYTES];
    const char *path = text_file(text);
    Data *a = data_new(options_for(path, 4, 30, true)),
         *b = data_new(options_for(path, 4, 30, true));
    Batch batch;
    for (int i = 0; i < 17; i++) {
        while (!data_next(a, &batch)) {
            data_next_epoch(a);
        }
    }
    cr_assert_eq(data_seek(b, data_position(a)), 0);
    expect_same(a, b, 40);
    DataPosition beyond = {.epoch = 0, .row = 1 << 20}, absurd = {.epoch = 1ull << 60, .row = 0};
    DataPosition before = data_position(b);
    cr_assert_eq(data_seek(b, beyond), -1);
    cr_assert_eq(data_seek(b, absurd), -1);
    cr_assert_eq(data_position(b).row, before.row);
    data_free(a);
    data_free(b);
    scratch_remove();
}

static void share(Data *data, int rank, int ranks) {
    data_share(data, (DataShare){rank, ranks, shard_rows, shard_end, shard_turns});
}

/* Ranks are handed beside each other the batches that one reader is handed in turn, then nothing to
   learn. All ranks are at one place, with one divisor. */
static void check_shared(int ranks, int B) {
    unsigned char text[BYTES];
    const char *path = text_file(text);
    Data *alone = data_new(options_for(path, B, 30, true)), *data[5];
    for (int rank = 0; rank < ranks; rank++) {
        data[rank] = data_new(options_for(path, B, 30, true));
        share(data[rank], rank, ranks);
    }
    size_t all = data_batches_left(alone), rounds = (all + (size_t)ranks - 1) / (size_t)ranks;
    for (size_t round = 0; round < rounds; round++) {
        size_t tokens = data_window_tokens(alone, 2 * ranks);
        for (int rank = 0; rank < ranks; rank++) {
            Batch want, got;
            cr_assert_eq(data_batches_left(data[rank]), rounds - round);
            cr_assert_eq(data_window_tokens(data[rank], 2), tokens);
            cr_assert(data_next(data[rank], &got));
            if (data_next(alone, &want)) {
                size_t bytes = (size_t)(want.B * want.T) * sizeof *want.tokens;
                cr_assert_eq(got.B, want.B);
                cr_assert_eq(got.valid, want.valid);
                cr_assert_arr_eq(got.tokens, want.tokens, bytes);
                cr_assert_arr_eq(got.targets, want.targets, bytes);
            } else {
                cr_assert(got.B == 1 && got.T == 30 && got.valid == 0);
                cr_assert(got.tokens[29] == 0 && got.targets[0] == IGNORE_INDEX);
            }
        }
        for (int rank = 0; rank < ranks; rank++) {
            cr_assert_eq(data_position(data[rank]).row, data_position(alone).row);
        }
    }
    Batch batch;
    for (int rank = 0; rank < ranks; rank++) {
        cr_assert_not(data_next(data[rank], &batch));
        data_free(data[rank]);
    }
    data_free(alone);
    scratch_remove();
}

Test(data, ranks_share_the_batches) {
    for (int ranks = 1; ranks <= 5; ranks++) {
        for (int B = 1; B <= 5; B += 2) {
            check_shared(ranks, B);
        }
    }
}

/* Three batches and two ranks: the second has nothing in the second round. */
Test(data, given_batches_can_be_shared) {
    static const int32_t tokens[] = {1, 2, 3}, targets[] = {2, 3, 4};
    Batch given[3], batch;
    for (int i = 0; i < 3; i++) {
        given[i] =
            (Batch){.B = 1, .T = 1, .tokens = tokens + i, .targets = targets + i, .valid = 1};
    }
    Data *data = data_from_batches(given, 3);
    share(data, 1, 2);
    cr_assert_eq(data_window_tokens(data, 2), 3);
    cr_assert(data_next(data, &batch) && batch.tokens[0] == 2 && batch.valid == 1);
    cr_assert(data_next(data, &batch) && batch.targets[0] == IGNORE_INDEX && batch.valid == 0);
    cr_assert_not(data_next(data, &batch));
    data_free(data);
}

/* A batch is read twice where the place is gone back to in between. */
Test(data, what_is_read_ahead_is_not_handed_out) {
    unsigned char text[BYTES];
    Data *data = data_new(options_for(text_file(text), 2, 10, false));
    int32_t tokens[3][20], targets[20];
    Batch batch;
    for (int i = 0; i < 3; i++) {
        cr_assert(data_read(data, tokens[i], targets, &batch) && batch.tokens == tokens[i]);
        cr_assert_eq(data_position(data).row, 0);
    }
    DataPosition begin = data_position(data);
    cr_assert_eq(data_seek(data, (DataPosition){.row = 2}), 0);
    for (int i = 1; i < 3; i++) {
        int32_t again[20];
        cr_assert(data_read(data, again, targets, &batch));
        cr_assert_arr_eq(again, tokens[i], sizeof again);
    }
    cr_assert_eq(data_seek(data, begin), 0);
    cr_assert(data_next(data, &batch));
    cr_assert_arr_eq(batch.tokens, tokens[0], sizeof tokens[0]);
    cr_assert(data_read(data, tokens[0], targets, &batch));
    cr_assert_arr_eq(tokens[0], tokens[1], sizeof tokens[0], "the next one is read next");
    data_free(data);
    scratch_remove();
}

/* One who reads ahead: hands out three batches, and counts how often it is stopped. */
typedef struct Reads {
    int left, stopped;
} Reads;

static bool reads_next(void *context, Batch *batch) {
    Reads *reads = context;
    *batch = (Batch){.B = 2, .T = 10, .on_device = true};
    return reads->left-- > 0;
}

static void reads_stop(void *context) {
    ((Reads *)context)->stopped++;
}

Test(data, who_reads_ahead_hands_out_and_is_stopped) {
    unsigned char text[BYTES];
    Data *data = data_new(options_for(text_file(text), 2, 10, false));
    Reads reads = {.left = 3};
    Batch batch;
    data_set_ahead(data, &(DataAhead){reads_next, reads_stop, &reads});
    size_t left = data_batches_left(data);
    for (int i = 1; i <= 3; i++) {
        cr_assert(data_next(data, &batch) && batch.on_device);
        cr_assert_eq(data_position(data).row, 2 * (uint64_t)i);
        cr_assert_eq(data_batches_left(data), left - (size_t)i);
    }
    cr_assert_not(data_next(data, &batch));
    cr_assert_eq(data_position(data).row, 6, "nothing was handed out");
    data_next_epoch(data);
    cr_assert_eq(reads.stopped, 1);
    cr_assert_eq(data_seek(data, (DataPosition){0}), 0);
    cr_assert_eq(reads.stopped, 2);
    data_set_ahead(data, NULL);
    cr_assert(data_next(data, &batch) && !batch.on_device);
    data_free(data);
    scratch_remove();
}

Test(data, epochs_have_different_orders) {
    unsigned char text[BYTES];
    Data *data = data_new(options_for(text_file(text), 1, 10, false));
    int32_t first[2][20];
    for (int epoch = 0; epoch < 2; epoch++) {
        Batch batch;
        for (int i = 0; i < 20; i++) {
            cr_assert(data_next(data, &batch));
            first[epoch][i] = batch.tokens[0] * 256 + batch.tokens[1];
        }
        data_next_epoch(data);
    }
    cr_assert_arr_neq(first[0], first[1], sizeof first[0]);
    data_free(data);
    scratch_remove();
}

Test(data, unigram_entropy) {
    Data *data = data_new(options_for(scratch_file("four", "aaaabbccaaaabbcd", 16), 1, 2, false));
    /* 8, 4, 3 and 1 of 16 */
    double want = 0.5 * log(2) + 0.25 * log(4) + 3.0 / 16 * log(16.0 / 3) + log(16) / 16;
    cr_assert_float_eq(data_unigram_entropy(data), want, tolerance_of_double() * want);
    data_free(data);
    scratch_remove();
}

Test(data, the_fingerprint_knows_text_and_cut) {
    unsigned char text[BYTES];
    DataOptions options = options_for(text_file(text), 1, 10, false);
    uint64_t seen[4];
    for (int i = 0; i < 4; i++) {
        options.T = i == 1 ? 11 : 10;
        options.documents = i == 2;
        if (i == 3) {
            text[5]++;
            options.path = scratch_file("text", text, BYTES);
        }
        Data *data = data_new(options);
        seen[i] = data_fingerprint(data);
        data_free(data);
        for (int j = 0; j < i; j++) {
            cr_assert_neq(seen[i], seen[j], "%d and %d", i, j);
        }
    }
    scratch_remove();
}

static void expect_refused(const char *path, int T, const char *want) {
    char line[512] = "";
    cr_assert_null(data_new(options_for(path, 2, T, false)));
    fflush(stderr);
    cr_assert_not_null(fgets(line, sizeof line, cr_get_redirected_stderr()), "no message");
    cr_assert_not_null(strstr(line, want), "%s", line);
}

Test(data, what_is_no_text_is_refused, .init = cr_redirect_stderr) {
    expect_refused(scratch_path("missing"), 8, "No such file");
    expect_refused(scratch_folder(), 8, "not a regular file");
    expect_refused(scratch_file("empty", "", 0), 8, "the file is empty");
    expect_refused(scratch_file("one", "a", 1), 8, "1 bytes are too few");
    expect_refused(scratch_file("row", "abcd", 4), 8, "4 bytes are too few for training and");
    scratch_remove();
}

/* Every figure of the course that comes from a training run rests on this text. */
Test(data, kit_text_is_frozen) {
    FILE *file = fopen("common/data/kit.txt", "rb");
    cr_assert_not_null(file, "the tests run in the root of the kit");
    uint64_t hash = HASH_BEGIN;
    size_t bytes = 0;
    for (int c; (c = getc(file)) != EOF; bytes++) {
        hash = hash_add(hash, (unsigned char)c);
    }
    fclose(file);
    cr_assert_eq(bytes, 527667, "%zu bytes", bytes);
    cr_assert_eq(hash, 0x790b5d1c5697e9b3u, "hash 0x%016llx", (unsigned long long)hash);
}
