#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/call_query.h"
#include "core/elf_image.h"

namespace sp::symbols {

/// A parameter of a function, by its debug information.
struct Parameter {
  std::string name;  // "" if it has none
  std::string type;  // "const char*"
  core::ValueType value_type = core::ValueType::signed_number;
  std::uint8_t bytes = 0;
  /// As in core::CallValue; 0: it cannot be read (a structure, or behind one on the stack).
  unsigned argument = 0;
};

struct FunctionParameters {
  std::vector<Parameter> list;
  /// The compiler has made a copy of the function with other parameters (DW_CC_nocall), so where
  /// they are is not known.
  bool is_changed = false;
};

/// The parameters of a file's functions, from DWARF and the calling conventions of C (psABI of
/// x86-64, AAPCS64). One thread only.
class ParameterReader {
 public:
  /// `root` and `debug_directories` as for DebugFiles.
  ParameterReader(const std::shared_ptr<const core::ElfImage>& image, const std::string& path,
                  const std::string& root, const std::vector<std::string>& debug_directories);
  ParameterReader(ParameterReader&&) noexcept;
  ParameterReader& operator=(ParameterReader&&) = delete;
  ~ParameterReader();

  /// Of the function that begins at this ELF address; nothing without DWARF for it.
  [[nodiscard]] std::optional<FunctionParameters> find(std::uint64_t address);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sp::symbols
