#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Names come from a target and may contain any bytes; each format escapes them in its own way.
namespace sp::profiler {

/// One code point of presumed UTF-8. A byte that is not part of a valid sequence (RFC 3629: no
/// overlong forms, no surrogates) decodes as U+FFFD with length 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
[[nodiscard]] CodePoint decode_utf8(std::string_view text, std::size_t at);
void append_utf8(std::string& text, char32_t value);

[[nodiscard]] std::size_t count_code_points(std::string_view text);
/// At most `most` code points; a text that was cut ends in the ellipsis.
[[nodiscard]] std::string elided(std::string_view text, std::size_t most,
                                 std::string_view ellipsis = "..");

/// One line: each run of blanks and control characters becomes one blank, none at the ends.
[[nodiscard]] std::string folded_blanks(std::string_view text);

/// A frame of stacks.folded: `;` becomes `:`, control characters become `?`.
[[nodiscard]] std::string folded_name(std::string_view name);
/// A cell of a TSV file: tab, newline, carriage return and backslash become \t \n \r \\.
[[nodiscard]] std::string tsv_cell(std::string_view text);
/// XML 1.0 text or attribute value: & < > " ' are escaped; characters that XML cannot represent
/// become U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);
/// A JSON string with its quotes. < > & and U+2028/2029 are escaped too, so that it is safe inside
/// a script element.
[[nodiscard]] std::string json_string(std::string_view text);

/// A cell of a CSV file (RFC 4180): quoted where necessary.
[[nodiscard]] std::string csv_cell(std::string_view text, char separator = ',');
/// Valid UTF-8.
[[nodiscard]] std::string utf8_text(std::string_view text);

/// 1234567 -> "1,234,567": for people, not for files that programs read.
[[nodiscard]] std::string grouped(std::uint64_t number);

/// The last component of a path.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace sp::profiler
