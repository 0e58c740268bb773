// How long a file and a function and how large a class may get in src/. Reads the layout that
// clang-format gives, so that it needs no parser.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestFile = 300;
constexpr std::size_t kLongestFunction = 60;
constexpr std::size_t kMostPrivateMethods = 15;
/// What a file that must be longer says in its first lines, with its reason.
constexpr std::string_view kExcuse = "Longer than other files because";

using Lines = std::vector<std::string>;

Lines lines_of(const fs::path& path) {
  Lines lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<fs::path> sources() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SP_SOURCE_DIR) / "src")) {
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") {
      paths.push_back(entry.path());
    }
  }
  return paths;
}

bool is_excused(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size() && i < 5; ++i) {
    if (lines[i].find(kExcuse) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// A function that is too long: its first line, and how long it is.
struct Long {
  std::string line;
  std::size_t length = 0;
};

/// Functions at namespace scope and in classes: `{` at a line's end, `}` alone at its indentation.
std::vector<Long> long_functions(const Lines& lines) {
  static const std::regex opens(
      R"(^( {0,2})[^ #/}].*\) ?(const|noexcept|override|final|->.*| )*\{$)");
  std::vector<Long> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, opens)) {
      continue;
    }
    const std::string end = match[1].str() + "}";
    std::size_t last = i + 1;
    while (last < lines.size() && lines[last] != end) {
      ++last;
    }
    if (last < lines.size() && last - i > kLongestFunction) {
      found.push_back({lines[i], last - i});
    }
  }
  return found;
}

/// A class and how many private methods its declaration has.
struct Class {
  std::string name;
  std::size_t private_methods = 0;
};

std::vector<Class> classes_of(const Lines& lines) {
  static const std::regex begins(R"(^class (\w+).*\{$)");
  // A declaration at the class's own indentation with a parameter list, on its first line.
  static const std::regex method(
      R"(^  (?! )(template|\[\[nodiscard\]\] |static |virtual |explicit )?[\w:<>,&* \[\]]*[ &*]\w+\(.*)");
  std::vector<Class> classes;
  std::optional<Class> open;
  bool is_private = true;
  for (const std::string& line : lines) {
    std::smatch match;
    if (std::regex_match(line, match, begins)) {
      open = Class{match[1], 0};
      is_private = true;
    } else if (open && line == "};") {
      classes.push_back(*open);
      open.reset();
    } else if (open && (line == " public:" || line == " protected:" || line == " private:")) {
      is_private = line == " private:";
    } else if (open && is_private && line.find("//") == std::string::npos &&
               std::regex_match(line, method)) {
      ++open->private_methods;
    }
  }
  return classes;
}

TEST(Sizes, no_file_is_long_without_a_reason) {
  for (const fs::path& path : sources()) {
    const Lines lines = lines_of(path);
    EXPECT_TRUE(lines.size() <= kLongestFile || is_excused(lines))
        << path << " has " << lines.size() << " lines";
  }
}

TEST(Sizes, no_function_is_long) {
  std::size_t seen = 0;
  for (const fs::path& path : sources()) {
    const Lines lines = lines_of(path);
    seen += lines.size();
    if (is_excused(lines)) {
      continue;
    }
    for (const Long& function : long_functions(lines)) {
      ADD_FAILURE() << path << ": " << function.line << " has " << function.length << " lines";
    }
  }
  EXPECT_GT(seen, 10000U);
}

TEST(Sizes, no_class_has_many_private_methods) {
  std::size_t methods = 0;
  for (const fs::path& path : sources()) {
    for (const Class& one : classes_of(lines_of(path))) {
      methods += one.private_methods;
      EXPECT_LE(one.private_methods, kMostPrivateMethods) << one.name << " in " << path;
    }
  }
  EXPECT_GT(methods, 200U) << "private methods are not seen any more";
}

TEST(Sizes, are_measured) {
  Lines function = {"void much(int a) {"};
  function.insert(function.end(), kLongestFunction + 1, "  work();");
  function.push_back("}");
  ASSERT_EQ(long_functions(function).size(), 1U);
  function.erase(function.begin() + 1, function.begin() + 3);
  EXPECT_TRUE(long_functions(function).empty());

  const Lines declaration = {"class One final : public Two {",
                             " public:",
                             "  void shown();",
                             " private:",
                             "  [[nodiscard]] bool hidden() const;",
                             "  static void other(int a,",
                             "                    int b);",
                             "  void with_body() {",
                             "    return call(1);",
                             "  }",
                             "  int field_ = 0;",
                             "};"};
  const auto classes = classes_of(declaration);
  ASSERT_EQ(classes.size(), 1U);
  EXPECT_EQ(classes[0].private_methods, 3U);
}

}  // namespace
