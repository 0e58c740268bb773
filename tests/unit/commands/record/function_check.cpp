#include "commands/record/function_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/place_choice.h"

namespace sp::record {
namespace {

/// What is said of --xray-id MODULE:2 with --only-instrument-execs; "" if nothing is wrong.
std::string said_of(const std::string& module, const std::vector<std::string>& traced) {
  cli::RecordOptions options;
  options.command = {"/bin/sh"};
  options.only_instrument_execs = traced;
  options.places.via = core::Via::xray;
  options.places.xray_ids = {{module, 2, 2}};
  const auto checked = check_functions(options, {});
  return checked ? "" : checked.error().message();
}

TEST(FunctionCheck, knows_the_library_of_an_id_by_its_name) {
  EXPECT_EQ(said_of("libx.so", {"libx.so"}), "");
  EXPECT_EQ(said_of("libx.so", {"liby.so", "/opt/libx.so"}), "");
  EXPECT_EQ(said_of("libx.so.1.2", {"libx.so.1"}), "") << "one may be a link to the other";
  EXPECT_EQ(said_of("/opt/libx.so", {"libx.so"}), "");
  EXPECT_EQ(said_of("libx.so", {"all"}), "");
}

TEST(FunctionCheck, refuses_the_ids_of_files_that_are_not_traced) {
  const std::string refusal =
      "--xray-id: libx.so is not traced; add --only-instrument-execs libx.so";
  EXPECT_EQ(said_of("libx.so", {}), refusal);
  EXPECT_EQ(said_of("libx.so", {"liby.so", "/opt/liby.so"}), refusal);
}

TEST(FunctionCheck, looks_for_the_ids_of_a_module_in_its_file) {
  EXPECT_EQ(said_of("/bin/sh", {"all"}), "/bin/sh: no XRay map");
}

}  // namespace
}  // namespace sp::record
