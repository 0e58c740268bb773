#include "commands/symbols/symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/run_files/function_places.h"
#include "commands/run_files/function_table.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/pager.h"
#include "commands/run_files/similar_names.h"
#include "commands/symbols/binary_file.h"
#include "commands/symbols/debug_file_check.h"
#include "core/log.h"
#include "profiler/formats/symbols_tsv.h"
#include "profiler/text.h"
#include "symbols/elf_sections.h"

namespace sp::symbols_command {
namespace {

constexpr int kOther = 1;
constexpr int kUsage = 2;
constexpr int kFailure = 125;

int fail(const core::Error& error, int status = kFailure) {
  core::print_error(error.message());
  return status;
}

/// As a process would show it that has mapped the file.
std::string mapped_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

int check(const cli::SymbolsOptions& options) {
  const auto file = open_elf_file(options.binary);
  if (!file) {
    return fail(file.error());
  }
  const auto debug_file = open_elf_file(options.check);
  if (!debug_file) {
    return fail(debug_file.error());
  }
  const symbols::ElfSections sections(*file);
  if (sections.all().empty()) {
    return fail({options.binary + " has no section headers: there is nothing to compare"}, kOther);
  }
  const std::string difference = first_difference(sections, symbols::ElfSections(*debug_file));
  if (!difference.empty()) {
    return fail({fmt::format("{} is not the debug file of {}: {}", options.check, options.binary,
                             difference)},
                kOther);
  }
  core::log_note(
      "{} is a debug file of {}: {}, and all sections are where they should be", options.check,
      options.binary,
      sections.build_id().empty() ? "neither has a build-id" : "build-id " + sections.build_id());
  return 0;
}

/// Says so if --only-funcs names nothing.
void note_selection(const std::vector<run_files::TabledFunction>& table,
                    const cli::SymbolsOptions& options) {
  constexpr std::string_view kLeftOut = "option:--only-funcs";
  const bool has_any = std::any_of(table.begin(), table.end(), [&](const auto& one) {
    return one.row.reason != kLeftOut && !one.function.is_part;
  });
  if (options.only_funcs.empty() || has_any) {
    return;
  }
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const auto& one : table) {
    names.push_back(one.row.demangled_name);
  }
  const auto similar = run_files::similar_names(names, options.only_funcs.front());
  core::print_note(
      fmt::format("no function of {} matches --only-funcs{}", options.binary,
                  similar.empty() ? "" : fmt::format("; there are {}", fmt::join(similar, ", "))));
}

int write(const std::vector<profiler::SymbolRow>& rows, const cli::SymbolsOptions& options) {
  const auto writer = [&](std::ostream& out) {
    if (options.separator) {
      profiler::write_symbols_csv(out, rows, *options.separator);
    } else {
      profiler::write_symbols_tsv(out, rows);
    }
  };
  if (options.output.empty() || options.output == "-") {
    return run_files::show(writer) ? 0 : fail({"writing to stdout failed"});
  }
  if (const auto written = run_files::write_output(options.output, writer); !written) {
    return fail(written.error());
  }
  const auto traced =
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.is_instrumented; });
  core::print_note(fmt::format("{}: {} functions, of which --trace would trace {}", options.output,
                               profiler::grouped(rows.size()),
                               profiler::grouped(static_cast<std::uint64_t>(traced))));
  return 0;
}

}  // namespace

int run(const cli::SymbolsOptions& options) {
  if (!options.check.empty()) {
    return check(options);
  }
  std::vector<std::string> notes;
  const auto filters = symbols::FunctionFilters::read(options.filters, options.attr_lists, notes);
  if (!filters) {
    return fail(filters.error(), filters.error().code == 0 ? kUsage : kFailure);
  }
  const auto image = open_program(options.binary);
  if (!image) {
    return fail(image.error());
  }
  for (const std::string& note : notes) {
    core::print_note(note);
  }
  if (const auto checked = run_files::check_places(*image, options.binary, options.places);
      !checked) {
    return fail(checked.error(), kUsage);
  }
  run_files::FunctionTableInput input;
  input.image = *image;
  input.path = mapped_path(options.binary);
  input.debug_directories = options.debug_dirs;
  input.server = symbols::DebugServer::of_environment();
  input.filters = &*filters;
  input.selection.only_funcs = options.only_funcs;
  input.places = options.places;
  input.has_lines = true;
  input.has_instructions = true;
  auto table = run_files::function_table(input);
  note_selection(table, options);
  std::vector<profiler::SymbolRow> rows;
  rows.reserve(table.size());
  for (run_files::TabledFunction& one : table) {
    rows.push_back(std::move(one.row));
  }
  return write(rows, options);
}

}  // namespace sp::symbols_command
