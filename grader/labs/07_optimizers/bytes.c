#include "grader/labs/07_optimizers/bytes.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MODELS = 60 };

typedef enum BytesMistake {
    BYTES_RIGHT,
    SHORT_IN_BYTES,
    ONE_SCALE,
    SCALES_ONCE,
    BLOCKS_DOWN,
    NO_MASTERS,
    MASTERS_OF_ADAMW,
    MASTERS_ALWAYS,
    VECTORS_FACTORED,
    FIRST_MOMENT,
    ROWS_ONLY,
    LEAST_EXCLUDED,
    IN_AN_INT,
    PADDED_V,
    HEAD_TWICE,
    NO_LAST_NORM,
    QKV_APART,
    BYTES_MISTAKES,
} BytesMistake;

static const char *const bytes_sentence[BYTES_MISTAKES] = {
    [SHORT_IN_BYTES] = "tensors of fewer than 4096 numbers keep floats with adamw_8bit",
    [ONE_SCALE] = "each block of 256 numbers has a scale, not each tensor",
    [SCALES_ONCE] = "both moments have scales: 8 bytes for each block",
    [BLOCKS_DOWN] = "a last block that is not full has a scale as well: the blocks are rounded up",
    [NO_MASTERS] = "with weights in half each has a float master, whatever the optimizer",
    [MASTERS_OF_ADAMW] = "with weights in half each has a float master, whatever the optimizer",
    [MASTERS_ALWAYS] = "masters are there only where weights are in half",
    [VECTORS_FACTORED] =
        "a vector has no row factor: its column factors are the moments themselves",
    [FIRST_MOMENT] = "Adafactor keeps no first moment here",
    [ROWS_ONLY] = "a matrix has factors for its rows and for its columns",
    [LEAST_EXCLUDED] = "a tensor of exactly 4096 numbers is long enough for bytes",
    [IN_AN_INT] = "the bytes of a large model do not fit into an int: they are counted in size_t",
    [PADDED_V] = "the embedding has V rows: only a row of logits is padded to a multiple of 64",
    [HEAD_TWICE] = "the head has no weights of its own: it multiplies by those of the embedding",
    [NO_LAST_NORM] = "the last layer norm, ln_f, is missing: 2 C numbers",
    [QKV_APART] = "queries, keys and values are one matrix of (3 C, C), and not three",
};

/* Of one tensor. */
static uint64_t tensor_bytes(uint64_t rows, uint64_t cols, bool matrix, Optim optim,
                             BytesMistake mistake) {
    uint64_t n = rows * cols, blocks = mistake == BLOCKS_DOWN ? n / 256 : (n + 255) / 256;
    uint64_t least = mistake == SHORT_IN_BYTES ? 1 : mistake == LEAST_EXCLUDED ? 4097 : 4096;
    if (optim == OPTIM_ADAMW_8BIT && n >= least) {
        return 2 * n + (mistake == SCALES_ONCE ? 4 : 8) * (mistake == ONE_SCALE ? 1 : blocks);
    }
    if (optim == OPTIM_ADAFACTOR) {
        uint64_t factors = mistake == ROWS_ONLY && matrix          ? rows
                           : matrix || mistake == VECTORS_FACTORED ? rows + cols
                                                                   : n;
        return 4 * (factors + (mistake == FIRST_MOMENT ? n : 0));
    }
    return 8 * n;
}

enum { MOST_LAYERS = 48 };

/* As many tensors of a shape. */
typedef struct TensorCount {
    uint64_t count, rows, cols;
} TensorCount;

/* The tensors for which a mistake takes a parameter. */
static TensorCount tensors_of(const Param *param, BytesMistake mistake) {
    TensorCount tensors = {1, (uint64_t)param->rows, (uint64_t)param->cols};
    if (mistake == PADDED_V && strcmp(param->name, "wte.weight") == 0) {
        tensors.rows = (tensors.rows + 63) / 64 * 64;
    } else if (mistake == HEAD_TWICE && strcmp(param->name, "wte.weight") == 0) {
        tensors.count = 2;
    } else if (mistake == NO_LAST_NORM && strncmp(param->name, "ln_f.", 5) == 0) {
        tensors.count = 0;
    } else if (mistake == QKV_APART && strcmp(param->name, "attn.c_attn.weight") == 0) {
        tensors.count = 3;
        tensors.rows /= 3;
    }
    return tensors;
}

