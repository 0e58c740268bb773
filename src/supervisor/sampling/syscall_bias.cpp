#include "supervisor/sampling/syscall_bias.h"

namespace sp::supervisor {

void SyscallBias::add_sample(bool at_system_call) {
  constexpr int kSamples = 64;
  constexpr int kSamplesWhenHigh = 256;
  ++samples_;
  at_system_call_ += at_system_call ? 1 : 0;
  // Until the decision the samples lean towards system calls: where the bias is plain, fewer
  // samples decide.
  const bool is_plain = !is_high_ && samples_ >= kSamples / 4 && at_system_call_ * 4 > samples_;
  if (samples_ < (is_high_ ? kSamplesWhenHigh : kSamples) && !is_plain) {
    return;
  }
  if (!is_high_) {
    is_high_ = at_system_call_ * 10 > samples_;
  } else if (at_system_call_ * 50 < samples_ && !has_fallen_) {
    // Perhaps a phase of the program. When it comes again, the decision stays.
    has_fallen_ = true;
    is_high_ = false;
  }
  samples_ = 0;
  at_system_call_ = 0;
}

}  // namespace sp::supervisor
