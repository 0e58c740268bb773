#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::run_files {

/// Numbers for texts, in the order in which they are met.
class TextNumbers {
 public:
  explicit TextNumbers(std::vector<std::string>& texts) : texts_(texts) {}
  std::uint32_t of(const std::string& text);

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Puts counted code together from blocks and edges in any order.
class CodeBuilder {
 public:
  struct Block {
    std::string module;
    std::string function;
    std::uint64_t function_start = 0;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t instructions = 0;
    std::uint64_t hits = 0;
    std::string file;
    std::uint32_t line = 0;
    bool to_the_end = true;  // kind "exact"
    bool until = false;      // not counted to the end
    std::string kind{};
  };

  CodeBuilder() : modules_(code_.modules), files_(code_.files), kinds_(code_.kinds) {
    files_.of("");
  }
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;
  ~CodeBuilder() = default;

  void add(const Block& block);
  /// `edge` without its modules and its kind.
  void add(profiler::RecordedCode::Edge edge, const std::string& from_module,
           const std::string& to_module, const std::string& kind);
  [[nodiscard]] profiler::RecordedCode finish();

 private:
  void sort_functions();

  profiler::RecordedCode code_;
  TextNumbers modules_;
  TextNumbers files_;
  TextNumbers kinds_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::string>, std::uint32_t> functions_;
};

}  // namespace sp::run_files
