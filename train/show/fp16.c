/* Three pictures of lab 05, with the numbers that they are drawn from:

       fp16 histogram FOLDER    how small gradients are, and what fp16 makes of them
       fp16 frozen FOLDER       training without float masters
       fp16 crossover FOLDER    where half costs memory instead of saving it
 */
#include "train/show/fp16.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/files.h"
#include "train/techniques.h"

static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

void setup_open(Setup *setup, const ModelConfig *config, float learning_rate) {
    setup->device = device_cpu_new(0);
    if (setup->device == NULL) {
        exit(EXIT_RUN);
    }
    setup->memory = memory_new(setup->device, (MemoryOptions){0});
    setup->trainer = (Trainer){
        .model = model_new(config, setup->memory, 1),
        .max_grad_norm = 1,
        .schedule = {.decay = DECAY_CONSTANT, .learning_rate = learning_rate, .max_steps = 1}};
    setup->trainer.optimizer = optimizer_new(setup->trainer.model, adamw);
    if (config->precision != F32) {
        mixed_init(&setup->mixed, config->precision);
        setup->trainer.mixed = &setup->mixed;
    }
    techniques_set(&setup->trainer);
}

void setup_close(Setup *setup) {
    optimizer_free(setup->trainer.optimizer);
    model_free(setup->trainer.model);
    memory_free(setup->memory);
    device_free(setup->device);
}

Data *setup_text(int B, int T) {
    Data *data = data_new((DataOptions){.path = "common/data/kit.txt", .B = B, .T = T, .seed = 1});
    if (data == NULL) {
        exit(EXIT_USAGE);
    }
    return data;
}

Batch setup_next(Data *data) {
    Batch batch;
    while (!data_next(data, &batch)) {
        data_next_epoch(data);
    }
    return batch;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*show)(const char *path);
    } shows[] = {
        {"histogram", show_histogram}, {"frozen", show_frozen}, {"crossover", show_crossover}};
    for (size_t i = 0; argc == 3 && i < sizeof shows / sizeof *shows; i++) {
        if (strcmp(argv[1], shows[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "fp16-%s.svg", shows[i].name);
            char *path = path_join(argv[2], name);
            int result = folder_make(argv[2]) == 0 ? shows[i].show(path) : -1;
            if (result == 0) {
                printf("\nPicture: %s\n", path);
            }
            free(path);
            return stdout_flush() == 0 && result == 0 ? 0 : EXIT_RUN;
        }
    }
    fprintf(stderr, "usage: %s histogram|frozen|crossover FOLDER\n", argv[0]);
    return EXIT_USAGE;
}
