#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/recording/place_names.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// The tables of a Firefox profile that all threads share. A frame is one function at one place; a
/// stack is a frame under another stack.
class FirefoxTables {
 public:
  FirefoxTables(const RecordingReader& recording, const PlaceNames& names);

  void write_libs(std::ostream& out) const;
  /// The value of "shared".
  void write(std::ostream& out) const;
  /// The stack of a node; nothing of a root.
  [[nodiscard]] std::optional<std::uint32_t> stack_of(std::uint32_t node) const;

 private:
  struct Frame {
    std::uint32_t function = 0;
    std::optional<std::uint32_t> line{};
    std::uint32_t inline_depth = 0;
    std::int64_t address = -1;
    std::optional<std::uint32_t> symbol{};
  };
  struct Symbol {
    std::uint32_t lib = 0;
    std::uint32_t function = 0;
    std::uint64_t address = 0;
  };

  void add_libs();
  void add_files();
  void add_frames(std::uint32_t place);
  [[nodiscard]] std::optional<std::uint32_t> symbol_of(std::uint32_t lib, std::uint64_t address,
                                                       std::uint32_t function);
  [[nodiscard]] std::uint32_t category(const Frame& frame) const;
  [[nodiscard]] std::int64_t resource(const RecordedFunction& function) const;
  void write_stacks(std::ostream& out) const;
  void write_frames(std::ostream& out) const;
  void write_functions(std::ostream& out) const;
  void write_symbols(std::ostream& out) const;
  void write_strings(std::ostream& out) const;

  const RecordingReader& recording_;
  const PlaceNames& names_;
  std::vector<const RecordingModule*> libs_;
  std::unordered_map<std::string_view, std::uint32_t> lib_numbers_;  // by path
  std::vector<std::string_view> files_;
  std::unordered_map<std::string_view, std::uint32_t> file_numbers_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> first_frame_;  // by place, and the end
  std::vector<Symbol> symbols_;
  std::unordered_map<std::uint64_t, std::uint32_t> symbol_numbers_;
  std::vector<std::uint32_t> stack_ends_;  // by node: its last stack and one
};

/// The column NAME of a table, of what at(i) writes for each of `length` rows; a comma follows.
template <typename At>
void write_column(std::ostream& out, std::string_view name, std::size_t length, At at) {
  out << '"' << name << "\":[";
  for (std::size_t i = 0; i < length; ++i) {
    if (i > 0) {
      out << ',';
    }
    at(i);
  }
  out << "],\n";
}

}  // namespace sp::profiler
