#include "profiler/text.h"

#include <fmt/format.h>

#include <array>

namespace sp::profiler {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// RFC 3629: the number of bytes after a leading byte; 0 if it is not one.
std::size_t continuation_bytes(unsigned lead) {
  if (lead >= 0xC2 && lead <= 0xDF) {
    return 1;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    return 2;
  }
  return lead >= 0xF0 && lead <= 0xF4 ? 3 : 0;
}

bool is_control(char32_t value) {
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x2028 || value == 0x2029;
}

template <typename Append>
std::string rewritten(std::string_view text, Append append) {
  std::string out;
  out.reserve(text.size() + 2);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append(out, point.value);
    at += point.length;
  }
  return out;
}

void append_json(std::string& out, char32_t value) {
  switch (value) {
    case U'"':
      out += "\\\"";
      return;
    case U'\\':
      out += "\\\\";
      return;
    case U'\n':
      out += "\\n";
      return;
    case U'\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (is_control(value) || value == U'<' || value == U'>' || value == U'&') {
    out += fmt::format("\\u{:04x}", static_cast<unsigned>(value));
  } else {
    append_utf8(out, value);
  }
}

void append_xml(std::string& out, char32_t value) {
  switch (value) {
    case U'&':
      out += "&amp;";
      return;
    case U'<':
      out += "&lt;";
      return;
    case U'>':
      out += "&gt;";
      return;
    case U'"':
      out += "&quot;";
      return;
    case U'\'':
      out += "&#39;";
      return;
    default:
      break;
  }
  const bool representable = !is_control(value) && value != 0xFFFE && value != 0xFFFF;
  append_utf8(out, representable ? value : kReplacement);
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const std::size_t more = continuation_bytes(lead);
  if (more == 0 || text.size() - at <= more) {
    return {kReplacement, 1};
  }
  char32_t value = lead & (0x3FU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xC0U) != 0x80) {
      return {kReplacement, 1};
    }
    value = (value << 6U) | (next & 0x3FU);
  }
  constexpr std::array<char32_t, 4> kSmallest = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest.at(more) || value > 0x10FFFF || surrogate) {
    return {kReplacement, 1};
  }
  return {value, more + 1};
}

void append_utf8(std::string& text, char32_t value) {
  const auto put = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0U | (value >> 6U));
    put(0x80U | (value & 0x3FU));
  } else if (value < 0x10000) {
    put(0xE0U | (value >> 12U));
    put(0x80U | ((value >> 6U) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  } else {
    put(0xF0U | (value >> 18U));
    put(0x80U | ((value >> 12U) & 0x3FU));
    put(0x80U | ((value >> 6U) & 0x3FU));
    put(0x80U | (value & 0x3FU));
  }
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) {
    ++count;
  }
  return count;
}

std::string elided(std::string_view text, std::size_t most, std::string_view ellipsis) {
  if (count_code_points(text) <= most) {
    return std::string(text);
  }
  std::string mark(ellipsis);
  while (count_code_points(mark) > most) {
    mark.pop_back();
  }
  std::size_t end = 0;
  for (std::size_t kept = most - count_code_points(mark); kept > 0; --kept) {
    end += decode_utf8(text, end).length;
  }
  return std::string(text.substr(0, end)) + mark;
}

std::string folded_blanks(std::string_view text) {
  bool is_behind_blank = true;
  std::string line = rewritten(text, [&](std::string& out, char32_t value) {
    const bool is_blank = value == U' ' || is_control(value);
    if (!is_blank) {
      append_utf8(out, value);
    } else if (!is_behind_blank) {
      out += ' ';
    }
    is_behind_blank = is_blank;
  });
  if (line.ends_with(' ')) {
    line.pop_back();
  }
  return line;
}

std::string folded_name(std::string_view name) {
  if (name.empty()) {
    return "[unnamed]";
  }
  return rewritten(name, [](std::string& out, char32_t value) {
    append_utf8(out, value == U';' ? U':' : is_control(value) ? U'?' : value);
  });
}

std::string tsv_cell(std::string_view text) {
  return rewritten(text, [](std::string& out, char32_t value) {
    switch (value) {
      case U'\t':
        out += "\\t";
        break;
      case U'\n':
        out += "\\n";
        break;
      case U'\r':
        out += "\\r";
        break;
      case U'\\':
        out += "\\\\";
        break;
      default:
        append_utf8(out, is_control(value) ? U'?' : value);
    }
  });
}

std::string xml_text(std::string_view text) { return rewritten(text, append_xml); }

std::string json_string(std::string_view text) { return '"' + rewritten(text, append_json) + '"'; }

std::string csv_cell(std::string_view text, char separator) {
  if (text.find_first_of("\"\r\n") == std::string_view::npos &&
      text.find(separator) == std::string_view::npos) {
    return std::string(text);
  }
  std::string cell = "\"";
  for (const char c : text) {
    cell += c;
    if (c == '"') {
      cell += c;
    }
  }
  return cell + '"';
}

std::string utf8_text(std::string_view text) { return rewritten(text, append_utf8); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace sp::profiler
