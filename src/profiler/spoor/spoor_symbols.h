#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sp::profiler {

/// What is known of a function that Spoor has instrumented.
struct SpoorSymbol {
  std::string module;
  std::string linkage_name;
  std::string name;  // demangled
  std::string file;  // with its directory
  std::uint32_t line = 0;

  bool operator==(const SpoorSymbol&) const = default;
};

/// Files .spoor_symbols: what the ids of functions stand for. An id is a hash, so that several
/// functions may have the same.
class SpoorSymbols {
 public:
  static constexpr std::size_t kMostSymbols = std::size_t{1} << 22U;

  /// Adds what a file holds. Returns "", or what is wrong with it; what stands before is added.
  [[nodiscard]] std::string add(std::string_view bytes, const std::string& name);

  /// All functions with the id; empty if there is none.
  [[nodiscard]] const std::vector<SpoorSymbol>& find(std::uint64_t id) const;
  [[nodiscard]] std::size_t size() const { return symbols_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::vector<SpoorSymbol>> symbols_;
  std::size_t rows_ = 0;
};

}  // namespace sp::profiler
