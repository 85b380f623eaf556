/* How a filter is put on. The contract is in probe_filter.h. */
#define _GNU_SOURCE
#include "grader/probe_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/base.h"

void filter_put_on(struct sock_filter *rules, size_t count) {
    struct sock_fprog program = {(unsigned short)count, rules};
    long status =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    /* Only who has given up new privileges may, as every program in a sandbox has. */
    CHECK(status == 0 || (status < 0 && errno == EACCES), "no filter of system calls: %s",
          strerror(errno));
}
