// Runs functions that it has written itself and told perf of: jit-PID.dump in the folder that is
// its first argument. The second argument is how many milliseconds each of them runs.
// "jitted_first" is of generated.src, lines 7 (its loop) and 9; "jitted_second" is put where it
// was.
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
// push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret
static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xE5, 0x48, 0xFF,
                                      0xCF, 0x75, 0xFB, 0x5D, 0xC3};
enum { kLoopEnd = 9 };
#else
#define MACHINE EM_AARCH64
// 1: subs x0, x0, #1; b.ne 1b; ret
static const unsigned char kCode[] = {0x00, 0x04, 0x00, 0xF1, 0xE1, 0xFF,
                                      0xFF, 0x54, 0xC0, 0x03, 0x5F, 0xD6};
enum { kLoopEnd = 8 };
#endif

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static void put(FILE* out, uint64_t value, size_t size) { fwrite(&value, size, 1, out); }

static void put_record(FILE* out, uint32_t kind, size_t size) {
  put(out, kind, 4);
  put(out, 16 + size, 4);
  put(out, now_ns(), 8);
}

static void put_line(FILE* out, uint64_t address, uint32_t line, const char* file) {
  put(out, address, 8);
  put(out, line, 4);
  put(out, 0, 4);
  fwrite(file, strlen(file) + 1, 1, out);
}

static void put_function(FILE* out, uint64_t address, const char* name, uint64_t index) {
  static const char kFile[] = "generated.src";
  put_record(out, 2, 16 + 2 * (16 + sizeof(kFile)));
  put(out, address, 8);
  put(out, 2, 8);
  put_line(out, address, 7, kFile);
  put_line(out, address + kLoopEnd, 9, kFile);
  put_record(out, 0, 40 + strlen(name) + 1 + sizeof(kCode));
  put(out, (uint64_t)getpid(), 4);
  put(out, (uint64_t)getpid(), 4);
  put(out, address, 8);
  put(out, address, 8);
  put(out, sizeof(kCode), 8);
  put(out, index, 8);
  fwrite(name, strlen(name) + 1, 1, out);
  fwrite(kCode, sizeof(kCode), 1, out);
  fflush(out);
}

static FILE* open_dump(const char* folder) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, getpid());
  FILE* out = fopen(path, "w+");
  if (out == NULL) {
    perror(path);
    exit(1);
  }
  put(out, 0x4A695444, 4);
  put(out, 1, 4);
  put(out, 40, 4);
  put(out, MACHINE, 4);
  put(out, 0, 4);
  put(out, (uint64_t)getpid(), 4);
  put(out, now_ns(), 8);
  put(out, 0, 8);
  fflush(out);
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED) {
    perror("mmap of the dump");
    exit(1);
  }
  return out;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const uint64_t each_ns = strtoull(argv[2], NULL, 10) * 1000000U;
  FILE* out = open_dump(argv[1]);
  unsigned char* code =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) {
    return 1;
  }
  memcpy(code, kCode, sizeof(kCode));
  __builtin___clear_cache((char*)code, (char*)code + sizeof(kCode));
  void (*spin)(uint64_t);
  memcpy(&spin, &code, sizeof(spin));
  static const char* const kNames[] = {"jitted_first", "jitted_second"};
  for (uint64_t i = 0; i < 2; ++i) {
    put_function(out, (uint64_t)code, kNames[i], i);
    for (const uint64_t end = now_ns() + each_ns; now_ns() < end;) {
      spin(1000000);
    }
  }
  fclose(out);
  puts("done");
  return 0;
}
