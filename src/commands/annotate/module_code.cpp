#include "commands/annotate/module_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/elf_image.h"
#include "core/module.h"

namespace sp::annotate {
namespace {

using core::fail;
using core::Result;

constexpr std::uint64_t kLongestFunction = 1U << 20U;  // bytes; the rest is not listed
constexpr core::ModuleId kModule{1};

std::string note_on(const ModuleEntry& entry, const std::string& build_id) {
  if (entry.build_id.empty()) {
    return fmt::format("{} has no build-id: it may not be the file that was run", entry.path);
  }
  if (entry.build_id == build_id) {
    return "";
  }
  return fmt::format(
      "{} is not the file that was run (build-id {}, then {}): the counts may be next to the "
      "wrong instructions",
      entry.path, build_id.empty() ? "none" : build_id, entry.build_id);
}

}  // namespace

Result<ModuleCode> ModuleCode::open(std::span<const ModuleEntry> modules,
                                    const CountedFunction& function,
                                    std::vector<std::string> debug_dirs) {
  const auto entry = std::find_if(modules.begin(), modules.end(), [&](const ModuleEntry& module) {
    return module.path == function.module;
  });
  if (entry == modules.end() || entry->kind != "file") {
    return fail(fmt::format("the code of {} was in memory only ({}); there is no file to read",
                            function.name, function.module));
  }
  const auto image = core::MappedFile::open(entry->path).and_then(core::ElfImage::parse);
  if (!image) {
    return fail(
        fmt::format("the code of {} cannot be read: {}", function.name, image.error().message()));
  }
  core::Module module;
  module.id = kModule;
  module.kind = core::ModuleKind::file;
  module.path = entry->path;
  module.image = *image;
  module.build_id = (*image)->build_id();
  std::string note = note_on(*entry, module.build_id);
  return ModuleCode(module, std::move(note), std::move(debug_dirs));
}

ModuleCode::ModuleCode(const core::Module& module, std::string note,
                       std::vector<std::string> debug_dirs)
    : image_(module.image),
      note_(std::move(note)),
      disassembler_(image_->machine()),
      symbolizer_({.debug_directories = std::move(debug_dirs),
                   .server = symbols::DebugServer::of_environment()}) {
  symbolizer_.add_module(module);
}

std::span<const std::byte> ModuleCode::code_of(const CountedFunction& function) {
  return bytes(function.start, find_end(function));
}

std::vector<ListedInstruction> ModuleCode::list(const CountedFunction& function,
                                                std::span<const std::byte> code) const {
  return list_instructions(code, function.start, function.blocks, disassembler_.decode(),
                           disassembler_.unit());
}

std::string ModuleCode::text(const ListedInstruction& row) {
  const auto code = bytes(row.address, row.address + row.length);
  return (row.is_code ? disassembler_.text(code, row.address) : byte_text(code)) +
         (row.goes_to ? target(*row.goes_to) : std::string());
}

std::optional<symbols::SourceLine> ModuleCode::source_of(std::uint64_t address) {
  return symbolizer_.name({kModule, address}, false).front().source;
}

std::span<const std::byte> ModuleCode::bytes(std::uint64_t begin, std::uint64_t end) const {
  const auto all = image_->bytes_at(begin);
  return all.first(std::min<std::size_t>(all.size(), end - begin));
}

std::uint64_t ModuleCode::find_end(const CountedFunction& function) {
  std::uint64_t counted_end = function.start;
  for (const Block& block : function.blocks) {
    counted_end = std::max(counted_end, block.offset + block.size);
  }
  counted_end = std::min(counted_end, function.start + kLongestFunction);
  const auto own = symbolizer_.name({kModule, function.start}, false).back();
  std::uint64_t end = function.start;
  while (end - function.start < kLongestFunction) {
    const auto& here = symbolizer_.name({kModule, end}, false).back();
    const auto code = image_->bytes_at(end);
    if (code.empty() ||
        (end >= counted_end && (here.start != own.start || here.function != own.function))) {
      break;
    }
    const auto instruction = disassembler_.decode()(code, core::Address{end});
    end += instruction ? instruction->length : disassembler_.unit();
  }
  return std::max(end, counted_end);
}

std::string ModuleCode::target(std::uint64_t address) {
  const symbols::NamedFrame& to = symbolizer_.name({kModule, address}, false).back();
  if (!to.has_symbol) {
    return "";
  }
  return to.start == address ? fmt::format("  <{}>", to.function)
                             : fmt::format("  <{}+{:#x}>", to.function, address - to.start);
}

}  // namespace sp::annotate
