#include "cli/settings_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/option_table.h"
#include "core/toml.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Replaces $VAR and ${VAR}; a variable that is not set is an error.
Result<std::string> expand_variables(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) {
      break;
    }
    text.remove_prefix(dollar + 1);
    const bool in_braces = text.starts_with('{');
    text.remove_prefix(in_braces ? 1 : 0);
    std::size_t length = 0;
    while (length < text.size() && is_name_character(text[length])) {
      ++length;
    }
    const std::string name(text.substr(0, length));
    text.remove_prefix(length);
    const char* const value = std::getenv(name.c_str());
    if (name.empty() || (in_braces && !text.starts_with('}'))) {
      return fail("a $ is not followed by the name of a variable");
    }
    if (value == nullptr) {
      return fail(fmt::format("the variable ${} is not set", name));
    }
    text.remove_prefix(in_braces ? 1 : 0);
    out += value;
  }
  return out;
}

/// A path as seen from the directory of the file.
Result<std::string> expand_path(std::string_view path, std::string_view directory) {
  if (path == "~" || path.starts_with("~/")) {
    return expand_variables(fmt::format("$HOME{}", path.substr(1)));
  }
  auto expanded = expand_variables(path);
  if (expanded && !expanded->starts_with('/')) {
    *expanded = fmt::format("{}/{}", directory, *expanded);
  }
  return expanded;
}

/// --only-instrument-execs takes `all` and names of files, too, and --module the latter.
bool is_path(const OptionRow& row, std::string_view value) {
  const bool may_be_name = row.name == "only-instrument-execs" || row.name == "module";
  const bool looks_like_path =
      value.find('/') != std::string_view::npos || value.starts_with('~') || value.starts_with('$');
  return row.completes == Completes::directories ||
         (row.completes == Completes::files && (!may_be_name || looks_like_path));
}

class Reader {
 public:
  explicit Reader(const SettingsFile& file)
      : file_(file), directory_(file.path.substr(0, file.path.rfind('/'))) {}

  Result<std::vector<SetOption>> read() const {
    const auto table = core::parse_toml(file_.text);
    if (!table) {
      return refuse(table.error().line, table.error().what);
    }
    std::vector<SetOption> all;
    for (const auto& [key, node] : *table) {
      auto option = read_option(key.str(), key.source().begin.line, node);
      if (!option) {
        return tl::unexpected(option.error());
      }
      if (*option) {
        all.push_back(**std::move(option));
      }
    }
    return all;
  }

 private:
  tl::unexpected<core::Error> refuse(std::uint32_t line, const std::string& what) const {
    return fail(fmt::format("{}:{}: {}", file_.path, line, what));
  }

  Result<std::optional<SetOption>> read_option(std::string_view name, std::uint32_t line,
                                               const toml::node& node) const {
    const OptionRow* const row = find_option(name);
    if (row == nullptr) {
      const OptionRow* const nearest = nearest_option(fmt::format("--{}", name));
      return refuse(
          line,
          fmt::format("there is no option '{}'; {}", name,
                      nearest != nullptr ? fmt::format("did you mean {}?", nearest->name)
                                         : "keys are long names of options: superprofiler --help"));
    }
    if (!may_be_set(*row)) {
      return refuse(line, fmt::format("--{} is for the command line only; remove it here", name));
    }
    if (const auto flag = node.value_exact<bool>(); flag && row->takes_no_value()) {
      return *flag ? std::optional(SetOption{std::string(name), {}}) : std::nullopt;
    }
    SetOption option{std::string(name), {}};
    if (const toml::array* const array = node.as_array()) {
      for (const toml::node& one : *array) {
        if (auto added = add(*row, one, option); !added) {
          return tl::unexpected(added.error());
        }
      }
    } else if (auto added = add(*row, node, option); !added) {
      return tl::unexpected(added.error());
    }
    return option.values.empty() ? std::nullopt : std::optional(std::move(option));
  }

  Result<void> add(const OptionRow& row, const toml::node& node, SetOption& option) const {
    const std::uint32_t line = node.source().begin.line;
    if (row.value.empty()) {
      return refuse(line, fmt::format("{0} is true or false; write {0} = true", row.name));
    }
    std::string value;
    if (const auto text = node.value_exact<std::string>()) {
      value = *text;
    } else if (const auto whole = node.value_exact<std::int64_t>()) {
      value = fmt::format("{}", *whole);
    } else if (const auto real = node.value_exact<double>()) {
      value = fmt::format("{}", *real);
    } else {
      return refuse(line, fmt::format("{} takes a string or a number ({})", row.name, row.help));
    }
    if (is_path(row, value)) {
      auto path = expand_path(value, directory_);
      if (!path) {
        return refuse(line, fmt::format("{}: {}", row.name, path.error().message()));
      }
      value = *std::move(path);
    }
    option.values.push_back(std::move(value));
    return {};
  }

  const SettingsFile& file_;
  std::string directory_;  // "" for /
};

}  // namespace

Result<std::vector<SetOption>> read_settings_file(const SettingsFile& file) {
  return Reader(file).read();
}

}  // namespace sp::cli
