#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace {

using sp::symbols::demangle;

TEST(Demangle, spells_cplusplus_names) {
  EXPECT_EQ(demangle("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangle("_ZN3FooC4Ev"), "Foo::Foo()");
}

TEST(Demangle, spells_legacy_rust_names_without_their_hash) {
  EXPECT_EQ(demangle("_ZN3std2rt10lang_start17h0123456789abcdefE"), "std::rt::lang_start");
  EXPECT_EQ(demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$"
                     "$GT$3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(demangle("_ZN3foo3bar17h05af221e174051e9E.llvm.1234567"), "foo::bar");
}

TEST(Demangle, spells_v0_rust_names) {
  EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangle("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_"), "mycrate::main::{closure#0}");
  EXPECT_EQ(demangle("_RNvC6_123foo3bar.llvm.9D1C9369"), "123foo::bar");
  EXPECT_EQ(demangle("_RNvC6_123foo3bar.cold"), "123foo::bar [clone .cold]");
}

TEST(Demangle, keeps_clone_suffixes_readable) {
  EXPECT_EQ(demangle("_Z3foov.part.0"), "foo() [clone .part.0]");
  EXPECT_EQ(demangle("_Z3foov.isra.0.cold"), "foo() [clone .isra.0] [clone .cold]");
  EXPECT_EQ(demangle("foo.part.0"), "foo.part.0");
}

TEST(Demangle, drops_symbol_versions) {
  EXPECT_EQ(demangle("memcpy@@GLIBC_2.14"), "memcpy");
  EXPECT_EQ(demangle("memcpy@GLIBC_2.2.5"), "memcpy");
  EXPECT_EQ(demangle("_ZNSi3getEv@@GLIBCXX_3.4"), "std::istream::get()");
}

TEST(Demangle, leaves_other_names_as_they_are) {
  for (const char* name : {"main", "_start", "_Z", "_R", "_ZZZZZZ", "_ZN3fooE17h", "_Razor", ""}) {
    EXPECT_EQ(demangle(name), name);
  }
}

// Each substitution doubles the text: 350 bytes expand to 2^35 names.
TEST(Demangle, cuts_names_that_explode) {
  std::string symbol = "_Z1f1pIiiE";
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWX";
  for (const char digit : digits) {
    const std::string reference = std::string("S") + digit + "_";
    symbol += "S_I" + reference + reference + "E";
  }
  const std::string name = demangle(symbol);
  EXPECT_EQ(name.size(), 8U * 1024);
  EXPECT_TRUE(name.starts_with("f(p<int, int>, p<p<int, int>, p<int, int> >"));
  EXPECT_TRUE(name.ends_with("..."));
}

TEST(Demangle, survives_endless_nesting) {
  const std::string deep = "_Z1f" + std::string(60'000, 'P') + "i";
  EXPECT_LE(demangle(deep).size(), 8U * 1024);
  EXPECT_LE(demangle(std::string(1'000'000, 'x')).size(), 8U * 1024);
}

TEST(Demangle, survives_damaged_names) {
  const std::string good[] = {
      "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE17_M_realloc_"
      "insertIJRKS5_EEEvN9__gnu_cxx17__normal_iteratorIPS5_S7_EEDpOT_",
      "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
      "930b740aa94f1d3aE",
      "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
  };
  const std::string letters = "0123456789STNEIJLDKPRFMXZv_ctrpaBCGY.$";
  std::mt19937 random(20);
  for (int i = 0; i < 20'000; ++i) {
    std::string name = good[random() % std::size(good)];
    for (int k = 0; k < 4; ++k) {
      name[2 + random() % (name.size() - 2)] = letters[random() % letters.size()];
    }
    EXPECT_LE(demangle(name).size(), 8U * 1024);
  }
}

}  // namespace
