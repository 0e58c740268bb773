// Exceptions in the ways of C++, with known numbers. Built with -pg or -finstrument-functions by
// the tests, so that uftrace counts the calls, too.
#include <cstdio>
#include <exception>
#include <stdexcept>

#define CALLED __attribute__((noinline, noipa))

namespace {
volatile long sink;
}

namespace ways {

CALLED void leaf(long value) { sink = value; }

struct Guard {
  CALLED explicit Guard(long value) : value_(value) { leaf(value); }
  CALLED ~Guard() { leaf(value_); }
  long value_;
};

CALLED void throws(int n) {
  leaf(n);
  if (n % 2 == 1) {
    throw std::runtime_error("odd");
  }
  sink = n;
}
CALLED void passes(int n) {
  throws(n);
  sink = n;
}
CALLED void cleans(int n) {
  const Guard guard(n);
  passes(n);
  sink = n;
}
CALLED int catches(int n) {
  try {
    cleans(n);
  } catch (const std::exception&) {
    leaf(n);
    return 1;
  }
  return 0;
}

CALLED void rethrows(int n) {
  try {
    passes(n);
  } catch (...) {
    leaf(n);
    throw;
  }
}
CALLED int catches_rethrown(int n) {
  try {
    rethrows(n);
  } catch (const std::runtime_error&) {
    return 1;
  }
  return 0;
}

CALLED int throws_deep(int n) {
  if (n == 0) {
    throw n;
  }
  const int below = throws_deep(n - 1);
  sink = below;
  return below + 1;
}
CALLED void catches_deep() {
  try {
    sink = throws_deep(40);
  } catch (int caught) {
    leaf(caught);
  }
}

class Base {
 public:
  virtual long answer(long n) = 0;

 protected:
  ~Base() = default;
};
struct Derived final : public Base {
  CALLED long answer(long n) override {
    leaf(n);
    return n + 1;
  }
};

template <typename T>
CALLED T twice(T value) {
  leaf(static_cast<long>(value));
  return value + value;
}

}  // namespace ways

int main() {
  int caught = 0;
  for (int i = 0; i < 10; ++i) {
    caught += ways::catches(i);
  }
  for (int i = 0; i < 5; ++i) {
    caught += ways::catches_rethrown(i);
  }
  ways::catches_deep();
  ways::Derived derived;
  ways::Base* volatile base = &derived;
  for (int i = 0; i < 6; ++i) {
    sink = base->answer(i);
  }
  sink = ways::twice(3);
  sink = static_cast<long>(ways::twice(2.5));
  std::printf("%d\n", caught);
  return 0;
}