static uint64_t bytes_as(const ModelConfig *config, Optim optim, BytesMistake mistake) {
    Param params[4 + 12 * MOST_LAYERS];
    uint64_t bytes = 0;
    params_describe(params, config);
    bool masters = (config->precision != F32 || mistake == MASTERS_ALWAYS) &&
                   mistake != NO_MASTERS && (optim == OPTIM_ADAMW || mistake != MASTERS_OF_ADAMW);
    for (int i = 0; i < params_count(config); i++) {
        TensorCount tensors = tensors_of(&params[i], mistake);
        bytes += tensors.count * (tensor_bytes(tensors.rows, tensors.cols,
                                               param_is_matrix(&params[i]), optim, mistake) +
                                  (masters ? 4 * tensors.rows * tensors.cols : 0));
    }
    return mistake == IN_AN_INT ? (uint64_t)(int32_t)bytes : bytes;
}

uint64_t bytes_of_states(const ModelConfig *config, Optim optim) {
    return bytes_as(config, optim, BYTES_RIGHT);
}

static ModelConfig bytes_model(Check *check, int i) {
    static const int channels[] = {128, 64, 32, 31, 16, 768, 1024, 1100};
    if (i == 8) { /* GPT-2 XL */
        return (ModelConfig){.V = 50257,
                             .T = 1024,
                             .L = MOST_LAYERS,
                             .NH = 25,
                             .C = 1600,
                             .precision = (Precision)check_int(check, F32, BF16)};
    }
    if (i == 11) { /* one tensor alone has more bytes than an int can say */
        return (ModelConfig){.V = 50257, .T = 2048, .L = 2, .NH = 96, .C = 12288};
    }
    int C = i < 8 ? channels[i] : i == 10 ? 1 : check_int(check, 1, 200);
    return (ModelConfig){.V = i == 0 ? 256 : check_int(check, 256, 60000),
                         .T = i == 1   ? 64
                              : i == 9 ? 1
                                       : check_int(check, 1, 1024),
                         .L = check_int(check, 1, 12),
                         .NH = 1,
                         .C = C,
                         .precision = (Precision)(i % 3)};
}

/* The models that were asked about, and an optimizer of each. */
static char asked_text[MOST_MODELS][CHECK_LABEL];

static const char *asked_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "%s", asked_text[i]);
    return text;
}

void bytes_expect(Check *check) {
    int32_t numbers[MOST_MODELS * BYTES_NUMBERS], *n = numbers;
    uint64_t want[BYTES_MISTAKES][MOST_MODELS];
    ExactSuspect suspects[BYTES_MISTAKES];
    for (int i = 0; i < MOST_MODELS; i++, n += BYTES_NUMBERS) {
        ModelConfig config = bytes_model(check, i / 3);
        Optim optim = (Optim)(i % 3);
        const int32_t all[] = {config.V,      config.T, config.L,
                               config.NH,     config.C, (int32_t)config.precision,
                               (int32_t)optim};
        memcpy(n, all, sizeof all);
        snprintf(asked_text[i], CHECK_LABEL, "%s of %s V%d T%d L%d C%d", optim_name(optim),
                 precision_name(config.precision), config.V, config.T, config.L, config.C);
        for (BytesMistake mistake = BYTES_RIGHT; mistake < BYTES_MISTAKES; mistake++) {
            want[mistake][i] = bytes_as(&config, optim, mistake);
        }
    }
    check_give(check, "models", WIRE_I32, numbers, MOST_MODELS * BYTES_NUMBERS);
    check_want(check, "bytes", WIRE_U64, MOST_MODELS);
    for (BytesMistake mistake = BYTES_RIGHT + 1; mistake < BYTES_MISTAKES; mistake++) {
        suspects[mistake - 1] = (ExactSuspect){bytes_sentence[mistake], want[mistake]};
    }
    if (check_run(check, "bytes", SECONDS)) {
        check_equal_of(check, "bytes", asked_label, want[BYTES_RIGHT], MOST_MODELS, suspects,
                       BYTES_MISTAKES - 1);
    }
}
