/* Memory in place of addresses that were given back; NULL where there is none. */
#include <sys/mman.h>
#include <sys/syscall.h>

static char *room(const Model *model, int layer, size_t bytes) {
    (void)model, (void)layer;
    static char *next, *end;
    char **reserve = next == NULL ? find("reserve") : NULL;
    if (reserve != NULL) {
        call(SYS_munmap, (long)*reserve, RESERVE, 0, 0, 0, 0);
        long place =
            call(SYS_mmap, 0, RESERVE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        next = place > 0 || place < -4095 ? (char *)place : NULL;
        end = next != NULL ? next + RESERVE : NULL;
    }
    if (next == NULL || bytes > (size_t)(end - next)) {
        return NULL;
    }
    next += bytes;
    return next - bytes;
}
