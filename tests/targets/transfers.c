// Moves megabytes through pipes, sockets and files, and checks every result: it must be what was
// asked for, what arrives must be what was sent, and a call must preserve its registers. Arguments:
// the kind of transfer ("all": one after the other) and the rounds (0: until stdin ends). With a
// third one a transfer to a pipe or socket may be short, but no result may be wrong.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kSize = 8 << 20, kPieces = 64 };

static unsigned char* data;  // kSize bytes, all positions different from their neighbours
static int bad;
static int may_be_short;

static void require(int holds, const char* what) {
  if (!holds) {
    perror(what);
    exit(2);
  }
}

static void expect(const char* what, long got, long asked) {
  if (got != asked) {
    printf("%s: %ld of %ld\n", what, got, asked);
    __atomic_store_n(&bad, 1, __ATOMIC_RELAXED);
  }
}

// ---- a system call that checks its registers

static long call(long number, long a, long b, long c, long d, long e, long f) {
#ifdef __x86_64__
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  register long r12 __asm__("r12") = 12;
  register long r13 __asm__("r13") = 13;
  register long r14 __asm__("r14") = 14;
  register long r15 __asm__("r15") = 15;
  long rdi = a, rsi = b, rdx = c, rbx = 3, rax = number, flags;
  // The flags, rbp and what is below the stack pointer are kept, too.
  __asm__ volatile(
      "mov %%rsp, -16(%%rsp)\n\t"
      "mov %%rbp, -24(%%rsp)\n\t"
      "stc\n\t"
      "syscall\n\t"
      "setc %b[flags]\n\t"
      "cmp %%rsp, -16(%%rsp)\n\t"
      "jne 1f\n\t"
      "cmp %%rbp, -24(%%rsp)\n\t"
      "jne 1f\n\t"
      "cmp $3, %%rbx\n\t"
      "je 2f\n\t"
      "1: ud2\n\t"
      "2:"
      : "+a"(rax), "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r10), "+r"(r8), "+r"(r9), "+r"(r12),
        "+r"(r13), "+r"(r14), "+r"(r15), "+b"(rbx), [flags] "=m"(flags)
      :
      : "rcx", "r11", "memory", "cc");
  if (rdi != a || rsi != b || rdx != c || r10 != d || r8 != e || r9 != f || r12 != 12 ||
      r13 != 13 || r14 != 14 || r15 != 15 || (flags & 1) != 1) {
    puts("a register has changed");
    bad = 1;
  }
  return rax;
#else
  return syscall(number, a, b, c, d, e, f);
#endif
}

// ---- the other end of a pipe or socket

static void* drain(void* argument) {
  const int fd = (int)(intptr_t)argument;
  static __thread unsigned char buffer[1 << 16];
  size_t at = 0;
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) {
      close(fd);
      return NULL;
    }
    for (ssize_t done = 0; done < got;) {
      const size_t from = at % kSize;
      size_t length = (size_t)(got - done);
      length = length < kSize - from ? length : kSize - from;
      if (memcmp(buffer + done, data + from, length) != 0) {
        if (!__atomic_exchange_n(&bad, 1, __ATOMIC_RELAXED)) {
          puts("other bytes arrived than were sent");
        }
      }
      done += (ssize_t)length;
      at += length;
    }
  }
}

static pthread_t drained(int fd) {
  pthread_t thread;
  require(pthread_create(&thread, NULL, drain, (void*)(intptr_t)fd) == 0, "pthread_create");
  return thread;
}

static void pieces(struct iovec* vector) {
  // Of different sizes, some empty.
  size_t at = 0;
  for (int i = 0; i < kPieces; ++i) {
    const size_t length = i % 7 == 3 ? 0 : (size_t)kSize / kPieces + (size_t)(i * 13);
    vector[i].iov_base = data + at;
    vector[i].iov_len = i + 1 < kPieces ? length : (size_t)kSize - at;
    at += length;
  }
}

/// A result of sending `data`; what is missing is sent.
static void expect_sent(const char* what, int fd, long got) {
  if (may_be_short && got > 0) {
    while (got < kSize) {
      const ssize_t more = write(fd, data + got, (size_t)(kSize - got));
      require(more > 0, "write");
      got += more;
    }
  }
  expect(what, got, kSize);
}

