/**
 * @file protocol.h
 * @brief What the judge and the probes of lab 10 say to each other.
 * @ingroup grader
 *
 * "config" is that of the model with its adapter, "seed" that of its weights.
 */
#ifndef GRADER_LABS_10_LORA_PROTOCOL_H
#define GRADER_LABS_10_LORA_PROTOCOL_H

#include "common/model.h"
#include "grader/wire.h"

/** "options" of a single layer. */
enum {
    LAYER_GPU,   /**< on the GPU */
    LAYER_AT,    /**< its block */
    LAYER_ID,    /**< LinearId */
    LAYER_B,     /**< sequences */
    LAYER_T,     /**< tokens */
    LAYER_TRAIN, /**< whether the pass trains */
    LAYER_NUMBERS,
};

/** The place in the stream, and the probability, of the mask that an earlier run of a layer has
    left in its Linear. */
enum { LEFT_OFFSET = 2 };
#define LEFT_P 0.5f

/** Bytes of scratch, in "scratch" of the case "measured": the most of all layers, in forward and
    after it in backward. */
enum {
    SCRATCH_BEYOND = 0, /**< bytes beyond those of the contract */
    SCRATCH_OTHER = 2,  /**< bytes of another kind than activations */
    SCRATCH_LEFT = 4,   /**< bytes that are still taken when the layer has run */
    SCRATCH_NUMBERS = 6,
};

/** A call of lora_merge() in the case "merge". */
typedef struct MergeStep {
    bool others; /**< the adapters that are given as "others" */
    int sign;
} MergeStep;

/** In, "merged"; out again, "taken out"; in, another one beside it, and the first one out while the
    other stays, "swapped". */
#define MERGE_STEPS                                                                                \
    {                                                                                              \
        {false, 1}, {false, -1}, {false, 1}, {true, 1}, {                                          \
            false, -1                                                                              \
        }                                                                                          \
    }
enum { MERGES = 5 };

/** "how" of the case "merge once": another model with the same weights. */
enum {
    HOW_GPU,       /**< on the GPU */
    HOW_PRECISION, /**< Precision */
    HOW_TARGETS,   /**< of its adapters */
    HOW_NUMBERS,
};

/** Beside the next seed, "init" is asked for one of which the lower 32 bits are the same. */
#define FAR_SEED ((uint64_t)1 << 40)

/** "options" of a run of a model. */
enum {
    RUN_GPU,     /**< on the GPU */
    RUN_PASSES,  /**< micro-batches */
    RUN_WINDOW,  /**< of these to an update */
    RUN_FRESH,   /**< adapters by lora_init(); else they are given as "adapters" */
    RUN_SEGMENT, /**< blocks between two kept inputs, in the case "again": lab 04 */
    RUN_DROP,    /**< inputs are dropped as lora_dropped() says */
    RUN_NUMBERS,
};

/** Bytes of a name that adapter_targets() is asked about, of a content of a file, and of the name
    of a matrix in a file. */
enum { TARGET_BYTES = 64, CONTENT_BYTES = 1024, NAME_ROOM = 96 };

/** Numbers that adapter_config_read() gives back: whether it was accepted, rank, targets, whether
    it wrote the adapter, a ReadReason, and whether all of the content is as it was. */
enum { READ_WRITTEN = 3, READ_REASON, READ_KEPT, READ_NUMBERS };

/** The text of a refusal. */
typedef enum ReadReason {
    REASON_GOOD,  /**< a text */
    REASON_EMPTY, /**< nothing */
    REASON_GONE,  /**< a text that goes with the content */
} ReadReason;

/** Flags of "made": the case "names", and the case "content". */
enum {
    MADE_ELSEWHERE = 1, /**< a name is returned in another place than `text` */
    MADE_BEYOND = 2,    /**< something is written beyond `text` */
    MADE_SHARED = 1,    /**< a part of the JSON has a reference more than the object has */
    MADE_LEFT = 4,      /**< something stays on the heap when the JSON is gone */
};

/** The folder that is there, in probe_files.c, and one that is not. The path of the first is longer
    than a buffer that one might think to be enough. */
#define FOLDER_FIFTY "a-folder-with-a-long-name-as-a-sweep-writes-them--"
#define FOLDER_HUNDRED FOLDER_FIFTY FOLDER_FIFTY
#define FOLDER_HERE "runs/" FOLDER_HUNDRED "/" FOLDER_HUNDRED "/" FOLDER_HUNDRED "/adapter"
#define FOLDER_NONE "runs/nothing"

/** "load" of its case "load". A result is that of the function, as an int. */
enum {
    LOAD_RESULT, /**< from a file with all matrices */
    LOAD_SHORT,  /**< from one that lacks the last */
    LOAD_ABSENT, /**< from a folder that is not there */
    LOAD_LEFT,   /**< bytes that a load of one of these leaves on the heap, the most */
    LOAD_NUMBERS,
};

/** "save" of its case "save". */
enum {
    SAVE_RESULT,    /**< into a folder that is there */
    SAVE_CONFIG,    /**< how often it wrote adapter_config.json there */
    SAVE_WEIGHTS,   /**< how often adapter_model.safetensors */
    SAVE_ELSEWHERE, /**< how often another file */
    SAVE_ALL,       /**< whether that was all matrices, in their order */
    SAVE_NAMED,     /**< whether they have the names of adapter_name() */
    SAVE_NO_FOLDER, /**< the result where the folder is not there */
    SAVE_FULL,      /**< and where only adapter_config.json has room */
    SAVE_NO_CONFIG, /**< and where only the matrices have */
    SAVE_LEFT,      /**< bytes that one of these leaves on the heap, the most */
    SAVE_NUMBERS,
};

/** "load config" of its case of that name: three reads, of a content that is good, of one that is
    not, and of a file that is not there. */
enum {
    LOAD_CONFIG_RESULT,  /**< of the function */
    LOAD_CONFIG_LINES,   /**< on stderr */
    LOAD_CONFIG_WRITTEN, /**< whether the adapter is another than before */
    LOAD_CONFIG_LEFT,    /**< bytes that each read leaves on the heap */
    LOAD_CONFIG_NUMBERS,
    LOAD_CONFIGS = 3,
};

/** Numbers of all matrices in a list, end to end. */
size_t protocol_numbers(const Param *params, int count);

/** "A of h.1.attn.c_attn": the matrix `which`, 0 for A, 1 for B. @return name */
const char *protocol_name(char name[WIRE_NAME], const char *what, int layer, LinearId id,
                          int which);

#endif
