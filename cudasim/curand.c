#include <stdarg.h>

#include "curand.h"

#include "cudasim_record.h"
#include "curand_draw.h"
#include "fill.h"
#include "graph.h"
#include "host_heap.h"
#include "queue.h"

/* cuRAND's generators for the host. Numbers are drawn when a call asks for them, since the order of
   calls says which ones they are; a device's memory has them when the stream runs. */

struct curandGenerator_st {
    bool on_host;
    bool philox;
    int device; /* that was current when it was made */
    Place made;
    cudaStream_t stream;
    Sequence *sequence;
};

/* Numbers on their way. */
typedef struct DrawnNumbers {
    void *to;
    size_t bytes;
    void *numbers; /* owned; NULL in a dry run */
} DrawnNumbers;

/* ---- what is wrong --------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static curandStatus_t
wrong(curandStatus_t status, const char *call, Place place, const char *format, ...) {
    char text[300];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    sim_report("cuRAND argument", "%s at %s:%d: %s", call, sim_file(place), place.line, text);
    return status;
}

/* Whether a call may go on with this generator. */
static curandStatus_t known(const char *call, Place place, curandGenerator_t generator) {
    if (!sim_handle_exists(generator, "generator", call, place)) {
        sim_detail("curandCreateGenerator(&generator, ...) makes one, "
                   "curandDestroyGenerator(generator) ends it");
        return CURAND_STATUS_NOT_INITIALIZED;
    }
    return sim_device_error() == cudaSuccess ? CURAND_STATUS_SUCCESS
                                             : CURAND_STATUS_PREEXISTING_FAILURE;
}

static curandStatus_t check_device(const char *call, Place place, curandGenerator_t generator,
                                   int device, const char *who) {
    if (generator->on_host || device == generator->device) {
        return CURAND_STATUS_SUCCESS;
    }
    wrong(CURAND_STATUS_LAUNCH_FAILURE, call, place, "the generator is of device %d, and %s %d",
          generator->device, who, device);
    sim_detail("the generator was created at %s:%d: each device needs its own",
               sim_file(generator->made), generator->made.line);
    return CURAND_STATUS_LAUNCH_FAILURE;
}

/* ---- generators ------------------------------------------------------------------------------ */

static curandStatus_t check_type(const char *call, Place place, curandRngType_t type) {
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        return CURAND_STATUS_SUCCESS;
    case CURAND_RNG_TEST:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        sim_report("unsupported",
                   "%s at %s:%d: generator %d of cuRAND; there are CURAND_RNG_PSEUDO_DEFAULT, "
                   "..._XORWOW and ..._PHILOX4_32_10",
                   call, sim_file(place), place.line, (int)type);
        return CURAND_STATUS_TYPE_ERROR;
    }
    return wrong(CURAND_STATUS_TYPE_ERROR, call, place, "%d is not a kind of generator", (int)type);
}

static curandStatus_t create(const char *call, Place place, curandGenerator_t *generator,
                             curandRngType_t type, bool on_host) {
    if (generator == NULL) {
        return wrong(CURAND_STATUS_NOT_INITIALIZED, call, place,
                     "NULL instead of a generator's address");
    }
    curandStatus_t status = check_type(call, place, type);
    if (status == CURAND_STATUS_SUCCESS) {
        bool philox = type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
        *generator = sim_realloc(NULL, sizeof **generator);
        **generator = (struct curandGenerator_st){.on_host = on_host,
                                                  .philox = philox,
                                                  .device = sim_device(),
                                                  .made = place,
                                                  .sequence = sequence_new(philox)};
        sim_handle_made(*generator, call, place);
    }
    return status;
}

curandStatus_t cudasim_curand_create_generator(const char *file, int line,
                                               curandGenerator_t *generator, curandRngType_t type) {
    ENTER("curandCreateGenerator", file, line);
    return create("curandCreateGenerator", (Place){file, line}, generator, type, false);
}

curandStatus_t cudasim_curand_create_generator_host(const char *file, int line,
                                                    curandGenerator_t *generator,
                                                    curandRngType_t type) {
    ENTER("curandCreateGeneratorHost", file, line);
    return create("curandCreateGeneratorHost", (Place){file, line}, generator, type, true);
}

static void release_generator(void *generator) {
    sequence_free(((curandGenerator_t)generator)->sequence);
    free(generator);
}

