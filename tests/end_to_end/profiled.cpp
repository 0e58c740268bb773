#include "end_to_end/profiled.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace sp::end_to_end {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

bool FoldedStack::has(const std::string& frame) const {
  return std::find(frames.begin(), frames.end(), frame) != frames.end();
}

bool RunFiles::complete() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (entry.path().filename().string().starts_with(".")) {
      return false;
    }
  }
  const std::string functions_tsv = read_file(directory_ + "/functions.tsv");
  const std::string folded = read_file(directory_ + "/stacks.folded");
  return !error && run().is_object() && functions_tsv.starts_with("module\tfunction\tsource\t") &&
         functions_tsv.ends_with("\n") && (folded.empty() || folded.ends_with("\n"));
}

nlohmann::json RunFiles::run() const {
  return nlohmann::json::parse(read_file(directory_ + "/run.json"), nullptr, false);
}

std::vector<FoldedStack> RunFiles::stacks() const {
  std::vector<FoldedStack> stacks;
  for (const std::string& line : split(read_file(directory_ + "/stacks.folded"), '\n')) {
    const auto blank = line.rfind(' ');
    if (blank != std::string::npos) {
      stacks.push_back({split(line.substr(0, blank), ';'), std::stoull(line.substr(blank + 1))});
    }
  }
  return stacks;
}

std::vector<FunctionRow> RunFiles::functions() const {
  std::vector<FunctionRow> rows;
  const auto lines = split(read_file(directory_ + "/functions.tsv"), '\n');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], '\t');
    if (cells.size() >= 5) {
      const bool exact = cells.size() >= 7 && cells[6] == "exact";
      rows.push_back({cells[0], cells[1], cells[2], std::stoull(cells[3]), std::stoull(cells[4]),
                      exact ? std::stoull(cells[5]) : 0});
    }
  }
  return rows;
}

std::uint64_t RunFiles::samples() const { return run().at("samples").at("total"); }
std::uint64_t RunFiles::on_cpu() const { return run().at("samples").at("on_cpu"); }
std::uint64_t RunFiles::stops() const { return run().at("cost").at("stops"); }

std::uint64_t RunFiles::self_of(const std::string& function) const {
  std::uint64_t sum = 0;
  for (const FunctionRow& row : functions()) {
    sum += row.function == function ? row.self : 0;
  }
  return sum;
}

std::uint64_t RunFiles::total_of(const std::string& function) const {
  std::uint64_t sum = 0;
  for (const FunctionRow& row : functions()) {
    sum += row.function == function ? row.total : 0;
  }
  return sum;
}

std::uint64_t RunFiles::calls_of(const std::string& function, const std::string& module) const {
  std::uint64_t sum = 0;
  for (const FunctionRow& row : functions()) {
    const bool wanted = module.empty() || row.module.ends_with("/" + module);
    sum += wanted && row.function == function ? row.calls : 0;
  }
  return sum;
}

double RunFiles::truncated_percent() const {
  const auto all = run();
  const auto& samples = all.at("samples");
  const double with_stack = samples.at("with_stack");
  return with_stack > 0 ? 100.0 * samples.at("truncated").get<double>() / with_stack : 0;
}

Words superprofiler(const TempDir& directory, const Words& options, const Words& program) {
  Words words = {SP_PROGRAM, "-o", directory.path()};
  if (std::find(options.begin(), options.end(), "--name") == options.end()) {
    words.insert(words.end(), {"--name", "run"});
  }
  words.insert(words.end(), options.begin(), options.end());
  if (!program.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), program.begin(), program.end());
  }
  return words;
}

Profiled profile(const TempDir& directory, const Words& options, const Words& program,
                 const StartOptions& start) {
  Outcome outcome = run(superprofiler(directory, options, program), start);
  return {std::move(outcome), RunFiles(directory / "run")};
}

}  // namespace sp::end_to_end
