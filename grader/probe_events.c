/* Events leave the process one by one. The contract is in probe_events.h. */
#include "grader/probe_events.h"

#include <errno.h>
#include <unistd.h>

#include "grader/wire.h"
#include "kernels/base.h"

void event_tell(char event) {
    ssize_t told = write(WIRE_EVENTS, &event, 1);
    CHECK(told == 1 || (told < 0 && errno == EBADF), "an event cannot be told");
}
