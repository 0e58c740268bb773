#include "analyzer/decoder_cross_check.h"

#include <algorithm>
#include <span>

#include "arch/native.h"

namespace sp::analyzer {
namespace {

using core::Flow;

constexpr std::size_t kMostRemembered = std::size_t{1} << 20U;

/// True if the decoded instruction may continue at `next`.
bool allows(const core::Instruction& instruction, core::Address next) {
  const bool goes_behind = next == instruction.next();
  const bool goes_to_target = instruction.target == next;
  switch (instruction.flow) {
    case Flow::next:     // rep movs and similar instructions repeat
    case Flow::syscall:  // may be restarted
      return goes_behind || next == instruction.address;
    case Flow::jump:
    case Flow::call:
      return goes_to_target;
    case Flow::branch:
      return goes_behind || goes_to_target;
    case Flow::indirect_jump:
    case Flow::indirect_call:
    case Flow::ret:
      return true;
    case Flow::stop:
      return false;
  }
  return false;
}

template <typename T>
bool remember(std::unordered_set<T>& seen, const T& what) {
  if (seen.size() >= kMostRemembered) {
    seen.clear();
  }
  return seen.insert(what).second;
}

}  // namespace

Observation DecoderCrossCheck::observe(const core::Stepped& stepped) {
  Observation observation;
  for (std::size_t i = 0; i + 1 < stepped.path.size(); ++i) {
    observe_step(stepped.path[i], stepped.path[i + 1].pc, observation);
  }
  return observation;
}

void DecoderCrossCheck::observe_step(const core::Stepped::At& at, core::Address next,
                                     Observation& observation) {
  ++observation.steps;
  const auto code = std::span(at.code).first(std::min<std::size_t>(at.size, at.code.size()));
  const auto decoded = arch::Native::decode(code, at.pc);
  const bool is_allowed = decoded && allows(*decoded, next);
  if (!is_allowed && !code.empty() && remember(mismatched_, at.pc)) {
    observation.mismatches.push_back({at.pc, decoded, next});
  }
  const bool went_on = decoded ? next == decoded->next() : next > at.pc && next - at.pc <= 15;
  const bool repeats = next == at.pc && (!decoded || !core::ends_block(decoded->flow));
  const bool may_go_on = decoded && core::ends_block(decoded->flow);
  if (code.empty() || repeats || (went_on && !may_go_on)) {
    return;
  }
  // A leader follows a branch that was not taken too, but the branch has not transferred control.
  if (remember(leaders_, next)) {
    observation.leaders.push_back(next);
  }
  if (went_on && decoded->flow == Flow::branch) {
    return;
  }
  if (remember(branches_, at.pc)) {
    observation.branches.push_back(at.pc);
    if (decoded) {
      remember(encodings_, arch::Native::encoding_kind(code));
    }
  }
}

}  // namespace sp::analyzer
