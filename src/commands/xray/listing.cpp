#include "commands/xray/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "commands/xray/llvm_names.h"
#include "profiler/text.h"

namespace sp::xray {
namespace {

/// What a row shows but the function, which stands last since it may be long.
using Cells = std::array<std::string, 5>;

std::string_view state_name(arch::SledState state) {
  switch (state) {
    case arch::SledState::unpatched:
      return "unpatched";
    case arch::SledState::patched:
      return "patched";
    case arch::SledState::breakpoint:
      return "by-us";
    case arch::SledState::unknown:
      return "unknown";
  }
  return "";
}

struct Row {
  Cells cells;
  std::string function;
};

Row row_of(const ListedModule& module, std::size_t number, bool with_module) {
  const core::Sled& sled = module.map.sleds[number];
  const std::string id =
      with_module ? fmt::format("{}:{}", profiler::base_name(module.path), sled.function_id)
                  : fmt::format("{}", sled.function_id);
  return {
      {id, std::string(kind_name(sled.kind)), fmt::format("{:#x}", sled.address),
       sled.always ? "yes" : "no", std::string(state_name(module.states[number]))},
      profiler::folded_blanks(profiler::utf8_text(module.functions[sled.function_id - 1].text))};
}

void write_yaml_sled(std::ostream& out, const core::Sled& sled, const std::string& function) {
  out << fmt::format(
      "- {{ id: {}, address: 0x{:X}, function: 0x{:X}, kind: {}, always-instrument: {}, "
      "function-name: {}, version: {} }}\n",
      sled.function_id, sled.address, sled.function, kind_name(sled.kind), sled.always, function,
      unsigned{sled.version});
}

}  // namespace

std::string_view kind_name(core::SledKind kind) {
  switch (kind) {
    case core::SledKind::entry:
      return "function-enter";
    case core::SledKind::exit:
      return "function-exit";
    case core::SledKind::tail_exit:
      return "tail-exit";
    case core::SledKind::entry_with_argument:
      return "log-args-enter";
    case core::SledKind::custom_event:
      return "custom-event";
    case core::SledKind::typed_event:
      return "typed-event";
  }
  return "";
}

void write_text(std::ostream& out, const std::vector<ListedModule>& modules) {
  std::vector<Row> rows = {{{"id", "kind", "address", "always", "state"}, "function"}};
  for (const ListedModule& module : modules) {
    for (std::size_t i = 0; i < module.map.sleds.size(); ++i) {
      rows.push_back(row_of(module, i, modules.size() > 1));
    }
  }
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], profiler::count_code_points(row.cells[i]));
    }
  }
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out << fmt::format("{:<{}}  ", row.cells[i], widths[i]);
    }
    out << row.function << '\n';
  }
}

void write_yaml(std::ostream& out, const std::vector<ListedModule>& modules) {
  for (const ListedModule& module : modules) {
    if (modules.size() > 1) {
      out << "# " << profiler::folded_blanks(profiler::utf8_text(module.path)) << '\n';
    }
    out << "---\n";
    for (const core::Sled& sled : module.map.sleds) {
      const FunctionName& name = module.functions[sled.function_id - 1];
      const std::string text =
          name.has_symbol ? llvm_name(name.text) : fmt::format("@({:x})", sled.function);
      write_yaml_sled(out, sled, yaml_scalar(text));
    }
    out << "...\n";
  }
}

}  // namespace sp::xray
