/* Loaded before a program (LD_PRELOAD), this makes of its machine one with pages of 64 KiB, as far
   as the program asks for pages by itself: memory begins at a multiple of that, and a call for a
   part of such a page ends the program. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = 64 << 10 };

static void need_whole_pages(const char *call, const void *p) {
    if ((uintptr_t)p % LARGE != 0) {
        fprintf(stderr, "pages_64k: %s of %p, which is in the middle of a page\n", call, p);
        abort();
    }
}

/* A file is mapped over a piece of anonymous memory, whose address is right. */
void *mmap(void *wish, size_t bytes, int access, int flags, int file, off_t offset) {
    if (wish != NULL) {
        return (void *)syscall(SYS_mmap, wish, bytes, access, flags, file, offset);
    }
    int anonymous = file >= 0 ? MAP_PRIVATE | MAP_ANONYMOUS : flags;
    char *p = (char *)syscall(SYS_mmap, NULL, bytes + LARGE, access, anonymous, -1, 0);
    if (p == MAP_FAILED) {
        return p;
    }
    p += (LARGE - (uintptr_t)p % LARGE) % LARGE;
    return file < 0 ? p
                    : (void *)syscall(SYS_mmap, p, bytes, access, flags | MAP_FIXED, file, offset);
}

int mprotect(void *p, size_t bytes, int access) {
    need_whole_pages("mprotect()", p);
    return (int)syscall(SYS_mprotect, p, bytes, access);
}

int munmap(void *p, size_t bytes) {
    need_whole_pages("munmap()", p);
    return (int)syscall(SYS_munmap, p, bytes);
}

int madvise(void *p, size_t bytes, int advice) {
    need_whole_pages("madvise()", p);
    return (int)syscall(SYS_madvise, p, bytes, advice);
}

long sysconf(int name) {
    extern long __sysconf(int name);
    return name == _SC_PAGESIZE ? LARGE : __sysconf(name);
}
