#pragma once

#include <string>
#include <vector>

#include "profiler/named_profile.h"

/// A namer for which every 64 bytes are a function.
class BlockNamer final : public sp::profiler::Namer {
 public:
  void add_module(const sp::core::Module& /*module*/) override {}
  const std::vector<sp::symbols::NamedFrame>& name(sp::core::ModuleOffset where,
                                                   bool /*is_return_address*/) override {
    frames_.resize(1);
    frames_[0].function = "function_" + std::to_string(where.offset / 64);
    frames_[0].start = where.offset / 64 * 64;
    return frames_;
  }

 private:
  std::vector<sp::symbols::NamedFrame> frames_;
};
