/* Kernels that share a device. The contract is in engine.h. */
#include "cudasim/clock/engine.h"

#include "cudasim/clock/memory.h"

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* ---- one by itself --------------------------------------------------------------------------- */

/* Bytes as noted; of a launch without a note, as counted. A copy within the device counts twice. */
static double bytes_of(const CudasimEntry *e) {
    if (e->kind == CUDASIM_COPY) {
        return 2 * e->bytes;
    }
    bool counted = e->op == NULL && e->kind == CUDASIM_LAUNCH && e->read >= 0;
    return counted ? e->read + e->written : e->bytes;
}

static double rate_of(const Machine *machine, CudasimPrecision precision) {
    switch (precision) {
    case CUDASIM_TF32:
        return machine->tf32;
    case CUDASIM_F16:
        return machine->f16;
    case CUDASIM_BF16:
        return machine->bf16;
    default:
        return machine->f32;
    }
}

double engine_seconds(const CudasimEntry *e, const Machine *machine) {
    double seconds =
        larger(bytes_of(e) / machine->memory, e->flops / rate_of(machine, e->precision));
    return larger(seconds, machine->floor);
}

/* ---- together -------------------------------------------------------------------------------- */

static void advance(Engine *engine, double now) {
    for (int i = 0; i < engine->count; i++) {
        engine->running[i].left -= engine->running[i].speed * (now - engine->since);
    }
    engine->busy += engine->count > 0 ? now - engine->since : 0;
    engine->since = now;
}

void engine_add(Engine *engine, const Machine *machine, const CudasimEntry *e, int index,
                double now) {
    double alone = engine_seconds(e, machine);
    advance(engine, now);
    engine->running =
        clock_grow(engine->running, engine->count, &engine->room, sizeof *engine->running);
    engine->running[engine->count++] =
        (Running){.entry = index,
                  .left = alone,
                  .memory = bytes_of(e) / machine->memory / alone,
                  .arithmetic = e->flops / rate_of(machine, e->precision) / alone};
}

/* In the order in which they began. */
int engine_finished(Engine *engine, double now, int *index, int most) {
    int finished = 0, kept = 0;
    advance(engine, now);
    for (int i = 0; i < engine->count; i++) {
        if (engine->running[i].finish <= now && finished < most) {
            index[finished++] = engine->running[i].entry;
        } else {
            engine->running[kept++] = engine->running[i];
        }
    }
    engine->count = kept;
    return finished;
}

/* Where several would together exceed a rate, all that use it slow down alike. */
double engine_plan(Engine *engine) {
    double memory = 0, arithmetic = 0, next = -1;
    for (int i = 0; i < engine->count; i++) {
        memory += engine->running[i].memory;
        arithmetic += engine->running[i].arithmetic;
    }
    for (int i = 0; i < engine->count; i++) {
        Running *r = &engine->running[i];
        double crowd = larger(r->memory > 0 ? memory : 0, r->arithmetic > 0 ? arithmetic : 0);
        r->speed = 1 / larger(1, crowd);
        r->finish = engine->since + larger(r->left, 0) / r->speed;
        next = next < 0 || r->finish < next ? r->finish : next;
    }
    engine->plan++;
    return next;
}
