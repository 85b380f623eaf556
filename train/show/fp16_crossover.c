/* Where half costs memory instead of saving it: by formula, and counted. */
#include <stdio.h>

#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"
#include "train/meter.h"
#include "train/plot.h"
#include "train/show/fp16.h"

static ModelConfig shape_of(int C, Precision precision) {
    return (ModelConfig){.V = 256,
                         .T = 64,
                         .L = 4,
                         .NH = 4,
                         .C = C,
                         .precision = precision,
                         .attention = ATTENTION_FLASH};
}

/* Bytes without workspace of a step that has been run, with that many blocks to a segment. */
static double counted(int C, Precision precision, int B, int segment) {
    ModelConfig config = shape_of(C, precision);
    Setup setup;
    Data *data = setup_text(B, config.T);
    setup_open(&setup, &config, 0);
    setup.trainer.model->checkpoint.segment = segment;
    Batch batch = setup_next(data);
    trainer_forward(&setup.trainer, &batch);
    trainer_backward(&setup.trainer, 1.0f / (float)batch.valid);
    MemoryUse peak = memory_peak(setup.memory);
    setup_close(&setup);
    data_free(data);
    return (double)(memory_total(&peak) - peak.bytes[MEMORY_WORKSPACE]);
}

/* The same by labs 00 and 04. Of half's states, `less` bytes for each parameter are left out. */
static double by_formula(int C, Precision precision, int B, int segment, size_t less) {
    ModelConfig config = shape_of(C, precision);
    MemoryUse states = bytes_states(&config);
    size_t tokens = (size_t)B * (size_t)config.T, ids = 2 * tokens * sizeof(int32_t);
    size_t activations = checkpoint_bytes(&config, B, config.T, (Checkpoint){.segment = segment});
    size_t left_out = precision == F32 ? 0 : less * bytes_params(&config);
    return (double)(memory_total(&states) + activations + ids - left_out);
}

/* The memory of half, in percent more than float: with 18-byte states and with 16-byte ones. */
typedef struct Crossing {
    double counted, formula, sixteen;
    bool exact; /* counted is predicted, to the byte */
} Crossing;

static Crossing crossing_at(int C, int B, int segment) {
    double f32 = counted(C, F32, B, segment), f16 = counted(C, F16, B, segment);
    double f32_formula = by_formula(C, F32, B, segment, 0);
    double f16_formula = by_formula(C, F16, B, segment, 0);
    return (Crossing){.counted = 100 * (f16 / f32 - 1),
                      .formula = 100 * (f16_formula / f32_formula - 1),
                      .sixteen = 100 * (by_formula(C, F16, B, segment, 2) / f32_formula - 1),
                      .exact = f32 == f32_formula && f16 == f16_formula};
}

/* The fewest tokens, in sequences of one, with which half takes less than float. */
static int crossover(int C, int segment) {
    int B = 1;
    ModelConfig config = shape_of(C, F32);
    while (by_formula(C, F16, B, segment, 0) >= by_formula(C, F32, B, segment, 0)) {
        B++;
    }
    return B * config.T;
}

static int draw_crossover(const char *path, FILE *numbers) {
    Plot plot;
    int letter;
    if (plot_begin(&plot, path, "Memory of fp16 compared with float, by tokens in a micro-batch",
                   900, 460) != 0) {
        return -1;
    }
    rewind(numbers);
    while ((letter = fgetc(numbers)) != EOF) {
        fputc(letter, plot.data);
    }
    fprintf(plot.script,
            "set title 'Memory of a step in fp16, compared with float'\n"
            "set xlabel 'tokens in a micro-batch'\nset ylabel '%% more (above 0) or less'\n"
            "set tics nomirror out\nset border 3\nset key outside right top\n"
            "set xzeroaxis lw 2 lt -1\nset logscale x 2\n"
            "names = '\"64 channels\" \"256 channels\" \"64, checkpointed\" "
            "\"256, checkpointed\"'\n"
            "plot for [i=0:3] data index i using 1:3 with lines lw 2 lc i+1 title word(names,i+1), "
            "for [i=0:3] data index i using 1:2 with points pt 7 lc i+1 notitle, "
            "data index 1 using 1:4 with lines dt 2 lc 2 title '256, 16-byte states'\n");
    return plot_end(&plot);
}

int show_crossover(const char *path) {
    static const int widths[] = {64, 256};
    enum { PANELS = 4, LARGEST = 32 };
    FILE *numbers = tmpfile();
    CHECK(numbers != NULL, "no temporary file");
    /* The time goes with the tokens: of a panel 1 + 2 + 4 ... sequences. */
    Meter meter = meter_begin("sequences", PANELS * (2 * LARGEST - 1));
    int done = 0;
    printf("Memory of fp16, in percent more (or less) than that of float; a row for each number of "
           "tokens\nin a micro-batch. In the picture, lines are formulas and points are counts.\n");
    for (int panel = 0; panel < PANELS; panel++) {
        int C = widths[panel % 2], segment = panel / 2, wrong = 0;
        printf("\n  %d channels%s\n  tokens   counted   16-byte states\n", C,
               segment == 1 ? ", checkpointed" : "");
        for (int B = 1; B <= LARGEST; B *= 2) {
            Crossing at = crossing_at(C, B, segment);
            meter_clear(&meter);
            ModelConfig config = shape_of(C, F32);
            printf("  %-6d   %+6.1f    %+6.1f\n", B * config.T, at.counted, at.sixteen);
            fprintf(numbers, "%d %.6f %.6f %.6f\n", B * config.T, at.counted, at.formula,
                    at.sixteen);
            wrong += !at.exact;
            done += B;
            meter_tell(&meter, done);
        }
        fprintf(numbers, "\n\n");
        meter_clear(&meter);
        printf("  saves from %d tokens on; %s\n", crossover(C, segment),
               wrong == 0 ? "every count equals its formula, to the byte"
                          : "the counts differ from the formulas");
    }
    int result = draw_crossover(path, numbers);
    fclose(numbers);
    return result;
}
