#include "device.h"
#include "rank.h"

/* __device__ and __constant__ variables: each device has a copy, which is in place while its work
   runs; of each rank that uses it, as processes have. All begin with what the program was loaded
   with, those of ranks with what is there when the rank first uses the device. */

/* Where cu2cpp puts the records; absent if there are none. */
extern cudasim_variable __start_cudasim_variables[] __attribute__((weak));
extern cudasim_variable __stop_cudasim_variables[] __attribute__((weak));

/* Where it puts the `__constant__` ones. */
extern char __start_cudasim_constant[] __attribute__((weak));
extern char __stop_cudasim_constant[] __attribute__((weak));

bool in_constants(const char *p) {
    return p >= __start_cudasim_constant && p < __stop_cudasim_constant;
}

size_t constant_bytes(void) {
    return (size_t)(__stop_cudasim_constant - __start_cudasim_constant);
}

static char *copies[MOST_DEVICES][MOST_RANKS + 1]; /* [device][rank + 1]; NULL: not yet used */
static char **in_place = &copies[0][NO_RANK + 1];  /* whose values are there */
static char *at_first;                             /* NULL: the program has one device */

/* Those whose address the program has asked for. &x of another is on a GPU none of the device. */
static cudasim_variable *addressed;
static size_t addressed_count;

bool variable_addressed(const void *begin, size_t bytes) {
    bool first = variable_at(begin) == NULL;
    if (first) {
        addressed = sim_realloc(addressed, (addressed_count + 1) * sizeof *addressed);
        addressed[addressed_count++] = (cudasim_variable){(void *)(uintptr_t)begin, bytes, NULL};
    }
    return first;
}

/* Other ranks may have added theirs since. */
void variable_forget(const void *begin) {
    for (size_t i = addressed_count; i-- > 0;) {
        if (addressed[i].begin == begin) {
            addressed[i] = addressed[--addressed_count];
            return;
        }
    }
}

cudaError_t cudasim_symbol(const char *file, int line, const char *call, const char *name,
                           const void *begin, size_t bytes) {
    ENTER(call, file, line);
    Place place = {file, line};
    if (!variable_is_symbol(call, name, begin, place)) {
        return sim_error(cudaErrorInvalidSymbol, call, place, false);
    }
    variable_addressed(begin, bytes);
    return cudaSuccess;
}

const cudasim_variable *variable_at(const volatile void *p) {
    for (cudasim_variable *v = addressed; v < addressed + addressed_count; v++) {
        if ((uintptr_t)p - (uintptr_t)v->begin < v->bytes) {
            return v;
        }
    }
    return NULL;
}

bool variable_holds(const char *what, const void *p, size_t bytes, Place place) {
    const cudasim_variable *v = variable_at(p);
    size_t room = v->bytes - (size_t)((const char *)p - (const char *)v->begin);
    if (bytes > room) {
        sim_report("out-of-bounds access",
                   "%s at %s:%d: %zu bytes, but of the variable there are %zu from there on", what,
                   sim_file(place), place.line, bytes, room);
    }
    return bytes <= room;
}

uintptr_t variables_begin;
size_t variables_bytes;

/* After the program's own constructors, which give its variables what they begin with. */
__attribute__((constructor)) static void find_variables(void) {
    uintptr_t end = 0;
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        uintptr_t begin = (uintptr_t)v->begin;
        variables_begin = end == 0 || begin < variables_begin ? begin : variables_begin;
        end = begin + v->bytes > end ? begin + v->bytes : end;
    }
    variables_bytes = end - variables_begin;
}

bool variable_detail(const void *p) {
    bool is_variable = variable_recorded(p) != NULL || in_constants(p);
    if (is_variable) {
        sim_detail("the name of a variable of the device is another variable on the host: "
                   "cudaMemcpyToSymbol and cudaGetSymbolAddress know the device's");
    }
    return is_variable;
}

const cudasim_variable *variable_recorded(const void *p) {
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        if ((uintptr_t)p - (uintptr_t)v->begin < v->bytes) {
            return v;
        }
    }
    return NULL;
}

/* Where it puts those of variables that are the host's alone. */
extern cudasim_host_variable __start_cudasim_host_variables[] __attribute__((weak));
extern cudasim_host_variable __stop_cudasim_host_variables[] __attribute__((weak));

const char *variable_of_host(const void *p) {
    for (cudasim_host_variable *v = __start_cudasim_host_variables;
         v < __stop_cudasim_host_variables; v++) {
        if ((uintptr_t)p - (uintptr_t)v->begin < v->bytes) {
            return v->name;
        }
    }
    return NULL;
}

bool variable_is_symbol(const char *call, const char *name, const void *p, Place place) {
    bool text = name[0] == '"', host = variable_of_host(p) != NULL;
    if (text || host) {
        sim_report("invalid symbol", "%s at %s:%d: %s is a %s", call, sim_file(place), place.line,
                   name, text ? "text" : "variable of the host");
        sim_detail(text ? "a symbol is the variable itself: its name without quotation marks"
                        : "declare it __device__ or __constant__");
    }
    return !text && !host;
}

/* Where cu2cpp puts the names of functions of both sides; absent if there are none. */
extern const char *const __start_cudasim_of_both[] __attribute__((weak));
extern const char *const __stop_cudasim_of_both[] __attribute__((weak));

/* "x.cu:7 (name<4>)" */
static bool is_in_function(const char *where, const char *name) {
    const char *function = strstr(where, " (");
    size_t length = strlen(name);
    return function != NULL && strncmp(function + 2, name, length) == 0 &&
           strchr("<()", function[2 + length]) != NULL;
}

bool variable_of_both(const char *where) {
    for (const char *const *f = __start_cudasim_of_both; f < __stop_cudasim_of_both; f++) {
        if (is_in_function(where, *f)) {
            return true;
        }
    }
    return false;
}

bool variable_writable(const void *p) {
    extern char __data_start[] __attribute__((weak));
    return (const char *)p >= __data_start;
}

static size_t total(void) {
    size_t bytes = 0;
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        bytes += v->bytes;
    }
    return bytes;
}

static void save(char *to) {
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        memcpy(to, v->begin, v->bytes);
        to += v->bytes;
    }
}

/* Those that are const never differ, and could not be written. */
static void load(const char *from) {
    for (cudasim_variable *v = __start_cudasim_variables; v < __stop_cudasim_variables; v++) {
        if (memcmp(v->begin, from, v->bytes) != 0) {
            memcpy(v->begin, from, v->bytes);
        }
        check_other(v->begin, v->bytes);
        from += v->bytes;
    }
}

void variables_at_first(void) {
    if (at_first == NULL && total() > 0) {
        at_first = sim_map(total());
        save(at_first);
    }
}

static const char *kept(char **copy, int device) {
    const char *of_all = copies[device][NO_RANK + 1];
    return *copy != NULL ? *copy : of_all != NULL ? of_all : at_first;
}

void variables_in_place(int device) {
    char **copy = &copies[device][queue_owner() + 1];
    if (copy == in_place || at_first == NULL) {
        return;
    }
    if (*in_place == NULL) {
        *in_place = sim_map(total());
    }
    save(*in_place);
    load(kept(copy, device));
    in_place = copy;
}

void variables_reset(int device) {
    variables_in_place(device);
    if (at_first != NULL) {
        load(at_first);
    }
}
