/**
 * @file machine.h
 * @brief A declared machine: how fast each part of it is, and who says so.
 * @ingroup cudasim
 *
 * A file of machines/ has one JSON object: the machine's name, and for each member below, by its
 * name, `{"value": 320, "unit": "GB/s", "source": "..."}`.
 */
#ifndef CUDASIM_CLOCK_MACHINE_H
#define CUDASIM_CLOCK_MACHINE_H

#include "cudasim/include/cudasim_record.h"

/** The rates and numbers of a machine. */
typedef struct Machine {
    char name[100];     /**< "NVIDIA T4" */
    double memory;      /**< a device's own memory, reading and writing together [bytes/s] */
    double f32;         /**< floats [FLOP/s] */
    double tf32;        /**< products of rounded floats [FLOP/s] */
    double f16;         /**< products of halves, sums in float [FLOP/s] */
    double bf16;        /**< products of bf16, sums in float [FLOP/s] */
    double to_device;   /**< the bus, from the host [bytes/s] */
    double from_device; /**< the bus, to the host [bytes/s] */
    double link;        /**< from a device to others of its node, each way [bytes/s] */
    double network;     /**< from a device to other nodes, each way [bytes/s] */
    double launch;      /**< of the host, for each launch, copy, fill or collective [s] */
    double floor;       /**< the least that a kernel takes [s] */
    int kernels;        /**< of a device that run at the same time, at most */
    int copy_engines;   /**< 2: copies to and from the device at the same time; 1: not so */
    int node;           /**< devices of a node */
} Machine;

/**
 * Reads a machine.
 *
 * @param[out] machine left alone where the file is not good
 * @param      path    of the file
 * @return whether it is good; else there is a line on stderr
 */
bool machine_load(Machine *machine, const char *path);

#endif
