#include "commands/xray/xray.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "commands/run_files/function_table.h"
#include "commands/run_files/pager.h"
#include "commands/xray/listing.h"
#include "commands/xray/process_modules.h"
#include "commands/xray/sled_code.h"
#include "core/bytes.h"
#include "core/log.h"
#include "profiler/text.h"
#include "symbols/elf_sections.h"
#include "symbols/function_filters.h"
#include "symbols/left_places.h"
#include "symbols/symbolizer.h"
#include "symbols/xray_map.h"

namespace sp::xray {
namespace {

/// Which functions to list: all, if there are no rules.
struct Rules {
  symbols::FunctionFilters filters;
  std::vector<std::string> debug_directories;
};

constexpr int kFailure = 125;
constexpr int kNoMap = 1;
constexpr int kUsage = 2;

/// What could not be done with a file, in front of the reason.
core::Error about(const std::string& path, const core::Error& error) {
  return {fmt::format("{}: {}", path, error.doing), error.code};
}

core::Result<core::Module> open_file(const std::string& path) {
  const auto file = core::MappedFile::open(path);
  if (!file && file.error().code == EINVAL) {
    return core::fail(
        fmt::format("{} is no regular file, or is empty; name a program or a library", path));
  }
  if (!file) {
    return tl::unexpected(file.error());
  }
  auto image = core::ElfImage::parse(*file);
  if (!image) {
    return tl::unexpected(core::Error{
        fmt::format("{} is {}; name a program or a library", path, image.error().doing)});
  }
  const auto header = core::read_at<Elf64_Ehdr>((*image)->bytes(), 0);
  if (header && header->e_type == ET_REL) {
    return core::fail(fmt::format(
        "{} is an object file; link it first, and name the program or the library", path));
  }
  core::Module module;
  module.id = core::ModuleId{1};
  module.kind = core::ModuleKind::file;
  module.path = path;
  module.build_id = (*image)->build_id();
  module.image = *std::move(image);
  return module;
}

std::vector<FunctionName> names_of(const core::Module& module, const symbols::XrayMap& map,
                                   symbols::Symbolizer& symbolizer) {
  symbolizer.add_module(module);
  std::vector<FunctionName> names;
  for (const core::Sled& sled : map.sleds) {
    if (sled.function_id > names.size()) {
      const auto& frame = symbolizer.name({module.id, sled.function}, false).back();
      names.push_back({frame.function, frame.has_symbol});
    }
  }
  return names;
}

/// Leaves the sleds of those functions that --trace would trace by these rules.
void select(symbols::XrayMap& map, const core::Module& module, const Rules& rules) {
  run_files::FunctionTableInput input;
  input.image = module.image;
  input.path = module.path;
  input.debug_directories = rules.debug_directories;
  input.server = symbols::DebugServer::of_environment();
  input.filters = &rules.filters;
  std::unordered_set<std::uint64_t> traced;
  for (const run_files::TabledFunction& function : run_files::function_table(input)) {
    if (function.row.is_instrumented) {
      traced.insert(function.row.offset);
    }
  }
  std::erase_if(map.sleds, [&](const core::Sled& sled) { return !traced.contains(sled.function); });
}

/// Nothing if the module has no map.
core::Result<std::optional<ListedModule>> list_module(const core::Module& module,
                                                      symbols::Symbolizer& symbolizer,
                                                      const Rules& rules, const ReadCode& read) {
  auto map = symbols::read_xray_map(module.image);
  if (!map) {
    return tl::unexpected(about(module.path, map.error()));
  }
  if (!*map) {
    return std::nullopt;
  }
  ListedModule listed{module.path, **std::move(map), {}, {}};
  listed.functions = names_of(module, listed.map, symbolizer);
  if (!rules.filters.is_empty()) {
    select(listed.map, module, rules);
  }
  listed.states = states_of(listed.map.sleds, module.image->machine(), read);
  return listed;
}

/// `where`: "FILE", or "FILE of process PID".
int say_what_else(const std::string& where, const core::Module& module) {
  using Table = symbols::ElfSections::Table;
  const Table table = symbols::ElfSections(module.image).table();
  if (table == Table::cut_off) {
    core::log_error("{} is cut off: its section table is not there; get the whole file", where);
    return kFailure;
  }
  if (table == Table::missing) {
    core::log_error(
        "{} has no section table, which says where an XRay map is; name the file as it was linked",
        where);
    return kNoMap;
  }
  const auto left = symbols::find_left_places(module.image);
  if (!left) {
    core::print_error(about(module.path, left.error()).message());
    return kFailure;
  }
  const std::string places = symbols::describe(*left);
  core::log_error("{} has no XRay map; it has {}; compile it with clang -fxray-instrument", where,
                  places.empty() ? "no other place for instrumentation" : places);
  return kNoMap;
}

void print_notes(const std::vector<ListedModule>& modules) {
  for (const ListedModule& module : modules) {
    if (!module.map.index_difference.empty()) {
      core::log_note("{}: {}", module.path, module.map.index_difference);
    }
    if (module.map.discarded > 0) {
      core::log_note("{}: {} entries of functions that the linker has discarded are left out",
                     module.path, module.map.discarded);
    }
  }
}

int print(const std::vector<ListedModule>& modules, bool yaml) {
  if (yaml) {
    write_yaml(std::cout, modules);
  }
  const bool is_shown = yaml
                            ? static_cast<bool>(std::cout.flush())
                            : run_files::show([&](std::ostream& out) { write_text(out, modules); });
  if (!is_shown) {
    core::print_error("writing to stdout failed");
    return kFailure;
  }
  print_notes(modules);
  return 0;
}

int list_file(const cli::XrayOptions& options, const Rules& rules) {
  const auto module = open_file(options.file);
  if (!module) {
    core::print_error(module.error().message());
    return kFailure;
  }
  symbols::Symbolizer symbolizer(
      {options.debug_dirs, false, symbols::DebugServer::of_environment()});
  auto listed = list_module(
      *module, symbolizer, rules, [&](std::uint64_t address, std::span<std::byte> into) {
        const auto code = core::cut(module->image->bytes_at(address), 0, into.size());
        std::copy(code.begin(), code.end(), into.begin());
        return code.size();
      });
  if (!listed) {
    core::print_error(listed.error().message());
    return kFailure;
  }
  if (!*listed) {
    return say_what_else(options.file, *module);
  }
  std::vector<ListedModule> modules;
  modules.push_back(**std::move(listed));
  return print(modules, options.yaml);
}

int list_process(pid_t pid, const cli::XrayOptions& options, const Rules& rules) {
  const auto process = read_process(pid);
  if (!process) {
    core::print_error(process.error().message());
    return kFailure;
  }
  symbols::Symbolizer symbolizer(
      {options.debug_dirs, false, symbols::DebugServer::of_environment()});
  std::vector<ListedModule> modules;
  for (const core::Module& module : process->modules) {
    auto listed = list_module(module, symbolizer, rules,
                              [&](std::uint64_t address, std::span<std::byte> into) {
                                return process->memory.read(module.base + address, into);
                              });
    if (!listed) {
      core::print_error(listed.error().message());
      return kFailure;
    }
    if (*listed) {
      modules.push_back(**std::move(listed));
    }
  }
  if (!modules.empty()) {
    return print(modules, options.yaml);
  }
  if (process->modules.empty()) {
    core::log_error(
        "process {} has mapped no ELF file that can be opened; name its file: "
        "superprofiler xray BIN",
        pid);
    return kNoMap;
  }
  const core::Module& first = process->modules.front();
  return say_what_else(fmt::format("{} of process {}, as its libraries,", first.path, pid), first);
}

}  // namespace

int run(const cli::XrayOptions& options) {
  std::vector<std::string> notes;
  auto filters = symbols::FunctionFilters::read(options.filters, options.attr_lists, notes);
  if (!filters) {
    core::print_error(filters.error().message());
    return filters.error().code == 0 ? kUsage : kFailure;
  }
  for (const std::string& note : notes) {
    core::print_note(note);
  }
  const Rules rules{*std::move(filters), options.debug_dirs};
  return options.pid ? list_process(*options.pid, options, rules) : list_file(options, rules);
}

}  // namespace sp::xray
