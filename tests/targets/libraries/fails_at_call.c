// Preloaded into superprofiler: the Nth call of the function FAIL_CALL fails with the number
// FAIL_ERRNO, N from FAIL_AT, or with FAIL_TIMES that many calls from it on. With FAIL_ON only
// calls count whose path, or the path of whose descriptor, contains that text. If superprofiler
// ends by itself, the file FAIL_REPORT says how many there were.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kPath = 256 };

static atomic_long calls;
static long first, after;
static int number;
static pid_t self;
static const char* name = "";
static const char* place;
static const char* report;

/// The value of an environment variable that neither the target nor the guardian gets.
static const char* take(const char* variable) {
  const char* value = getenv(variable);  // stays where it is
  unsetenv(variable);
  return value;
}

__attribute__((constructor)) static void begin(void) {
  const char* at = take("FAIL_AT");
  const char* times = take("FAIL_TIMES");
  const char* error = take("FAIL_ERRNO");
  const char* call = take("FAIL_CALL");
  self = getpid();
  first = at ? atol(at) : 0;
  after = first > 0 ? first + (times ? atol(times) : 1) : 0;
  number = error ? atoi(error) : EIO;
  place = take("FAIL_ON");
  report = take("FAIL_REPORT");
  unsetenv("LD_PRELOAD");
  name = call ? call : "";
}

__attribute__((destructor)) static void end(void) {
  FILE* file = getpid() == self && report ? fopen(report, "w") : 0;
  name = "";
  if (file) {
    fprintf(file, "%ld\n", (long)calls);
    fclose(file);
  }
}

static int is_there(int fd, const char* path) {
  char link[kPath] = "", target[kPath] = "";
  if (!place) return 1;
  if (!path) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, target, sizeof target - 1) <= 0) return 0;
    path = target;
  }
  return strstr(path, place) != 0;
}

/// Does this call of `function` fail? Sets errno if so.
static int fails(const char* function, int fd, const char* path) {
  if (strcmp(function, name) != 0 || getpid() != self || !is_there(fd, path)) return 0;
  const long call = ++calls;
  if (call < first || call >= after) return 0;
  errno = number;
  return 1;
}

#define REAL(function)               \
  static __typeof__(&function) real; \
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, #function)

static int mode_of(int flags, va_list list) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, int) : 0;
}

#define OPENS(function)                                            \
  int function(const char* path, int flags, ...) {                 \
    REAL(function);                                                \
    va_list list;                                                  \
    va_start(list, flags);                                         \
    const int mode = mode_of(flags, list);                         \
    va_end(list);                                                  \
    return fails("open", -1, path) ? -1 : real(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(function)                                                   \
  int function(int folder, const char* path, int flags, ...) {               \
    REAL(function);                                                          \
    va_list list;                                                            \
    va_start(list, flags);                                                   \
    const int mode = mode_of(flags, list);                                   \
    va_end(list);                                                            \
    return fails("openat", -1, path) ? -1 : real(folder, path, flags, mode); \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

#define MAPS(function)                                                                  \
  void* function(void* at, size_t size, int rights, int flags, int fd, off_t from) {    \
    REAL(function);                                                                     \
    return fails("mmap", fd, 0) ? MAP_FAILED : real(at, size, rights, flags, fd, from); \
  }
MAPS(mmap)
MAPS(mmap64)

#define READS(function)                                             \
  ssize_t function(int fd, void* into, size_t size, off_t from) {   \
    REAL(function);                                                 \
    return fails("pread", fd, 0) ? -1 : real(fd, into, size, from); \
  }
READS(pread)
READS(pread64)

#define WRITES(function)                                              \
  ssize_t function(int fd, const void* from, size_t size, off_t at) { \
    REAL(function);                                                   \
    return fails("pwrite", fd, 0) ? -1 : real(fd, from, size, at);    \
  }
WRITES(pwrite)
WRITES(pwrite64)

#define COPIES(function)                                                                   \
  ssize_t function(pid_t pid, const struct iovec* ours, unsigned long own,                 \
                   const struct iovec* theirs, unsigned long other, unsigned long flags) { \
    REAL(function);                                                                        \
    return fails(#function, -1, "") ? -1 : real(pid, ours, own, theirs, other, flags);     \
  }
COPIES(process_vm_readv)
COPIES(process_vm_writev)

ssize_t write(int fd, const void* from, size_t size) {
  REAL(write);
  return fails("write", fd, 0) ? -1 : real(fd, from, size);
}

ssize_t writev(int fd, const struct iovec* pieces, int count) {
  REAL(writev);
  return fails("write", fd, 0) ? -1 : real(fd, pieces, count);
}

ssize_t read(int fd, void* into, size_t size) {
  REAL(read);
  return fails("read", fd, 0) ? -1 : real(fd, into, size);
}

ssize_t send(int fd, const void* from, size_t size, int flags) {
  REAL(send);
  return fails("send", fd, 0) ? -1 : real(fd, from, size, flags);
}

ssize_t recv(int fd, void* into, size_t size, int flags) {
  REAL(recv);
  return fails("recv", fd, 0) ? -1 : real(fd, into, size, flags);
}

ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  REAL(sendmsg);
  return fails("sendmsg", fd, 0) ? -1 : real(fd, message, flags);
}

int connect(int fd, const struct sockaddr* address, socklen_t size) {
  REAL(connect);
  return fails("connect", fd, 0) ? -1 : real(fd, address, size);
}

int socket(int family, int type, int protocol) {
  REAL(socket);
  return fails("socket", -1, "") ? -1 : real(family, type, protocol);
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  return fails("ftruncate", fd, 0) ? -1 : real(fd, size);
}

pid_t fork(void) {
  REAL(fork);
  return fails("fork", -1, "") ? -1 : real();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  REAL(pthread_create);
  return fails("pthread_create", -1, "") ? errno : real(thread, attributes, run, argument);
}
