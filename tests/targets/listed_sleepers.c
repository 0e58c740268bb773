// One thread sleeps in each call that, says signal(7), returns EINTR after a stop, and in some that
// the kernel restarts, until stdin ends. Then prints the names of those that were woken. Says
// "ready" when all of them sleep. Argument: "busy" adds a thread that computes.
#define _GNU_SOURCE
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kHour = 3600 };
static const struct timespec hour = {kHour, 0};
static volatile int over;

static int new_epoll(void) { return epoll_create1(0); }

static void by_epoll_wait(void) {
  struct epoll_event event;
  epoll_wait(new_epoll(), &event, 1, -1);
}

static void by_epoll_wait_with_timeout(void) {
  struct epoll_event event;
  epoll_wait(new_epoll(), &event, 1, kHour * 1000);
}

static void by_epoll_pwait(void) {
  struct epoll_event event;
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  epoll_pwait(new_epoll(), &event, 1, -1, &mask);
}

static sigset_t one_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}

static void by_sigtimedwait(void) {
  const sigset_t set = one_signal();
  sigtimedwait(&set, NULL, &hour);
}

static void by_sigwaitinfo(void) {
  const sigset_t set = one_signal();
  sigwaitinfo(&set, NULL);
}

static void by_semop(void) {
  struct sembuf down = {0, -1, 0};
  semop(semget(IPC_PRIVATE, 1, 0600), &down, 1);
}

static void by_semtimedop(void) {
  struct sembuf down = {0, -1, 0};
  semtimedop(semget(IPC_PRIVATE, 1, 0600), &down, 1, &hour);
}

struct Message {
  long type;
  char text[4096];
};

static void by_msgrcv(void) {
  struct Message message;
  msgrcv(msgget(IPC_PRIVATE, 0600), &message, sizeof message.text, 0, 0);
}

static void by_msgsnd(void) {
  const int queue = msgget(IPC_PRIVATE, 0600);
  const struct Message message = {1, ""};
  while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0) {
  }
  msgsnd(queue, &message, sizeof message.text, 0);
}

static int socket_with(int timeout) {
  int pair[2];
  const struct timeval limit = {kHour, 0};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
      setsockopt(pair[0], SOL_SOCKET, timeout, &limit, sizeof limit) != 0) {
    abort();
  }
  return pair[0];
}

static void by_recv(void) {
  char byte;
  recv(socket_with(SO_RCVTIMEO), &byte, 1, 0);
}

static void by_recvmsg(void) {
  char byte;
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  recvmsg(socket_with(SO_RCVTIMEO), &message, 0);
}

static void by_send(void) {
  static char bytes[65536];
  const int to = socket_with(SO_SNDTIMEO);
  while (send(to, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
  send(to, bytes, sizeof bytes, 0);
}

static void by_io_getevents(void) {
  aio_context_t context = 0;
  struct io_event event;
  if (syscall(SYS_io_setup, 1, &context) == 0) {
    syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL);
  } else {
    pause();  // this kernel has none
  }
}

static void by_futex(void) {
  static int word;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void by_futex_with_timeout(void) {
  static int word;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &hour, NULL, 0);
}

static void by_poll(void) {
  struct pollfd nothing = {eventfd(0, 0), POLLIN, 0};
  poll(&nothing, 1, -1);
}

static void by_select(void) {
  struct timeval limit = {kHour, 0};
  select(0, NULL, NULL, NULL, &limit);
}

static void by_nanosleep(void) { nanosleep(&hour, NULL); }

static void by_read(void) {
  uint64_t value;
  if (read(eventfd(0, 0), &value, sizeof value) < 0) return;
}

static const struct {
  const char* name;
  void (*sleep)(void);
} kinds[] = {
    {"epoll_wait", by_epoll_wait},
    {"epoll_wait_with_timeout", by_epoll_wait_with_timeout},
    {"epoll_pwait", by_epoll_pwait},
    {"sigtimedwait", by_sigtimedwait},
    {"sigwaitinfo", by_sigwaitinfo},
    {"semop", by_semop},
    {"semtimedop", by_semtimedop},
    {"msgrcv", by_msgrcv},
    {"msgsnd", by_msgsnd},
    {"recv", by_recv},
    {"recvmsg", by_recvmsg},
    {"send", by_send},
    {"io_getevents", by_io_getevents},
    {"futex", by_futex},
    {"futex_with_timeout", by_futex_with_timeout},
    {"poll", by_poll},
    {"select", by_select},
    {"nanosleep", by_nanosleep},
    {"read", by_read},
};
enum { kKinds = sizeof kinds / sizeof kinds[0] };

static volatile int woken[kKinds];
static volatile int tids[kKinds];

static void* rest(void* kind) {
  const intptr_t number = (intptr_t)kind;
  tids[number] = (int)syscall(SYS_gettid);
  kinds[number].sleep();
  woken[number] = 1;
  return NULL;
}

static void* compute(void* unused) {
  (void)unused;
  for (volatile uint64_t i = 0; !over; ++i) {
  }
  return NULL;
}

static int sleeps(int tid) {
  char path[64];
  char line[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE* const file = fopen(path, "r");
  if (file == NULL) return 1;
  if (fgets(line, sizeof line, file) == NULL) line[0] = 0;
  fclose(file);
  const char* const behind_name = strrchr(line, ')');
  return behind_name != NULL && behind_name[1] == ' ' && behind_name[2] == 'S';
}

int main(int argc, char** argv) {
  // Blocked in all threads, for those that wait for it.
  const sigset_t set = one_signal();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_t id;
  for (intptr_t i = 0; i < kKinds; ++i) pthread_create(&id, NULL, rest, (void*)i);
  for (int i = 0; i < kKinds; ++i) {
    while (tids[i] == 0 || !sleeps(tids[i])) usleep(1000);
  }
  if (argc > 1 && strcmp(argv[1], "busy") == 0) pthread_create(&id, NULL, compute, NULL);
  puts("ready");
  fflush(stdout);
  char byte;
  if (read(0, &byte, 1) != 0) return 2;
  over = 1;
  int any = 0;
  for (int i = 0; i < kKinds; ++i) {
    if (woken[i]) printf("woken: %s\n", kinds[i].name);
    any |= woken[i];
  }
  puts(any ? "WRONG" : "right");
  return any;
}
