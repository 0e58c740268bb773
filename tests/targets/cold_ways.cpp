// Functions of which the compiler puts parts elsewhere: these are entered by jumps into their
// middle and at landing pads. cold_ways: enters some of them. cold_ways serve: sleeps in a loop
// that it never leaves but at the end of stdin.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

int faults;

[[gnu::cold, gnu::noinline]] void complain(const char* what) {
  faults += static_cast<int>(std::strlen(what));
}

/// The part begins with what is not executed.
[[gnu::noinline]] int rarely(int value) {
  if (value == 5) {
    complain("five");
    return -1;
  }
  if (value == 7) {
    complain("seven");
    complain("seven again");
    return -2;
  }
  return value * 2;
}

[[gnu::noinline]] int throwing(int value) {
  if (value % 3 == 0) {
    throw std::out_of_range("a multiple of 3");
  }
  if (value % 5 == 0) {
    throw std::runtime_error("a multiple of 5");
  }
  return value;
}

/// The handlers are in the part, and nothing else leads there.
[[gnu::noinline]] int catching(int value) {
  const std::string name = "a name that is destroyed on both ways " + std::to_string(value);
  try {
    return throwing(value) + static_cast<int>(name.size());
  } catch (const std::runtime_error&) {
    return -5;
  } catch (const std::out_of_range&) {
    return -3;
  }
}

[[gnu::noinline]] void serve() {
  pollfd input{0, POLLIN, 0};
  for (int round = 0;; ++round) {
    if (poll(&input, 1, 5) != 0) {
      return;
    }
    if (round % 2 == 0) {
      faults += 1;
    }
  }
}

}  // namespace

int main(int count, char**) {
  if (count > 1) {
    std::puts("ready");
    std::fflush(stdout);
    serve();
  }
  int sum = 0;
  for (int value = 6; value < 10; ++value) {
    sum += rarely(value) + catching(value);
  }
  std::printf("%d %d\n", sum, faults > 10);
  return 0;
}
