/* Writes down what a process writes to the files of databases, and what it has asked the disk to keep.

   Loaded before a server (LD_PRELOAD), it tells after a crash what the disk could have lost. SYNCED_LOG names the file
   for "w OFFSET LENGTH OLD PATH", before bytes are written, followed by the OLD bytes that they replace, and for
   "s 0 0 0 PATH", when everything written before is on disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(char what, int fd, size_t count, off64_t offset)
{
    static __thread int busy;
    static int log = -1;
    char name[64], path[512];
    if (busy)
        return;
    busy = 1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(name, path, sizeof path - 1);
    if (size > 0) {
        path[size] = 0;
        if ((strstr(path, ".db") && !strstr(path, "-shm")) || strstr(path, "/pg_wal/")) {
            if (log < 0)
                log = open(getenv("SYNCED_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
            char *line = malloc(count + 640), *old = malloc(count + 1);
            /* The file may be open for writing only. */
            int reading = open(path, O_RDONLY | O_CLOEXEC);
            ssize_t found = count && reading >= 0 ? pread64(reading, old, count, offset) : 0;
            if (found < 0)
                abort();
            ssize_t length = snprintf(line, 640, "%c %lld %zu %zd %s\n", what, (long long)offset, count, found, path);
            memcpy(line + length, old, found);
            if (write(log, line, length + found) != length + found)
                abort();
            if (reading >= 0)
                close(reading);
            free(line);
            free(old);
        }
    }
    busy = 0;
}

static ssize_t noted_write(const char *name, int fd, const void *bytes, size_t count, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, name);
    note('w', fd, count, offset);
    return real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return noted_write("pwrite", fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    return noted_write("pwrite64", fd, bytes, count, offset);
}

static int noted_sync(const char *name, int fd)
{
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    int failed = real(fd);
    if (!failed)
        note('s', fd, 0, 0);
    return failed;
}

int fsync(int fd)
{
    return noted_sync("fsync", fd);
}

int fdatasync(int fd)
{
    return noted_sync("fdatasync", fd);
}
