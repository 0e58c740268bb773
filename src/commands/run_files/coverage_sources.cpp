#include "commands/run_files/coverage_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/decode_of_machine.h"
#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "core/module.h"
#include "symbols/symbolizer.h"

namespace sp::run_files {
namespace {

using Image = std::shared_ptr<const core::ElfImage>;

/// Null where the file is not there, or another build.
Image open_image(const profiler::CoverageTable::Module& module) {
  auto file = core::MappedFile::open(module.path);
  if (!file) {
    return nullptr;
  }
  auto image = core::ElfImage::parse(std::move(*file));
  return image && (*image)->identity() == module.build_id ? *image : nullptr;
}

}  // namespace

std::vector<profiler::SourceMap> source_maps(const std::vector<std::string>& texts) {
  std::vector<profiler::SourceMap> maps;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    maps.push_back({text.substr(0, sign), text.substr(sign + 1)});
  }
  return maps;
}

CoverageOfSources read_sources(const profiler::CoverageTable& table,
                               const std::vector<profiler::SourceMap>& maps,
                               const std::vector<std::string>& debug_directories) {
  CoverageOfSources result;
  symbols::SymbolizerOptions options{debug_directories, true,
                                     symbols::DebugServer::of_environment()};
  options.decode = arch::decode_of_machine;
  symbols::Symbolizer symbolizer(std::move(options));
  for (std::uint32_t i = 0; i < table.modules.size(); ++i) {
    core::Module module;
    module.id = core::ModuleId{i};
    module.kind = core::ModuleKind::file;
    module.path = table.modules[i].path;
    module.build_id = table.modules[i].build_id;
    module.image = open_image(table.modules[i]);
    if (module.image == nullptr) {
      result.missing.push_back(module.path);
      result.notes.push_back(
          fmt::format("{} is not there as it was recorded: its lines are left out", module.path));
    }
    symbolizer.add_module(module);
  }
  result.sources = profiler::source_coverage(
      table, [&](std::uint32_t module, std::uint64_t begin, std::uint64_t end) {
        return symbolizer.lines_of(core::ModuleId{module}, begin, end);
      });
  if (result.sources.functions_of_one_line > 0) {
    result.notes.push_back(fmt::format(
        "lines of {} functions are not known: --coverage=function saw only whether they were "
        "entered; --coverage sees lines",
        result.sources.functions_of_one_line));
  }
  for (std::string& note : profiler::map_sources(result.sources, maps)) {
    result.notes.push_back(std::move(note));
  }
  return result;
}

std::vector<profiler::ImageRange> read_images(const profiler::CoverageTable& table) {
  std::vector<profiler::ImageRange> images;
  for (const auto& module : table.modules) {
    profiler::ImageRange& range = images.emplace_back();
    if (const Image image = open_image(module); image != nullptr && !image->segments().empty()) {
      constexpr std::uint64_t kPage = 4096;
      range.begin = image->segments().front().address / kPage * kPage;
      for (const core::LoadSegment& segment : image->segments()) {
        range.end = std::max(range.end, segment.address + segment.memory_size);
      }
    }
  }
  return images;
}

}  // namespace sp::run_files
