#include "profiler/push/ingest_url.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace sp::profiler {
namespace {

bool is_unreserved(char c) {  // RFC 3986, section 2.3
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    encoded += is_unreserved(c) ? std::string(1, c)
                                : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

/// Without what ends a name or a label.
std::string plain(std::string_view text) {
  constexpr std::string_view kSyntax = "{}=,\"'\\";
  std::string safe(text);
  for (char& c : safe) {
    if (kSyntax.find(c) != std::string_view::npos || static_cast<unsigned char>(c) < ' ') {
      c = '_';
    }
  }
  return safe;
}

std::string name_with_labels(const Ingested& profile) {
  std::map<std::string, std::string> labels;
  std::string name = profile.program;
  for (const std::string& label : profile.labels) {
    const std::size_t sign = label.find('=');
    const std::string value = sign == std::string::npos ? "" : label.substr(sign + 1);
    if (const std::string key = label.substr(0, sign); key == "name") {
      name = value;
    } else {
      labels[plain(key)] = plain(value);
    }
  }
  std::string text = plain(name);
  char before = '{';
  for (const auto& [key, value] : labels) {
    text += fmt::format("{}{}={}", before, key, value);
    before = ',';
  }
  return labels.empty() ? text : text + "}";
}

}  // namespace

std::string ingest_url(const std::string& base, const Ingested& profile) {
  const std::size_t host = base.find("://") + 3;
  const std::size_t path = base.find('/', host);
  std::string url = base;
  if (path == std::string::npos) {
    url += "/ingest";
  } else if (path + 1 == base.size()) {
    url += "ingest";
  }
  return fmt::format("{}?name={}&from={}&until={}&format=pprof&spyName=superprofiler", url,
                     percent_encoded(name_with_labels(profile)), profile.from, profile.until);
}

}  // namespace sp::profiler
