#include "commands/annotate/source.h"

#include <fmt/format.h>

#include <fstream>

namespace sp::annotate {

std::string SourceText::line(const symbols::SourceLine& where) {
  const std::vector<std::string>& lines = lines_of(where.file);
  std::string text = fmt::format("{}:{}", where.file, where.line);
  if (where.line > 0 && where.line <= lines.size()) {
    const std::string& source = lines[where.line - 1];
    const std::size_t begin = source.find_first_not_of(" \t");
    text += begin == std::string::npos ? "" : "  " + source.substr(begin);
  }
  return text;
}

const std::vector<std::string>& SourceText::lines_of(const std::string& file) {
  const auto [known, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      known->second.push_back(line);
    }
  }
  return known->second;
}

}  // namespace sp::annotate