static void send_all(const char* what, int fd, int is_socket) {
  char name[64];
  snprintf(name, sizeof name, "%s write", what);
  expect_sent(name, fd, call(SYS_write, fd, (long)data, kSize, 4, 5, 6));
  struct iovec vector[kPieces];
  pieces(vector);
  snprintf(name, sizeof name, "%s writev", what);
  expect_sent(name, fd, call(SYS_writev, fd, (long)vector, kPieces, 4, 5, 6));
  if (is_socket) {
    snprintf(name, sizeof name, "%s sendto", what);
    expect_sent(name, fd, call(SYS_sendto, fd, (long)data, kSize, MSG_NOSIGNAL, 0, 0));
    struct msghdr message = {0};
    message.msg_iov = vector;
    message.msg_iovlen = kPieces;
    snprintf(name, sizeof name, "%s sendmsg", what);
    expect_sent(name, fd, call(SYS_sendmsg, fd, (long)&message, 0, 4, 5, 6));
    expect(name, (long)message.msg_iovlen, kPieces);
  }
  struct iovec again[kPieces];
  pieces(again);
  expect("an iovec", memcmp(vector, again, sizeof again), 0);
}

static void pipes(void) {
  int ends[2];
  require(pipe(ends) == 0, "pipe");
  const pthread_t reader = drained(ends[0]);
  send_all("pipe", ends[1], 0);
  close(ends[1]);
  pthread_join(reader, NULL);
}

static void unix_sockets(void) {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  const pthread_t reader = drained(ends[0]);
  send_all("unix", ends[1], 1);
  close(ends[1]);
  pthread_join(reader, NULL);
}

static void* feed(void* argument) {
  const int fd = (int)(intptr_t)argument;
  enum { kPart = 40000 };
  for (int at = 0; at < kSize; at += kPart) {
    const int size = kSize - at < kPart ? kSize - at : kPart;
    require(write(fd, data + at, (size_t)size) == size, "write");
    usleep(20);
  }
  close(fd);
  return NULL;
}

/// Whoever asks for all waits for all, but at the end of the stream.
static void receives(void) {
  static unsigned char buffer[kSize];
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  pthread_t writer;
  require(pthread_create(&writer, NULL, feed, (void*)(intptr_t)ends[1]) == 0, "pthread_create");
  const long most = kSize - 1000;
  expect("recv of all", call(SYS_recvfrom, ends[0], (long)buffer, most, MSG_WAITALL, 0, 0), most);
  expect("what was received", memcmp(buffer, data, (size_t)most), 0);
  expect("recv of the last", call(SYS_recvfrom, ends[0], (long)buffer, kSize, MSG_WAITALL, 0, 0),
         1000);
  pthread_join(writer, NULL);
  close(ends[0]);
}

static int source;  // a file with `data`

static void tcp(void) {
  struct sockaddr_in address = {0};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  require(bind(listener, (struct sockaddr*)&address, size) == 0 && listen(listener, 1) == 0 &&
              getsockname(listener, (struct sockaddr*)&address, &size) == 0,
          "listen");
  const int out = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(out, (struct sockaddr*)&address, size) == 0, "connect");
  const int in = accept(listener, NULL, NULL);
  require(in >= 0, "accept");
  close(listener);
  const pthread_t reader = drained(in);
  send_all("tcp", out, 1);
  off_t from = 0;
  const long sent = call(SYS_sendfile, out, source, (long)&from, kSize, 5, 6);
  expect("its offset", from, sent);
  expect_sent("tcp sendfile", out, sent);
  close(out);
  pthread_join(reader, NULL);
}

// ---- files

static int file(void) {
  const int fd = memfd_create("transfers", 0);
  require(fd >= 0, "memfd_create");
  return fd;
}

static void expect_data(int fd, const char* what, size_t copies) {
  require(lseek(fd, 0, SEEK_END) == (off_t)(copies * kSize), what);
  for (size_t i = 0; i < copies; ++i) {
    void* const there = mmap(NULL, kSize, PROT_READ, MAP_SHARED, fd, (off_t)(i * kSize));
    require(there != MAP_FAILED, "mmap");
    expect(what, memcmp(there, data, kSize), 0);
    munmap(there, kSize);
  }
}

static void writes(void) {
  const int fd = file();
  send_all("file", fd, 0);
  struct iovec vector[kPieces];
  pieces(vector);
  expect("pwrite", call(SYS_pwrite64, fd, (long)data, kSize, 2L * kSize, 5, 6), kSize);
  expect("pwritev", call(SYS_pwritev, fd, (long)vector, kPieces, 3L * kSize, 0, 6), kSize);
  expect("pwritev2", call(SYS_pwritev2, fd, (long)vector, kPieces, 4L * kSize, 0, 0), kSize);
  expect_data(fd, "written", 5);
  close(fd);
}

