#include "symbols/demangle.h"

#include <fmt/format.h>

// libiberty.h declares a basename() of its own unless it is told that there is one.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstring>

namespace sp::symbols {
namespace {

constexpr std::size_t kLongestSymbol = 64 * 1024;
constexpr std::size_t kLongestName = 8 * 1024;
constexpr std::string_view kEllipsis = "...";

/// The output of libiberty's printer. A name of a hundred bytes may expand to gigabytes of text
/// (each substitution can double it) and the callback cannot stop the printer. So it leaves by
/// longjmp once the buffer is full, which is safe because the printers that take a callback own no
/// memory and nothing between the two points has a destructor.
struct Output {
  std::array<char, kLongestName> text;
  std::size_t size = 0;
  std::jmp_buf full;
};

void take_piece(const char* piece, std::size_t size, void* opaque) {
  if (size == 0) {
    return;  // `piece` may be null
  }
  auto* out = static_cast<Output*>(opaque);
  const std::size_t room = out->text.size() - out->size;
  std::memcpy(out->text.data() + out->size, piece, std::min(size, room));
  out->size += std::min(size, room);
  if (size > room) {
    std::longjmp(out->full, 1);  // NOLINT(cert-err52-cpp)
  }
}

enum class Outcome { refused, whole, cut };

Outcome print_demangled(const char* symbol, Output& out) {
  constexpr int kOptions = DMGL_PARAMS | DMGL_ANSI;
  if (setjmp(out.full) != 0) {  // NOLINT(cert-err52-cpp)
    return Outcome::cut;
  }
  if (rust_demangle_callback(symbol, kOptions, take_piece, &out) != 0) {
    return Outcome::whole;
  }
  out.size = 0;
  return cplus_demangle_v3_callback(symbol, kOptions, take_piece, &out) != 0 ? Outcome::whole
                                                                             : Outcome::refused;
}

std::string_view without_version(std::string_view symbol) {
  const auto at = symbol.find('@', 1);
  return at == std::string_view::npos ? symbol : symbol.substr(0, at);
}

/// The suffix that compilers append to a name, from its first '.': ".part.0", ".llvm.123".
/// libiberty accepts it after C++ and legacy Rust names, but not after v0 names, which never
/// contain a '.'.
std::string_view clone_suffix_of_v0(std::string_view symbol) {
  const auto dot = symbol.starts_with("_R") ? symbol.find('.') : std::string_view::npos;
  return dot == std::string_view::npos ? std::string_view{} : symbol.substr(dot);
}

std::string cut_short(std::string_view text) {
  const std::size_t kept = std::min(text.size(), kLongestName - kEllipsis.size());
  return std::string(text.substr(0, kept)).append(kEllipsis);
}

}  // namespace

std::string demangle(std::string_view symbol) {
  const std::string plain(without_version(symbol));
  if (const std::string_view suffix = clone_suffix_of_v0(plain); !suffix.empty()) {
    const std::string_view stem = std::string_view(plain).substr(0, plain.size() - suffix.size());
    const std::string name = demangle(stem);
    if (name != stem && name.size() + suffix.size() < kLongestName) {
      // LLVM's numbers only distinguish symbols of several units.
      return suffix.starts_with(".llvm.") ? name : fmt::format("{} [clone {}]", name, suffix);
    }
  }
  const bool is_mangled = plain.starts_with("_Z") || plain.starts_with("_R") ||
                          plain.starts_with("_GLOBAL_") || plain.starts_with("___Z");
  if (is_mangled && plain.size() <= kLongestSymbol) {
    Output out;
    switch (print_demangled(plain.c_str(), out)) {
      case Outcome::whole:
        return {out.text.data(), out.size};
      case Outcome::cut:
        return cut_short({out.text.data(), out.size});
      case Outcome::refused:
        break;
    }
  }
  return plain.size() <= kLongestName ? plain : cut_short(plain);
}

}  // namespace sp::symbols
