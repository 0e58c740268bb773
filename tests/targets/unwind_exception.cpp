// Shows its stack while an exception is on its way: in a destructor that a landing pad calls.
#include <stdexcept>

#include "unwind_truth.h"

Truth truth;

namespace {

struct Guard {
  FRAME ~Guard() {
    ENTER();
    SHOW();
    LEAVE();
  }
};

FRAME int thrower(int depth) {
  ENTER();
  if (depth == 0) {
    throw std::runtime_error("thrown");
  }
  return thrower(depth - 1) + 1;
}

FRAME int cleaner(int depth) {
  ENTER();
  const unsigned long own = truth.count;
  struct Restore {  // what the thrower has noted is gone from the stack by now
    unsigned long count;
    ~Restore() { truth.count = count; }
  };
  const Guard guard;
  const Restore restore{own};
  const int result = thrower(depth);
  KEEP(result);
  return result + 1;
}

FRAME int catcher() {
  ENTER();
  int result = 0;
  try {
    result = cleaner(3);
  } catch (const std::exception&) {
    result = 1;
  }
  LEAVE();
  return result;
}

}  // namespace

int main() { return catcher() == 1 ? 0 : 1; }
