#include "commands/annotate/source.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace sp::annotate {

std::string SourceText::line(const symbols::SourceLine& where) {
  std::string text = fmt::format("{}:{}", where.file, where.line);
  if (const std::string* source = text_of(where)) {
    const std::size_t begin = source->find_first_not_of(" \t");
    text += begin == std::string::npos ? "" : "  " + source->substr(begin);
  }
  return text;
}

const std::string* SourceText::text_of(const symbols::SourceLine& where) {
  const std::vector<std::string>& lines = lines_of(where.file);
  return where.line > 0 && where.line <= lines.size() ? &lines[where.line - 1] : nullptr;
}

const std::vector<std::string>& SourceText::lines_of(const std::string& file) {
  const auto [known, is_new] = files_.try_emplace(file);
  std::error_code error;
  if (is_new && std::filesystem::is_regular_file(file, error)) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      known->second.push_back(line);
    }
  }
  return known->second;
}

}  // namespace sp::annotate
