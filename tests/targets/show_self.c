// Prints what a process inherits, so that two ways of starting it can be compared.
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

static void show_status(void) {
  static const char* const wanted[] = {
      "Name",   "Umask",   "Uid",        "Gid",          "Groups",     "SigPnd", "ShdPnd",
      "SigBlk", "SigIgn",  "SigCgt",     "CapInh",       "CapPrm",     "CapEff", "CapBnd",
      "CapAmb", "Seccomp", "NoNewPrivs", "Cpus_allowed", "THP_enabled"};
  FILE* file = fopen("/proc/self/status", "r");
  char line[4096];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
      const size_t length = strlen(wanted[i]);
      if (strncmp(line, wanted[i], length) == 0 && line[length] == ':') fputs(line, stdout);
    }
  }
}

static void show_limits(void) {
  for (int i = 0; i < RLIM_NLIMITS; ++i) {
    struct rlimit limit;
    if (getrlimit(i, &limit) == 0)
      printf("limit %d: %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
             (unsigned long long)limit.rlim_max);
  }
}

static void show_files(void) {
  for (int fd = 0; fd < 256; ++fd) {
    char path[64];
    char to[4096];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(path, to, sizeof to - 1);
    if (length < 0) continue;
    to[length] = '\0';
    printf("fd %d: %s\n", fd, to);
  }
}

static void show_file(const char* path) {
  FILE* file = fopen(path, "r");
  char line[256] = "";
  if (file != NULL && fgets(line, sizeof line, file) != NULL) printf("%s: %s", path, line);
  if (file != NULL) fclose(file);
}

int main(int argc, char** argv) {
  show_files();  // before anything is opened here
  for (int i = 0; i < argc; ++i) printf("argv[%d]: %s\n", i, argv[i]);
  for (char** word = environ; *word != NULL; ++word) printf("env: %s\n", *word);
  show_status();
  show_limits();
  char directory[4096];
  printf("cwd: %s\n", getcwd(directory, sizeof directory));
  printf("personality: %x\n", (unsigned)personality(0xffffffff));
  printf("nice: %d\n", getpriority(PRIO_PROCESS, 0));
  struct sched_param parameter;
  sched_getparam(0, &parameter);
  printf("scheduler: %d %d\n", sched_getscheduler(0), parameter.sched_priority);
  printf("timer slack: %d\n", prctl(PR_GET_TIMERSLACK));
  printf("dumpable: %d\n", prctl(PR_GET_DUMPABLE));
  printf("leads its session: %d\n", getsid(0) == getpid());
  show_file("/proc/self/oom_score_adj");
  show_file("/proc/self/coredump_filter");
  return 0;
}
