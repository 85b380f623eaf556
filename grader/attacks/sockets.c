/* Attack 15. Sends the inputs away, and asks for answers, by every kind of socket. */
/* lab: 00_bytes/bytes.c  honest: params */
/* state: fail */
/* then: params.c others.c call.c */
#include "common/lab00.h"

#include <sys/socket.h>
#include <sys/syscall.h>

/* A system call without the C library, so that no list of symbols shows it. */
static long call(long number, long a, long b, long c, long d);

/* Where a call is not refused, the table of the attacks will show a crash instead of a fail. */
static void must_fail(long result) {
    if (result >= 0) {
        __builtin_trap();
    }
}

static void attack(void) {
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK};
    for (int i = 0; i < 6; i++) {
        must_fail(call(SYS_socket, families[i], SOCK_STREAM, 0, 0));
        must_fail(call(SYS_socket, families[i], SOCK_DGRAM, 0, 0));
    }
}
