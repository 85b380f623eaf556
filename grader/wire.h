/**
 * @file wire.h
 * @brief Named tensors between the judge and the probe: bytes at planned places, and nothing else.
 * @ingroup grader
 *
 * The judge plans two tables, one of what it gives and one of what it wants back. Each lies in a
 * sealed memory file: a header, entries, then the data, each tensor between guards. The probe maps
 * both and writes into the second. The judge never believes what it reads there about places and
 * sizes: it keeps its own plan, and copies the bytes once the probe and all its descendants are
 * dead.
 */
#ifndef GRADER_WIRE_H
#define GRADER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The type of an element. */
typedef enum WireType {
    WIRE_F32,   /**< float */
    WIRE_F64,   /**< double */
    WIRE_I32,   /**< int32_t */
    WIRE_U64,   /**< uint64_t */
    WIRE_BYTES, /**< bytes, half numbers */
} WireType;

enum {
    WIRE_NAME = 48,    /**< bytes of a name with its NUL */
    WIRE_GUARD = 4096, /**< bytes before and after each tensor */
    WIRE_MOST = 1024,  /**< tensors of one table */
    WIRE_FILL = 0xFF,  /**< what wanted tensors hold before the probe writes: NaN */
    WIRE_IN = 3,       /**< descriptor of what is given, in the probe */
    WIRE_OUT = 4,      /**< descriptor of what is wanted, in the probe */
    WIRE_EVENTS = 5,   /**< descriptor of a pipe: what is counted, line by line, as it happens */
    WIRE_BESIDE = 6,   /**< descriptor of the program beside the probe, where there is one */
};

/** One tensor. */
typedef struct WireEntry {
    char name[WIRE_NAME]; /**< "wte.weight" */
    uint32_t type;        /**< WireType */
    uint32_t unused;      /**< zero */
    uint64_t count;       /**< elements */
    uint64_t offset;      /**< bytes from the file's beginning */
} WireEntry;

/** A table in memory. */
typedef struct Wire {
    WireEntry entry[WIRE_MOST]; /**< the plan */
    int entries;                /**< how many */
    size_t bytes;               /**< of the file */
    unsigned char *data;        /**< the mapped file (probe), or a private copy (judge) */
} Wire;

/* ---- the judge ------------------------------------------------------------------------------- */

/** An empty table. To be given to wire_free(). */
Wire *wire_new(void);

/** Frees a table. NULL is fine. */
void wire_free(Wire *wire);

/**
 * Plans a tensor.
 *
 * @param wire   the table
 * @param name   unique in it
 * @param type   of its elements
 * @param values (count) copied; NULL for one that the probe will write
 * @param count  elements; 0 is fine
 */
void wire_add(Wire *wire, const char *name, WireType type, const void *values, size_t count);

/** Other values for a tensor that was planned with some: as many, of the same type. */
void wire_change(Wire *wire, const char *name, WireType type, const void *values, size_t count);

/**
 * Makes the memory file of a table: header, entries, data or WIRE_FILL, guards. Its size is sealed;
 * with `constant` its contents are too.
 *
 * @return descriptor, or -1 after a line on stderr
 */
int wire_file(const Wire *wire, bool constant);

/** Writes the table into a file of that name: what wire_file() holds, for a debugger's probe. */
bool wire_save(const Wire *wire, const char *path);

/** Copies the data of a file back into the table, by the judge's own plan. False if it cannot. */
bool wire_fetch(Wire *wire, int descriptor);

/** Fills the whole table with WIRE_FILL again, as before the first run: no run finds the results of
 * one before it. */
void wire_blank(Wire *wire);

/** Whether all guards of a fetched table still hold WIRE_FILL; else *name is whose do not. */
bool wire_guards(const Wire *wire, const char **name);

/** Whether the probe has finished and said so. */
bool wire_done(const Wire *wire);

/* ---- both ------------------------------------------------------------------------------------ */

/**
 * A tensor of the table. Ends the program if there is none of that name and type.
 *
 * @param      wire  a table that was opened or fetched
 * @param      name  of the tensor
 * @param      type  that it must have
 * @param[out] count elements; may be NULL
 */
void *wire_get(const Wire *wire, const char *name, WireType type, size_t *count);

/** Whether there is a tensor of that name, type and number of elements. */
bool wire_has(const Wire *wire, const char *name, WireType type, size_t count);

/* ---- the probe ------------------------------------------------------------------------------- */

/** Maps the table of a descriptor. Ends the program if it cannot. */
Wire *wire_open(int descriptor, bool writable);

/** Says that all that was wanted is there. */
void wire_finish(Wire *wire);

/** The case of a probe that prints the lines of addresses, which a run before it was left with. */
#define PROBE_LINES "lines"

#endif
