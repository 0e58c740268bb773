#include "commands/run_files/stack_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include "commands/run_files/tsv_file.h"
#include "profiler/text.h"

namespace sp::run_files {
namespace {

constexpr std::uint32_t kAmbiguous = std::numeric_limits<std::uint32_t>::max();

}  // namespace

StackFile::StackFile(std::string path, std::vector<profiler::RecordedFunction> rows)
    : path_(std::move(path)), functions_(std::move(rows)), rows_(functions_.size()) {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    names_.push_back(profiler::folded_name(functions_[i].name));
    const auto [place, is_new] = numbers_.try_emplace(names_.back(), i);
    if (!is_new) {
      place->second = kAmbiguous;
    }
  }
}

core::Result<std::unique_ptr<StackFile>> StackFile::open(
    const std::string& path, std::vector<profiler::RecordedFunction> rows) {
  std::unique_ptr<StackFile> file(new StackFile(path, std::move(rows)));
  const Visit nothing = [](std::span<const std::uint32_t>, std::uint64_t) {};
  if (const auto read = file->read(nothing); !read) {
    return tl::unexpected(read.error());
  }
  return file;
}

void StackFile::for_each(const Visit& visit) {
  if (const auto done = read(visit); !done) {
    damage_ = done.error().message();
  }
}

core::Result<void> StackFile::read(const Visit& visit) {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    return core::fail_errno("opening " + path_);
  }
  std::array<char, std::size_t{1} << 16U> buffer{};
  std::string part;  // of a frame, when the buffer ended in it
  line_ = 1;
  stack_.clear();
  last_stack_.clear();
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    std::string_view text(buffer.data(), static_cast<std::size_t>(file.gcount()));
    while (!text.empty()) {
      const auto* const end =
          std::find_if(text.begin(), text.end(), [](char c) { return c == ';' || c == '\n'; });
      std::string_view frame(text.begin(), end);
      if (!part.empty() || end == text.end()) {
        part += frame;
        frame = part;
      }
      if (end == text.end()) {
        break;
      }
      if (!take(frame, *end == '\n', visit)) {
        damage_ = fmt::format("{} is damaged in line {}", path_, line_);
        return {};
      }
      part.clear();
      text = std::string_view(end + 1, text.end());
    }
  }
  if (!part.empty() || !stack_.empty()) {  // the last line has no end: it was cut
    damage_ = fmt::format("{} is damaged in line {}", path_, line_);
  }
  return {};
}

/// A frame; the last one has the count behind it. False if it has none.
bool StackFile::take(std::string_view part, bool is_last, const Visit& visit) {
  if (!is_last) {
    stack_.push_back(number_of(part));
    return true;
  }
  const std::size_t blank = part.rfind(' ');
  const auto samples =
      blank == std::string_view::npos ? std::nullopt : parse_number(part.substr(blank + 1));
  if (!samples) {
    return false;
  }
  stack_.push_back(number_of(part.substr(0, blank)));
  visit(stack_, *samples);
  last_stack_.swap(stack_);
  stack_.clear();
  ++line_;
  return true;
}

std::uint32_t StackFile::number_of(std::string_view name) {
  const std::size_t depth = stack_.size();
  if (depth < last_stack_.size() && names_[last_stack_[depth]] == name) {
    return last_stack_[depth];
  }
  const auto found = numbers_.find(name);
  if (found != numbers_.end() && found->second != kAmbiguous) {
    return found->second;
  }
  const auto number = static_cast<std::uint32_t>(functions_.size());
  profiler::RecordedFunction function;
  function.name = name;
  functions_.push_back(std::move(function));
  names_.emplace_back(name);
  numbers_.insert_or_assign(std::string(name), number);
  return number;
}

}  // namespace sp::run_files
