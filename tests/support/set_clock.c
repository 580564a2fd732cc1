/* Loaded before the C library: the system clock is off by as many seconds as the file SET_CLOCK says, a number of eight bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*right)(clockid_t, struct timespec *);
  static volatile int64_t *offset;
  if (!right) {
    const char *path = getenv("SET_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    void *bytes = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    offset = bytes == MAP_FAILED ? NULL : bytes;
    right = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  }
  int result = right(clock, time);
  if (clock == CLOCK_REALTIME && offset)
    time->tv_sec += *offset;
  return result;
}
