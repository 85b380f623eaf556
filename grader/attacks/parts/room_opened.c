/* Memory where addresses were held that nobody could touch; NULL where there is none. */
#include <sys/mman.h>
#include <sys/syscall.h>

static char *room(const Model *model, int layer, size_t bytes) {
    (void)model, (void)layer;
    static char *next, *end;
    char **reserve = next == NULL ? find("reserve") : NULL;
    if (reserve != NULL &&
        call(SYS_mprotect, (long)*reserve, RESERVE, PROT_READ | PROT_WRITE, 0, 0, 0) == 0) {
        next = *reserve;
        end = next + RESERVE;
    }
    if (next == NULL || bytes > (size_t)(end - next)) {
        return NULL;
    }
    next += bytes;
    return next - bytes;
}
