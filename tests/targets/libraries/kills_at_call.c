// Preloaded into superprofiler: kills it with SIGKILL right before its Nth call of ptrace(2),
// waitid(2) or pwrite(2), N from KILL_AT. If it ends by itself, the file KILL_REPORT says how many
// there were.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_long calls;
static long last;
static pid_t self;
static const char* report;

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("KILL_AT");
  self = getpid();
  last = at ? atol(at) : 0;
  report = getenv("KILL_REPORT");
  // Not in the target, nor in the guardian.
  unsetenv("LD_PRELOAD");
  unsetenv("KILL_AT");
  unsetenv("KILL_REPORT");
}

__attribute__((destructor)) static void end(void) {
  FILE* file = getpid() == self && report ? fopen(report, "w") : 0;
  if (file) {
    fprintf(file, "%ld\n", (long)calls);
    fclose(file);
  }
}

static void count(void) {
  if (getpid() == self && ++calls == last) kill(self, SIGKILL);
}

long ptrace(enum __ptrace_request request, ...) {
  static long (*real)(enum __ptrace_request, ...);
  va_list list;
  va_start(list, request);
  pid_t pid = va_arg(list, pid_t);
  void* address = va_arg(list, void*);
  void* data = va_arg(list, void*);
  va_end(list);
  if (!real) real = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
  count();
  return real(request, pid, address, data);
}

int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  static int (*real)(idtype_t, id_t, siginfo_t*, int);
  if (!real) real = (int (*)(idtype_t, id_t, siginfo_t*, int))dlsym(RTLD_NEXT, "waitid");
  count();
  return real(type, id, info, options);
}

ssize_t pwrite64(int fd, const void* from, size_t size, off_t at) {
  static ssize_t (*real)(int, const void*, size_t, off_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
  count();
  return real(fd, from, size, at);
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  return pwrite64(fd, from, size, at);
}
