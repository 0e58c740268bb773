#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "symbols/attribute_list.h"
#include "symbols/filters_file.h"
#include "symbols/function_filters.h"

namespace sp::symbols {
namespace {

/// Bytes are changed, lost and doubled.
std::string damaged(std::string text, std::minstd_rand& random) {
  for (unsigned i = 0; i < 1 + random() % 4 && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    if (random() % 3 == 0) {
      text.erase(at, 1 + random() % 8);
    } else if (random() % 2 == 0) {
      text[at] = static_cast<char>(random() % 256);
    } else {
      text.insert(at, text.substr(random() % text.size(), 8));
    }
  }
  return text;
}

TEST(DamagedFilters, are_read_or_refused) {
  const std::string toml =
      "[[block]]\nrule_name = 'small'\nfunction_size_lt = 20\n[[allow]]\n"
      "function_demangled_name = '(a|b(?!c))[^x-z]{2,3}\\w*'\nxray_always = true\n";
  const std::string list = "[always]\nfun:a*[b-c]{d,e}?=arg1\n# no\n[never]\nsrc:/x/*\n";
  std::minstd_rand random(5);
  for (int round = 0; round < 3000; ++round) {
    FilterRules rules;
    std::vector<std::string> notes;
    for (const auto& read : {read_filters_file("f", damaged(toml, random), rules, notes),
                             read_attribute_list("l", damaged(list, random), rules)}) {
      if (!read) {
        EXPECT_TRUE(read.error().message().starts_with("f:") ||
                    read.error().message().starts_with("l:"));
      }
    }
    (void)FunctionFilters(std::move(rules)).judge({"/x/y", "ab", "ab(int)", "/x/y.c", 3, 9, true});
  }
}

}  // namespace
}  // namespace sp::symbols
