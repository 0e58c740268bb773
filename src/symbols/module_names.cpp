#include "symbols/module_names.h"

#include <fmt/format.h>

#include <utility>

#include "core/progress_line.h"
#include "symbols/closing_brace.h"
#include "symbols/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/jit_names.h"
#include "symbols/mini_debug_info.h"

namespace sp::symbols {
namespace {

/// All sources of a module's symbols and lines.
struct Sources {
  std::vector<ElfSections> with_symbols;
  std::optional<ElfSections> with_lines;
  std::optional<ElfSections> alternate;
  bool lacks_debug_file = false;
};

Sources find_sources(const core::Module& module, const std::string& root,
                     const SymbolizerOptions& options) {
  const ElfSections own(module.image);
  Sources sources{{own}, std::nullopt, std::nullopt};
  const bool may_ask = !options.server_later && module.kind == core::ModuleKind::file;
  DebugServer* const server = may_ask ? options.server.get() : nullptr;
  const bool has_symbols = own.has_symbol_table();
  if (!has_symbols) {
    if (const Section* packed = own.find(".gnu_debugdata")) {
      if (auto unpacked = unpack_mini_debug_info(own.bytes(*packed))) {
        sources.with_symbols.emplace_back(*unpacked);
      }
    }
  }
  std::optional<ElfSections> lines;
  std::string lines_path = root + module.path;
  if (own.has_dwarf()) {
    lines = own;
  }
  if (!has_symbols || (!lines && options.source_lines)) {
    const DebugFiles files(options.debug_directories, root, server);
    sources.lacks_debug_file = true;
    if (auto found = files.find(module.path, own, module.image->build_id())) {
      sources.lacks_debug_file = false;
      const ElfSections debug(found->file);
      sources.with_symbols.push_back(debug);
      if (!lines && debug.has_dwarf()) {
        lines = debug;
        lines_path = found->path;
      }
    }
  }
  if (lines && options.source_lines) {
    const DebugFiles files(options.debug_directories, root, server);
    if (auto found = files.find_alternate(lines_path, *lines)) {
      sources.alternate = ElfSections(found->file);
    }
    sources.with_lines = std::move(lines);
  }
  return sources;
}

/// An ELF file, or the vdso.
class ElfNames : public ModuleNames {
 public:
  ElfNames(const core::Module& module, Sources sources, core::Decoder decode)
      : path_(module.path),
        image_(module.image),
        decode_(decode),
        lacks_debug_file_(sources.lacks_debug_file && module.kind == core::ModuleKind::file),
        fdes_(module.image, sources.with_symbols.front()),
        plt_(sources.with_symbols.front()),
        symbols_(std::move(sources.with_symbols)) {
    if (sources.with_lines) {
      lines_.emplace(std::move(*sources.with_lines), std::move(sources.alternate));
    }
  }

  std::vector<NamedFrame> name(std::uint64_t address) override {
    if (const auto stub = plt_.find(address)) {
      return {stub_frame(*stub)};
    }
    const auto symbol = symbol_at(address);
    auto place =
        lines_ ? lines_->find(address, symbol ? symbol->name : std::string_view{}) : std::nullopt;
    NamedFrame function = function_frame(address, symbol, place);
    std::vector<NamedFrame> frames;
    if (place) {
      for (DwarfFrame& frame : place->frames) {
        if (frame.inlined) {
          frames.push_back(
              {inlined_name(frame), true, function.start, true, std::move(frame.source)});
        } else {
          function.source = std::move(frame.source);
        }
      }
    }
    frames.push_back(std::move(function));
    return frames;
  }

  [[nodiscard]] bool has_lines() const override { return lines_.has_value(); }

  [[nodiscard]] bool lacks_debug_file() const override { return lacks_debug_file_; }

  FunctionLines lines_of(const CodeRange& range) override {
    FunctionLines lines = lines_ ? lines_->lines_of(range) : FunctionLines{};
    if (decode_ != nullptr) {
      mark_closing_brace(lines, *image_, decode_);
      mark_nops(lines, *image_, decode_);
    }
    return lines;
  }

 private:
  static std::string inlined_name(const DwarfFrame& frame) {
    return frame.name.empty() ? "[inlined]" : demangle(frame.name);
  }

  /// The symbol that holds the address. A symbol without a size ends with its FDE at the latest,
  /// and does not extend into another FDE.
  [[nodiscard]] std::optional<SymbolHit> symbol_at(std::uint64_t address) const {
    const auto symbol = symbols_.find(address);
    if (!symbol || symbol->sized) {
      return symbol;
    }
    const auto of_symbol = fdes_.find(symbol->begin);
    const auto of_address = fdes_.find(address);
    return of_symbol == of_address ? symbol : std::nullopt;
  }

  [[nodiscard]] NamedFrame function_frame(std::uint64_t address,
                                          const std::optional<SymbolHit>& symbol,
                                          const std::optional<DwarfPlace>& place) const {
    const bool has_function = place && !place->frames.back().name.empty();
    if (symbol && (symbol->sized || !has_function)) {
      return {demangle(symbol->name), true, symbol->begin, false, std::nullopt};
    }
    if (has_function) {
      return {demangle(place->frames.back().name), true, place->function.begin, false,
              std::nullopt};
    }
    const auto fde = fdes_.find(address);
    const std::uint64_t start = fde ? fde->begin : address;
    return {offset_name(path_, start), false, start, false, std::nullopt};
  }

  [[nodiscard]] NamedFrame stub_frame(const PltNames::Hit& stub) const {
    std::string name = stub.name;
    if (name.empty()) {
      const auto resolver = symbols_.starting_at(stub.resolver);
      name = resolver.empty() ? offset_name(path_, stub.resolver) : std::string(resolver);
    }
    return {demangle(name) + "@plt", true, stub.range.begin, false, std::nullopt};
  }

  std::string path_;
  std::shared_ptr<const core::ElfImage> image_;
  core::Decoder decode_;  // or null
  bool lacks_debug_file_;
  FdeBounds fdes_;
  PltNames plt_;
  SymbolTable symbols_;
  std::optional<DwarfLines> lines_;
};

/// Code without a readable file.
class OffsetNames : public ModuleNames {
 public:
  explicit OffsetNames(std::string path) : path_(std::move(path)) {}

  std::vector<NamedFrame> name(std::uint64_t address) override {
    return {{offset_name(path_, address), false, address, false, std::nullopt}};
  }

 private:
  std::string path_;
};

}  // namespace

std::string offset_name(const std::string& path, std::uint64_t offset) {
  const auto slash = path.rfind('/');
  const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
  return fmt::format("{}+{:#x}", base, offset);
}

std::unique_ptr<ModuleNames> open_module(const core::Module& module, const std::string& root,
                                         const SymbolizerOptions& options) {
  if (module.kind == core::ModuleKind::jit) {
    return open_jit_code(module, root);
  }
  if (module.image == nullptr) {
    return std::make_unique<OffsetNames>(module.path);
  }
  const core::ProgressLine progress("reading symbols of " + module.path);
  return std::make_unique<ElfNames>(module, find_sources(module, root, options), options.decode);
}

}  // namespace sp::symbols
