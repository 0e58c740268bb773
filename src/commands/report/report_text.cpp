#include "commands/report/report_text.h"

#include <fmt/format.h>

#include <ostream>

#include "profiler/formats/json_writer.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

using profiler::folded_blanks;
using profiler::grouped;
using profiler::utf8_text;

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kLongestCommand = 100;

std::string share(std::uint64_t samples, std::uint64_t all) {
  return all == 0 ? "-"
                  : fmt::format("{:.1f} %",
                                100.0 * static_cast<double>(samples) / static_cast<double>(all));
}

std::string name_of(std::string_view name) {
  return profiler::elided(folded_blanks(utf8_text(name)), kLongestName);
}

}  // namespace

void write_text(std::ostream& out, const Title& title, const Table& table) {
  out << fmt::format(
      "{}: {}; {}\n", profiler::elided(folded_blanks(utf8_text(title.run)), kLongestCommand),
      title.sampling, title.counts.empty() ? "nothing was counted" : "counted: " + title.counts);
  const auto samples = [&](std::uint64_t number) {
    return fmt::format("{:>8} {:>12}  ", share(number, table.samples), grouped(number));
  };
  const auto line = [&](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  line(fmt::format("{}{:>21}  {:>16} {:16} {:{}}{}",
                   title.has_self ? "                 self  " : "", "total", "calls", "kind",
                   title.rows, kLongestName + 2, title.has_modules ? "module" : ""));
  for (const Row& row : table.rows) {
    const std::string name = name_of(row.name);
    const std::size_t padding = kLongestName - profiler::count_code_points(name) + 2;
    line(fmt::format("{}{}{:>16} {:16} {}{}{}", title.has_self ? samples(row.self) : "",
                     samples(row.total), row.calls ? grouped(*row.calls) : "-", row.calls_kind,
                     name, std::string(padding, ' '),
                     title.has_modules ? profiler::base_name(row.module) : ""));
  }
  if (table.left_out > 0) {
    out << fmt::format("{} more below the limit: --percent-limit 0 shows them\n",
                       grouped(table.left_out));
  }
}

void write_json(std::ostream& out, const Title& title, const Table& table) {
  profiler::JsonWriter json(out);
  json.begin_object();
  json.key("command").string(title.run);
  json.key("sampled").string(title.sampling);
  json.key("counts_kind");
  title.counts.empty() ? json.null() : json.string(title.counts);
  json.key("samples").number(table.samples);
  json.key("rows_of").string(title.rows);
  json.key("left_out").number(table.left_out);
  json.key("rows").begin_array();
  for (const Row& row : table.rows) {
    json.begin_object();
    json.key("name").string(row.name);
    if (title.has_modules) {
      json.key("module").string(row.module);
      json.key("source").string(row.source);
    }
    if (title.has_self) {
      json.key("self_samples").number(row.self);
    }
    json.key("total_samples").number(row.total);
    json.key("calls");
    row.calls ? json.number(*row.calls) : json.null();
    json.key("calls_kind");
    row.calls ? json.string(row.calls_kind) : json.null();
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace sp::report
