#include "symbols/parameters.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "core/mapped_file.h"
#include "unit/symbols/own_base.h"

// Of this program, which is compiled with -g -O2.
struct Pair {
  long first;
  double second;
};
struct Triple {
  long values[3];
};
enum Colour : unsigned char { kRed };
using Callback = void (*)(int);

#define APART [[gnu::noinline, gnu::noclone, gnu::used]]

extern "C" {
APART int c_scalars(const char* path, unsigned size, unsigned char byte, bool flag, char letter,
                    long wide, short on_stack, Colour last) {
  asm volatile("" ::"r"(path), "r"(size), "r"(byte), "r"(flag), "r"(letter), "r"(wide),
               "r"(on_stack), "r"(last));
  return 1;
}
APART double c_floats(float small, int count, double large, long double longest,
                      Callback callback) {
  asm volatile("" ::"r"(count), "r"(callback), "m"(small), "m"(large), "m"(longest));
  return 1;
}
APART Triple c_large_result(int number) {
  asm volatile("" ::"r"(number));
  return {};
}
APART int c_structures(Pair pair, Triple triple, const Pair* pointer, void** last) {
  asm volatile("" ::"m"(pair), "m"(triple), "r"(pointer), "r"(last));
  return 1;
}
APART int c_nothing(void) {
  asm volatile("");
  return 1;
}
}

/// With a destructor of a member, and one with none.
struct Holder {
  std::string text;
};
struct Defaulted {
  Defaulted() = default;
  Defaulted(const Defaulted&) = default;
  ~Defaulted() = default;
  long value = 0;
};
class Widget {
 public:
  APART static Holder hold(int number);
  APART static int plain(Defaulted by_value, int behind);
  APART int resize(int width, const std::string& title);
  APART static int make(std::string by_address, int behind);
};
int Widget::resize(int width, const std::string& title) {
  asm volatile("" ::"r"(width), "r"(&title));
  return 1;
}
Holder Widget::hold(int number) {
  asm volatile("" ::"r"(number));
  return {};
}
int Widget::plain(Defaulted by_value, int behind) {
  asm volatile("" ::"r"(by_value.value), "r"(behind));
  return 1;
}
int Widget::make(std::string by_address, int behind) {
  asm volatile("" ::"r"(&by_address), "r"(behind));
  return 1;
}

namespace sp::symbols {
namespace {

/// "TYPE NAME=LETTER/BYTES@ARGUMENT, .."; "none" without debug information.
std::string parameters_at(std::uint64_t address) {
  const auto file = core::MappedFile::open("/proc/self/exe");
  const auto image = core::ElfImage::parse(*file);
  ParameterReader reader(*image, "/proc/self/exe", "", {});
  const auto found = reader.find(address - test::own_base());
  if (!found) {
    return "none";
  }
  std::string text;
  for (const Parameter& one : found->list) {
    text += (text.empty() ? "" : ", ") + one.type + " " + one.name;
    text += one.argument == 0 ? "@0"
                              : std::string("=") + static_cast<char>(one.value_type) + "/" +
                                    std::to_string(one.bytes) + "@" + std::to_string(one.argument);
  }
  return text;
}

template <typename Function>
std::string parameters_of(Function* function) {
  return parameters_at(reinterpret_cast<std::uint64_t>(function));
}

/// Of a member function: the first word of its pointer.
template <typename Member>
std::string parameters_of_member(Member member) {
  std::uint64_t address = 0;
  std::memcpy(&address, &member, sizeof(address));
  return parameters_at(address);
}

TEST(Parameters, of_c_have_names_types_and_places) {
  EXPECT_EQ(
      parameters_of(c_scalars),
      std::string("const char* path=s/8@1, unsigned int size=u/4@2, unsigned char byte=u/1@3, "
                  "bool flag=u/1@4, char letter=c/1@5, long int wide=d/8@6, "
                  "short int on_stack=d/2@7, Colour last=u/1@8"));
  EXPECT_EQ(parameters_of(c_nothing), "");
}

TEST(Parameters, that_are_floating_are_numbered_by_themselves) {
  EXPECT_EQ(parameters_of(c_floats),
            "float small=f/4@1, int count=d/4@1, double large=f/8@2, long double longest@0, "
            "Callback callback=p/8@2");
}

TEST(Parameters, that_are_structures_take_what_the_convention_gives_them) {
#if defined(__x86_64__)
  EXPECT_EQ(parameters_of(c_large_result), "int number=d/4@2");
  EXPECT_EQ(parameters_of(c_structures),
            "Pair pair@0, Triple triple@0, const Pair* pointer=p/8@2, void** last=p/8@3");
#else
  EXPECT_EQ(parameters_of(c_large_result), "int number=d/4@1");
  EXPECT_EQ(parameters_of(c_structures),
            "Pair pair@0, Triple triple@0, const Pair* pointer=p/8@4, void** last=p/8@5");
#endif
}

TEST(Parameters, of_member_functions_begin_with_this) {
  EXPECT_EQ(parameters_of_member(&Widget::resize),
            "Widget* const this=p/8@1, int width=d/4@2, const string& title=p/8@3");
}

TEST(Parameters, of_classes_with_a_destructor_are_addresses) {
  const std::string text = parameters_of(&Widget::make);
  EXPECT_TRUE(text.ends_with("by_address@0, int behind=d/4@2")) << text;
#if defined(__x86_64__)
  EXPECT_EQ(parameters_of(&Widget::hold), "int number=d/4@2");
#endif
  EXPECT_EQ(parameters_of(&Widget::plain), "Defaulted by_value@0, int behind=d/4@2");
}

TEST(Parameters, are_none_without_debug_information) {
  // In the middle of a function.
  EXPECT_EQ(parameters_at(reinterpret_cast<std::uint64_t>(&c_nothing) + 1), "none");
}

}  // namespace
}  // namespace sp::symbols
