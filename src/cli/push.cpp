#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr Duration kShortestPush = std::chrono::seconds(1);

bool is_unprintable(char c) { return c <= ' ' || c == 0x7F || c == '"' || c == '\\'; }

Result<void> check_url(std::string_view url) {
  if (std::any_of(url.begin(), url.end(), is_unprintable)) {
    return fail("--push: the address has a blank or another character that must be encoded (%20)");
  }
  const std::size_t scheme = url.find("://");
  const std::string_view name = url.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
    return fail(
        fmt::format("--push: '{}' is no address of a server, such as http://localhost:4040", url));
  }
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty() || host.starts_with(':')) {
    return fail(
        fmt::format("--push: '{}' names no host; give one, as in http://localhost:4040", url));
  }
  if (host.find('@') != std::string_view::npos) {
    return fail(
        "--push: others see the command line; give a token in the environment instead "
        "(SUPERPROFILER_PUSH_TOKEN)");
  }
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return fail(
        "--push: the address may have a path, but no query; use --label name=.. for a name");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> read_labels(const Arguments& given) {
  std::vector<std::string> labels = given.all("label");
  for (const std::string& label : labels) {
    if (label.find('=') == std::string::npos || label.starts_with('=')) {
      return fail(fmt::format("--label: '{}' is not NAME=VALUE, such as commit=abc", label));
    }
  }
  return labels;
}

Result<void> read_push_options(const Arguments& given, RecordOptions& options) {
  if (!given.has("push")) {
    return given.has("push-every")
               ? fail("--push-every is for --push; add --push URL, or leave it out")
               : Result<void>{};
  }
  if (options.single != Single::off) {
    return fail("--push sends samples, and -s takes none; leave one of them out");
  }
  PushTo push;
  push.url = *given.last("push");
  if (auto checked = check_url(push.url); !checked) {
    return checked;
  }
  if (const auto value = given.last("push-every")) {
    const auto time = parse_duration("--push-every", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (*time < kShortestPush) {
      return fail("--push-every: the shortest period is 1s");
    }
    push.every = *time;
  }
  auto labels = read_labels(given);
  if (!labels) {
    return tl::unexpected(labels.error());
  }
  push.labels = *std::move(labels);
  if (const char* const token = std::getenv(kPushToken)) {
    push.token = token;
    if (std::any_of(push.token.begin(), push.token.end(), [](char c) { return c < ' '; })) {
      return fail(
          fmt::format("{} has a character that no token has, perhaps a line end", kPushToken));
    }
  }
  options.push = std::move(push);
  return {};
}

}  // namespace sp::cli
