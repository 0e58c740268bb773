#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/jit_codes.h"
#include "symbols/source_line.h"

namespace sp::symbols {

/// Reads a jit-PID.dump, the file in which JIT compilers tell perf of their functions (the kernel's
/// tools/perf/Documentation/jitdump-specification.txt), in either byte order, while it grows. A
/// damaged file is read up to the damage. Memory is bounded: the code itself is skipped, and what
/// comes behind the limits is not read.
class JitDump {
 public:
  static constexpr std::size_t kMaxCodes = std::size_t{1} << 20U;
  static constexpr std::size_t kMaxText = std::size_t{1} << 28U;  // bytes of names
  static constexpr std::size_t kMaxLines = std::size_t{1} << 23U;

  /// Fills `into` with the file's bytes from `offset` on; returns their number.
  using PieceReader = std::function<std::size_t(std::uint64_t offset, std::span<std::byte> into)>;

  /// Reads the records that have been completed since the last call.
  void read_on(const PieceReader& read);

  [[nodiscard]] const JitCodes& codes() const { return codes_; }
  /// Of a function of codes().
  [[nodiscard]] std::optional<SourceLine> line_of(const JitCode& code, std::uint64_t address) const;
  /// False if the dump's times are not CLOCK_MONOTONIC (the flag JITDUMP_FLAGS_ARCH_TIMESTAMP).
  [[nodiscard]] bool has_monotonic_times() const { return monotonic_; }

 private:
  using Bytes = std::span<const std::byte>;
  enum class Step { done, unfinished, damaged };

  [[nodiscard]] Bytes view(const PieceReader& read, std::uint64_t offset, std::size_t size);
  [[nodiscard]] std::uint32_t u32(Bytes bytes, std::size_t at) const;
  [[nodiscard]] std::uint64_t u64(Bytes bytes, std::size_t at) const;

  Step read_header(const PieceReader& read);
  Step read_record(const PieceReader& read);
  Step read_load(const PieceReader& read, std::uint32_t size, std::uint64_t time);
  Step read_move(const PieceReader& read, std::uint32_t size, std::uint64_t time);
  Step read_lines(const PieceReader& read, std::uint32_t size);
  [[nodiscard]] bool add_line(Bytes entries, std::size_t& at, std::uint64_t code,
                              std::string_view& file, std::vector<JitLine>& lines);
  void add(std::uint64_t index, JitCode code);
  std::uint32_t file_number(std::string_view name);

  std::uint64_t at_ = 0;  // of the next record
  bool ended_ = false;    // closed, damaged, or at a limit
  bool swapped_ = false;
  bool monotonic_ = true;
  std::vector<std::byte> window_;
  std::uint64_t window_at_ = 0;
  JitCodes codes_;
  std::size_t text_bytes_ = 0;
  std::size_t line_count_ = 0;
  std::unordered_map<std::uint64_t, JitCode> by_index_;  // for JIT_CODE_MOVE
  /// By address: lines of a function whose JIT_CODE_LOAD comes next.
  std::map<std::uint64_t, std::shared_ptr<const std::vector<JitLine>>> announced_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> file_numbers_;
  bool has_lines_below_header_ = false;
};

}  // namespace sp::symbols
