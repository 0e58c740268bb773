// N threads (default 4) each throw M exceptions (default 200) through frames with destructors and a
// handler that throws on; every third is of another type and caught further out. each_throw() is
// called N * M times, a Guard is destroyed three times for each.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<long> destroyed{0};
std::atomic<long> thrown_on{0};

struct Guard {
  __attribute__((noinline)) ~Guard() { ++destroyed; }
};

}  // namespace

extern "C" __attribute__((noinline, noclone)) long each_throw(long i) {
  if (i % 3 == 0) {
    throw std::runtime_error("number " + std::to_string(i));
  }
  throw i;
}

namespace {

__attribute__((noinline)) long inner(long i) {
  const Guard guard;
  const long result = each_throw(i);
  __asm__ volatile("" ::: "memory");
  return result + 1;
}

__attribute__((noinline)) long middle(long i) {
  const Guard guard;
  try {
    const Guard another;
    return inner(i) + 1;
  } catch (long value) {
    ++thrown_on;
    throw value + 1;
  }
}

__attribute__((noinline)) long outer(long i) {
  try {
    return middle(i) + 1;
  } catch (const std::exception& error) {
    return error.what() == "number " + std::to_string(i) ? i : -1'000'000;
  } catch (long value) {
    return value;
  }
}

long throw_all(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    sum += outer(i);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const long threads = argc > 1 ? std::atol(argv[1]) : 4;
  const long rounds = argc > 2 ? std::atol(argv[2]) : 200;
  std::vector<std::future<long>> sums;
  for (long i = 0; i < threads; ++i) {
    sums.push_back(std::async(std::launch::async, throw_all, rounds));
  }
  long sum = 0;
  for (auto& each : sums) {
    sum += each.get();
  }
  const long whole = (rounds + 2) / 3;
  const long expected = threads * (rounds * (rounds - 1) / 2 + (rounds - whole));
  std::printf("%ld %ld %ld\n", sum, destroyed.load(), thrown_on.load());
  return sum == expected && destroyed == 3 * threads * rounds &&
                 thrown_on == threads * (rounds - whole)
             ? 0
             : 1;
}
