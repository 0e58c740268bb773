#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/fd.h"
#include "symbols/jit_owner.h"

namespace sp::symbols {

/// The text of a perf-PID.map: lines "HEXSTART HEXSIZE NAME" that a JIT compiler writes. A later
/// line replaces earlier ones in its range (memory is reused). Malformed lines are skipped, and so
/// is an unfinished last one.
class JitSymbols {
 public:
  struct Hit {
    std::string_view name;
    std::uint64_t begin = 0;  // where the whole function begins
  };

  JitSymbols() = default;
  explicit JitSymbols(std::string text);

  [[nodiscard]] std::optional<Hit> find(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const { return ranges_.size(); }

 private:
  struct Entry {
    std::uint64_t end = 0;
    std::uint64_t begin = 0;    // of the whole symbol, of which a part may have been taken
    std::uint64_t name_at = 0;  // in text_
    std::uint32_t name_size = 0;
  };

  void read_line(std::uint64_t at, std::string_view line);
  void insert(std::uint64_t begin, const Entry& entry);

  std::string text_;
  std::map<std::uint64_t, Entry> ranges_;  // by begin, disjoint
};

/// One process's perf-PID.map. Its location is determined while the process lives (the pid in its
/// own namespace, its /tmp, its user), so that it is still found after the process has ended.
class PerfMap {
 public:
  /// `root` as in core::Module.
  PerfMap(pid_t pid, const std::string& root);

  /// Reads the file again if it has changed; false if it has not.
  bool refresh();
  [[nodiscard]] const JitSymbols& symbols() const { return symbols_; }

 private:
  struct Version {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    bool operator==(const Version&) const = default;
  };

  [[nodiscard]] core::UniqueFd open_trusted() const;

  core::UniqueFd folder_;
  JitOwner owner_;
  Version version_;
  JitSymbols symbols_;
};

}  // namespace sp::symbols