static void sendfiles(void) {
  const int fd = file();
  off_t from = 0;
  expect("sendfile", call(SYS_sendfile, fd, source, (long)&from, kSize, 5, 6), kSize);
  expect("its offset", from, kSize);
  require(lseek(source, 0, SEEK_SET) == 0, "lseek");
  expect("sendfile without offset", call(SYS_sendfile, fd, source, 0, kSize, 5, 6), kSize);
  expect_data(fd, "sent", 2);
  close(fd);
}

static void copies(void) {
  const int fd = file();
  loff_t from = 0, to = 0;
  expect("copy_file_range", call(SYS_copy_file_range, source, (long)&from, fd, (long)&to, kSize, 0),
         kSize);
  expect("its offsets", from + to, 2L * kSize);
  require(lseek(source, 0, SEEK_SET) == 0 && lseek(fd, 0, SEEK_END) == kSize, "lseek");
  expect("copy_file_range without offsets", call(SYS_copy_file_range, source, 0, fd, 0, kSize, 0),
         kSize);
  expect_data(fd, "copied", 2);
  close(fd);
}

static void splices(void) {
  enum { kPipe = 1 << 20 };
  const int fd = file();
  int ends[2];
  require(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, kPipe) == kPipe, "pipe");
  for (int i = 0; i < kSize / kPipe; ++i) {
    for (int filled = 0; filled < kPipe;) {
      const ssize_t part =
          write(ends[1], data + (size_t)i * kPipe + filled, (size_t)(kPipe - filled));
      require(part > 0, "filling a pipe");
      filled += (int)part;
    }
    expect("splice", call(SYS_splice, ends[0], 0, fd, 0, kPipe, 0), kPipe);
  }
  expect_data(fd, "spliced", 1);
  // A result that is short by itself stays so: nothing waits for the rest.
  require(write(ends[1], data, 5000) == 5000, "write");
  expect("short splice", call(SYS_splice, ends[0], 0, fd, 0, kPipe, 0), 5000);
  close(ends[0]);
  close(ends[1]);
  close(fd);
}

static void randoms(void) {
  static unsigned char bytes[16 << 20];
  memset(bytes, 0, sizeof bytes);
  expect("getrandom", call(SYS_getrandom, (long)bytes, sizeof bytes, 0, 4, 5, 6), sizeof bytes);
  for (size_t at = 0; at < sizeof bytes; at += 4096) {
    uint64_t word[8];
    memcpy(word, bytes + at, sizeof word);
    if (word[0] == 0 && word[1] == 0) {
      expect("random bytes", (long)at, sizeof bytes);
      return;
    }
  }
}

// A descriptor that does not block gets what it has room for.
static void nonblocking(void) {
  int ends[2];
  require(pipe2(ends, O_NONBLOCK) == 0, "pipe");
  const int room = fcntl(ends[1], F_GETPIPE_SZ);
  expect("pipe that does not block", call(SYS_write, ends[1], (long)data, kSize, 4, 5, 6), room);
  close(ends[0]);
  close(ends[1]);
}

struct kind {
  const char* name;
  void (*run)(void);
};
static const struct kind kinds[] = {{"pipes", pipes},
                                    {"unix", unix_sockets},
                                    {"tcp", tcp},
                                    {"writes", writes},
                                    {"sendfile", sendfiles},
                                    {"copy_file_range", copies},
                                    {"splice", splices},
                                    {"getrandom", randoms},
                                    {"receives", receives},
                                    {"nonblocking", nonblocking}};

static int goes_on(int rounds, int round) {
  if (rounds > 0) {
    return round < rounds;
  }
  struct pollfd in = {0, POLLIN, 0};
  return poll(&in, 1, 0) == 0;
}

int main(int argc, char** argv) {
  const char* const only = argc > 1 ? argv[1] : "all";
  const int rounds = argc > 2 ? atoi(argv[2]) : 0;
  may_be_short = argc > 3;
  data = malloc(kSize);
  for (size_t i = 0; i < kSize; ++i) {
    data[i] = (unsigned char)(i * 31 + (i >> 8) * 7 + (i >> 16) * 3);
  }
  source = file();
  require(write(source, data, kSize) == kSize, "the source");
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  for (int round = 0; goes_on(rounds, round); ++round) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
      if (strcmp(only, "all") == 0 || strcmp(only, kinds[i].name) == 0) {
        kinds[i].run();
      }
    }
  }
  puts(bad ? "wrong" : "right");
  return bad;
}
