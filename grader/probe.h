/**
 * @file probe.h
 * @brief The probe: runs one case of a lab with the submission's objects, and hands back numbers.
 * @ingroup grader
 *
 * A program per lab: grader/probe.c, grader/labs/NN_topic/probe.c, the submission's objects, the
 * kit. It knows no expected value and gives no verdict. `make debug00 CHECK=name` starts the same
 * program in gdb.
 *
 *     static void params(const Wire *in, Wire *out) {
 *         const ModelConfig *config = ...from in...;
 *         *(uint64_t *)wire_get(out, "bytes", WIRE_U64, NULL) = bytes_params(config);
 *     }
 *     const ProbeCase probe_cases[] = {{"params", params}, {NULL, NULL}};
 */
#ifndef GRADER_PROBE_H
#define GRADER_PROBE_H

#include "common/device.h"
#include "grader/wire.h"

/** The status of a probe that ends by probe_lost(). */
enum { PROBE_LOST = 78 };

/** Runs a case: reads what is given, calls the hole, writes what is wanted. */
typedef void probe_case_fn(const Wire *in, Wire *out);

/** A case by name. */
typedef struct ProbeCase {
    const char *name;   /**< as the judge asks for it */
    probe_case_fn *run; /**< does it */
} ProbeCase;

/** The lab's cases, ended by one without a name; defined in grader/labs/NN_topic/probe.c. */
extern const ProbeCase probe_cases[];

/** A model's shape as it travels: the tensor "config" of check_give_config(). */
ModelConfig probe_config(const Wire *in);

/**
 * The device that the judge asks for: the GPU, or the CPU with an arena of that size. Where it
 * cannot be had, the probe ends.
 */
Device *probe_device(bool gpu, size_t arena);

/**
 * From here on `then` runs where the program is about to end before its case does: at a hole, a
 * crash, a CHECK that failed. After some seconds it also runs where the case has not ended yet, but
 * for the simulated GPU; it may return, and the program goes on as it would have. What was right
 * before a later task's mistake can be handed back there, with wire_finish() and _exit(0).
 */
void probe_when_cut_short(void (*then)(void));

/**
 * Ends the probe where what the submission has done leaves nothing to go on with: the check fails.
 *
 * @param sentence for the student, in one line; printf format
 */
_Noreturn void probe_lost(const char *sentence, ...) __attribute__((format(printf, 1, 2)));

/**
 * From here on an access to a range that the caller has closed (PROT_NONE) ends the probe as
 * probe_lost() does. Any other crash is reported as before. Called once.
 *
 * @param begin    the range
 * @param bytes    its length; parts of it may be open
 * @param sentence for the student; kept by address
 */
void probe_lost_in(const void *begin, size_t bytes, const char *sentence);

#endif