curandStatus_t cudasim_curand_destroy_generator(const char *file, int line,
                                                curandGenerator_t generator) {
    ENTER("curandDestroyGenerator", file, line);
    Place place = {file, line};
    curandStatus_t status = known("curandDestroyGenerator", place, generator);
    if (status != CURAND_STATUS_NOT_INITIALIZED) {
        sim_handle_ended(generator, "curandDestroyGenerator", place, release_generator);
    }
    return status;
}

curandStatus_t curandGetVersion(int *version) {
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType part, int *value) {
    static const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (part > PATCH_LEVEL) {
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    *value = parts[part];
    return CURAND_STATUS_SUCCESS;
}

/* ---- settings -------------------------------------------------------------------------------- */

curandStatus_t cudasim_curand_set_pseudo_random_generator_seed(const char *file, int line,
                                                               curandGenerator_t generator,
                                                               unsigned long long seed) {
    static const char call[] = "curandSetPseudoRandomGeneratorSeed";
    ENTER(call, file, line);
    curandStatus_t status = known(call, (Place){file, line}, generator);
    if (status == CURAND_STATUS_SUCCESS) {
        sequence_seed(generator->sequence, seed);
    }
    return status;
}

curandStatus_t cudasim_curand_set_generator_offset(const char *file, int line,
                                                   curandGenerator_t generator,
                                                   unsigned long long offset) {
    static const char call[] = "curandSetGeneratorOffset";
    ENTER(call, file, line);
    curandStatus_t status = known(call, (Place){file, line}, generator);
    if (status == CURAND_STATUS_SUCCESS) {
        sequence_offset(generator->sequence, offset);
    }
    return status;
}

curandStatus_t cudasim_curand_set_generator_ordering(const char *file, int line,
                                                     curandGenerator_t generator,
                                                     curandOrdering_t order) {
    static const char call[] = "curandSetGeneratorOrdering";
    ENTER(call, file, line);
    curandStatus_t status = known(call, (Place){file, line}, generator);
    bool pseudo = order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    if (status == CURAND_STATUS_SUCCESS && !pseudo) {
        return wrong(CURAND_STATUS_OUT_OF_RANGE, call, (Place){file, line},
                     "order %d is not one of a pseudorandom generator", (int)order);
    }
    if (status == CURAND_STATUS_SUCCESS && order == CURAND_ORDERING_PSEUDO_SEEDED &&
        generator->philox) {
        return wrong(CURAND_STATUS_OUT_OF_RANGE, call, (Place){file, line},
                     "CURAND_ORDERING_PSEUDO_SEEDED is an order of XORWOW, and this is Philox");
    }
    return status;
}

curandStatus_t cudasim_curand_set_stream(const char *file, int line, curandGenerator_t generator,
                                         cudaStream_t stream) {
    static const char call[] = "curandSetStream";
    ENTER(call, file, line);
    Place place = {file, line};
    curandStatus_t status = known(call, place, generator);
    if (status != CURAND_STATUS_SUCCESS) {
        return status;
    }
    int slot = sim_stream_slot(stream, call, place);
    if (slot < 0) {
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    if (stream != NULL) {
        status =
            check_device(call, place, generator, queue_of(slot)->device, "the stream of device");
    }
    generator->stream = status == CURAND_STATUS_SUCCESS ? stream : generator->stream;
    return status;
}

/* ---- a device's numbers ---------------------------------------------------------------------- */

static void run(void *context) {
    const DrawnNumbers *drawn = context;
    if (!sim_settings.dry) {
        fill_touch(drawn->to, drawn->bytes);
        memcpy(drawn->to, drawn->numbers, drawn->bytes);
    }
}

static void release_drawn(void *context) {
    free(((DrawnNumbers *)context)->numbers);
    free(context);
}

static void entered(void *context, const Operation *operation) {
    const DrawnNumbers *drawn = context;
    sim_guard(drawn->to, drawn->bytes, true, operation);
}

static void account(const void *context, CudasimEntry *entry) {
    entry->kind = CUDASIM_FILL;
    entry->bytes = (double)((const DrawnNumbers *)context)->bytes;
}

static bool good_device_output(const char *call, Place place, const void *output, size_t bytes,
                               int slot) {
    if (!fill_reaches(output)) {
        wrong(CURAND_STATUS_LAUNCH_FAILURE, call, place,
              "the output is %p, a HOST pointer, and the generator is the device's", output);
        if (!variable_detail(output)) {
            sim_detail("give it memory from cudaMalloc, or make the generator by "
                       "curandCreateGeneratorHost()");
        }
        return false;
    }
    const Allocation *a = sim_allocation(output);
    return fill_holds(call, "output", output, bytes, slot, place) &&
           (a == NULL || a->pinned || sim_kernel_may_use(a, slot, call, place));
}

static curandStatus_t fill_device(const char *call, Place place, curandGenerator_t generator,
                                  const Law *law, void *output, size_t count, size_t bytes) {
    int slot;
    if (check_device(call, place, generator, sim_device(), "the current device is") !=
            CURAND_STATUS_SUCCESS ||
        sim_may_submit(generator->stream, call, place, &slot) != cudaSuccess ||
        !good_device_output(call, place, output, bytes, slot)) {
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    DrawnNumbers *drawn = sim_realloc(NULL, sizeof *drawn);
    *drawn = (DrawnNumbers){.to = output, .bytes = bytes};
    if (!sim_settings.dry) {
        drawn->numbers = sim_realloc(NULL, bytes);
        sequence_draw(generator->sequence, law, drawn->numbers, count);
    }
    sim_submit(generator->stream, (Work){.what = call,
                                         .place = place,
                                         .run = run,
                                         .release = release_drawn,
                                         .context = drawn,
                                         .entered = entered,
                                         .account = account});
    return CURAND_STATUS_SUCCESS;
}

/* ---- the host's numbers ---------------------------------------------------------------------- */

static bool good_host_output(const char *call, Place place, const void *output, size_t bytes) {
    const Allocation *a = sim_allocation(output);
    if (sim_on_device(output) && (a == NULL || !a->managed)) {
        wrong(CURAND_STATUS_LAUNCH_FAILURE, call, place,
              "the output is %p, a DEVICE pointer, and the generator is the host's", output);
        sim_detail("give it memory of the host, or make the generator by curandCreateGenerator()");
        sim_detail_address(output);
        return false;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, output,", call);
    if (a != NULL) {
        return sim_check_range(what, output, bytes, place.file, place.line);
    }
    if (bytes > host_room(output)) {
        sim_report("out-of-bounds access", "%s at %s:%d: the output has %zu bytes, the numbers %zu",
                   call, sim_file(place), place.line, host_room(output), bytes);
        sim_detail("the count is in numbers, not in bytes");
        return false;
    }
    return true;
}

static curandStatus_t fill_host(const char *call, Place place, curandGenerator_t generator,
                                const Law *law, void *output, size_t count, size_t bytes) {
    if (!good_host_output(call, place, output, bytes)) {
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    sequence_draw(generator->sequence, law, output, count);
    return CURAND_STATUS_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static curandStatus_t check_output(const char *call, Place place, const Law *law,
                                   const void *output, size_t count) {
    if (count > SIZE_MAX / law_bytes(law)) {
        wrong(CURAND_STATUS_LAUNCH_FAILURE, call, place, "%zu numbers fit into no memory", count);
        sim_detail("as a signed number that is %td: a count that was worked out in ints?",
                   (ptrdiff_t)count);
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    if (count % law_numbers(law) != 0) {
        wrong(CURAND_STATUS_LENGTH_NOT_MULTIPLE, call, place,
              "%zu is odd, and normal numbers come in pairs", count);
        sim_detail("ask for one more, and give it memory for that");
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    }
    if (output == NULL) {
        sim_report("null pointer", "%s at %s:%d: the output is NULL", call, sim_file(place),
                   place.line);
        return CURAND_STATUS_LAUNCH_FAILURE;
    }
    if ((uintptr_t)output % law_bytes(law) != 0) {
        return wrong(CURAND_STATUS_LAUNCH_FAILURE, call, place,
                     "the output is %p, which is not an address of a number of %zu bytes", output,
                     law_bytes(law));
    }
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t generate(const char *call, Place place, curandGenerator_t generator, Law law,
                               void *output, size_t count) {
    curandStatus_t status = known(call, place, generator);
    if (status != CURAND_STATUS_SUCCESS || count == 0) {
        return status;
    }
    status = check_output(call, place, &law, output, count);
    if (status != CURAND_STATUS_SUCCESS) {
        return status;
    }
    size_t bytes = count * law_bytes(&law);
    return (generator->on_host ? fill_host : fill_device)(call, place, generator, &law, output,
                                                          count, bytes);
}

curandStatus_t cudasim_curand_generate(const char *file, int line, curandGenerator_t generator,
                                       unsigned *output, size_t num) {
    ENTER("curandGenerate", file, line);
    return generate("curandGenerate", (Place){file, line}, generator, (Law){.kind = WORDS}, output,
                    num);
}

curandStatus_t cudasim_curand_generate_long_long(const char *file, int line,
                                                 curandGenerator_t generator,
                                                 unsigned long long *output, size_t num) {
    ENTER("curandGenerateLongLong", file, line);
    (void)output, (void)num;
    Place place = {file, line};
    curandStatus_t status = known("curandGenerateLongLong", place, generator);
    if (status == CURAND_STATUS_SUCCESS) {
        status = wrong(CURAND_STATUS_TYPE_ERROR, "curandGenerateLongLong", place,
                       "numbers of 64 bits come from Sobol generators of 64 bits alone");
        sim_detail("curandGenerate() of twice as many fills them with random bits");
    }
    return status;
}

curandStatus_t cudasim_curand_generate_uniform(const char *file, int line,
                                               curandGenerator_t generator, float *output,
                                               size_t num) {
    ENTER("curandGenerateUniform", file, line);
    return generate("curandGenerateUniform", (Place){file, line}, generator, (Law){.kind = UNIFORM},
                    output, num);
}

curandStatus_t cudasim_curand_generate_uniform_double(const char *file, int line,
                                                      curandGenerator_t generator, double *output,
                                                      size_t num) {
    ENTER("curandGenerateUniformDouble", file, line);
    return generate("curandGenerateUniformDouble", (Place){file, line}, generator,
                    (Law){.kind = UNIFORM_DOUBLE}, output, num);
}

curandStatus_t cudasim_curand_generate_normal(const char *file, int line,
                                              curandGenerator_t generator, float *output,
                                              size_t num, float mean, float deviation) {
    ENTER("curandGenerateNormal", file, line);
    return generate("curandGenerateNormal", (Place){file, line}, generator,
                    (Law){NORMAL, (double)mean, (double)deviation}, output, num);
}

curandStatus_t cudasim_curand_generate_normal_double(const char *file, int line,
                                                     curandGenerator_t generator, double *output,
                                                     size_t num, double mean, double deviation) {
    ENTER("curandGenerateNormalDouble", file, line);
    return generate("curandGenerateNormalDouble", (Place){file, line}, generator,
                    (Law){NORMAL_DOUBLE, mean, deviation}, output, num);
}

curandStatus_t cudasim_curand_generate_log_normal(const char *file, int line,
                                                  curandGenerator_t generator, float *output,
                                                  size_t num, float mean, float deviation) {
    ENTER("curandGenerateLogNormal", file, line);
    return generate("curandGenerateLogNormal", (Place){file, line}, generator,
                    (Law){LOG_NORMAL, (double)mean, (double)deviation}, output, num);
}

curandStatus_t cudasim_curand_generate_log_normal_double(const char *file, int line,
                                                         curandGenerator_t generator,
                                                         double *output, size_t num, double mean,
                                                         double deviation) {
    ENTER("curandGenerateLogNormalDouble", file, line);
    return generate("curandGenerateLogNormalDouble", (Place){file, line}, generator,
                    (Law){LOG_NORMAL_DOUBLE, mean, deviation}, output, num);
}

curandStatus_t cudasim_curand_generate_poisson(const char *file, int line,
                                               curandGenerator_t generator, unsigned *output,
                                               size_t num, double lambda) {
    ENTER("curandGeneratePoisson", file, line);
    Place place = {file, line};
    if (!(lambda > 0 && lambda <= 400000)) {
        return wrong(CURAND_STATUS_OUT_OF_RANGE, "curandGeneratePoisson", place,
                     "lambda is %g; it must be above 0, and at most 400000", lambda);
    }
    return generate("curandGeneratePoisson", place, generator, (Law){POISSON, lambda, 0}, output,
                    num);
}
