/**
 * @file engine.h
 * @brief The kernels that run on a device, and how they share it.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_ENGINE_H
#define CUDASIM_CLOCK_ENGINE_H

#include "cudasim/clock/machine.h"

/** A kernel that runs. */
typedef struct Running {
    int entry;         /**< index in the record */
    double left;       /**< seconds that it would still take by itself */
    double memory;     /**< share of the memory's rate that it uses by itself, 0 to 1 */
    double arithmetic; /**< the same of arithmetic */
    double speed;      /**< 1: as if by itself */
    double finish;     /**< when it is over, if nothing changes [s] */
} Running;

/** The arithmetic of one device. */
typedef struct Engine {
    Running *running; /**< (count) */
    int count;        /**< kernels that run */
    int room;         /**< of running */
    double since;     /**< up to when `left` is known [s] */
    double busy;      /**< during which some kernel ran [s] */
    unsigned plan;    /**< counts the plans: an announced finish is void if there is a later one */
} Engine;

/** Seconds that an entry takes on a device by itself. */
double engine_seconds(const CudasimEntry *entry, const Machine *machine);

/** A kernel begins. Call engine_plan() when all that begin now have begun. */
void engine_add(Engine *engine, const Machine *machine, const CudasimEntry *entry, int index,
                double now);

/** Takes away the kernels that are over: up to `most` indices; returns how many there were. */
int engine_finished(Engine *engine, double now, int *index, int most);

/** Shares the device among those that run. @return when the next is over; -1 if none runs */
double engine_plan(Engine *engine);

#endif
