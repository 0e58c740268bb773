#pragma once

#include <map>
#include <string>
#include <vector>

#include "symbols/source_line.h"

namespace sp::annotate {

/// The text of source lines whose files can be read.
class SourceText {
 public:
  /// "/src/demo.c:7  return sum;"; without the text if the file cannot be read.
  [[nodiscard]] std::string line(const symbols::SourceLine& where);
  /// The text of a line; null if the file cannot be read or has no such line.
  [[nodiscard]] const std::string* text_of(const symbols::SourceLine& where);

 private:
  const std::vector<std::string>& lines_of(const std::string& file);

  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace sp::annotate
