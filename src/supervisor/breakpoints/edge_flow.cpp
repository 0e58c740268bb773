#include "supervisor/breakpoints/edge_flow.h"

namespace sp::supervisor {

using core::Address;
using core::EdgeFlow;
using core::Flow;

EdgeFlow edge_flow(const core::Instruction& from, Address to) {
  switch (from.flow) {
    case Flow::jump:
      return EdgeFlow::jump;
    case Flow::branch:
      return to == from.next() ? EdgeFlow::fallthrough : EdgeFlow::taken;
    case Flow::call:
    case Flow::indirect_call:
      return EdgeFlow::call;
    case Flow::indirect_jump:
      return EdgeFlow::indirect;
    case Flow::ret:
      return EdgeFlow::ret;
    case Flow::next:
    case Flow::syscall:
    case Flow::stop:
      return EdgeFlow::entry;
  }
  return EdgeFlow::entry;
}

}  // namespace sp::supervisor
