#include "commands/xray/llvm_names.h"

#include <gtest/gtest.h>

namespace sp::xray {
namespace {

TEST(LlvmNames, spell_lambdas_types_and_clones_as_llvm_does) {
  EXPECT_EQ(llvm_name("main"), "main");
  EXPECT_EQ(llvm_name("f(std::vector<int, std::allocator<int> >)"),
            "f(std::vector<int, std::allocator<int> >)");
  EXPECT_EQ(llvm_name("f(int) [clone .part.0]"), "f(int) (.part.0)");
  EXPECT_EQ(llvm_name("f(int) [clone .isra.0] [clone .cold]"), "f(int) (.isra.0) (.cold)");
  EXPECT_EQ(llvm_name("main::{lambda(int)#1}::operator()(int) const"),
            "main::'lambda'(int)::operator()(int) const");
  EXPECT_EQ(llvm_name("g<f::{lambda()#3}>(f::{lambda()#2})"), "g<f::'lambda1'()>(f::'lambda0'())");
  EXPECT_EQ(llvm_name("{lambda(void (*)(int))#1}"), "'lambda'(void (*)(int))");
  EXPECT_EQ(llvm_name("{lambda({lambda()#2})#1}"), "'lambda'('lambda0'())");
  EXPECT_EQ(llvm_name("f::{unnamed type#1}::g()"), "f::'unnamed'::g()");
  EXPECT_EQ(llvm_name("f::{unnamed type#2}::g()"), "f::'unnamed0'::g()");
}

TEST(LlvmNames, that_look_like_those_and_are_not_stay) {
  for (const char* const name :
       {"{lambda(", "{lambda()", "{lambda()#", "{lambda()#x}", "{lambda()#0}", "{unnamed type#",
        "{unnamed type#}", "f [clone "}) {
    EXPECT_EQ(llvm_name(name), name);
  }
}

TEST(YamlScalars, are_quoted_where_llvm_quotes_them) {
  EXPECT_EQ(yaml_scalar("main"), "main");
  EXPECT_EQ(yaml_scalar("a_b-c.d, e^"), "a_b-c.d, e^");
  EXPECT_EQ(yaml_scalar("Counter::fib(int)"), "'Counter::fib(int)'");
  EXPECT_EQ(yaml_scalar("@(220)"), "'@(220)'");
  EXPECT_EQ(yaml_scalar("f()::'lambda'(int)"), "'f()::''lambda''(int)'");
  for (const char* const word : {"true", "Null", "~", "-x", "1e5", " a", "a ", "a/b"}) {
    EXPECT_EQ(yaml_scalar(word), "'" + std::string(word) + "'");
  }
  EXPECT_EQ(yaml_scalar(""), "''");
  EXPECT_EQ(yaml_scalar("h\xC3\xA9"), "\"h\xC3\xA9\"");
  EXPECT_EQ(yaml_scalar("a\"\x01\\\t"), "\"a\\\"\\x01\\\\\\t\"");
}

}  // namespace
}  // namespace sp::xray
