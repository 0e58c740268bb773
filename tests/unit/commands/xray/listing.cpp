#include "commands/xray/listing.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sp::xray {
namespace {

using arch::SledState;
using core::SledKind;

ListedModule module_at(const std::string& path) {
  ListedModule module;
  module.path = path;
  module.map.sleds = {{1, SledKind::entry, 2, false, 0x401000, 0x401000},
                      {1, SledKind::tail_exit, 2, false, 0x40101A, 0x401000},
                      {2, SledKind::entry_with_argument, 1, true, 0x401020, 0x401020},
                      {2, SledKind::typed_event, 1, true, 0x401030, 0x401020}};
  module.map.functions = 2;
  module.states = {SledState::unpatched, SledState::patched, SledState::breakpoint,
                   SledState::unknown};
  module.functions = {{"f(int)", true}, {"prog+0x1020", false}};
  return module;
}

std::string text_of(const std::vector<ListedModule>& modules) {
  std::ostringstream out;
  write_text(out, modules);
  return out.str();
}

std::string yaml_of(const std::vector<ListedModule>& modules) {
  std::ostringstream out;
  write_yaml(out, modules);
  return out.str();
}

TEST(XrayListing, has_a_line_for_each_sled) {
  EXPECT_EQ(text_of({module_at("/bin/prog")}),
            "id  kind            address   always  state      function\n"
            "1   function-enter  0x401000  no      unpatched  f(int)\n"
            "1   tail-exit       0x40101a  no      patched    f(int)\n"
            "2   log-args-enter  0x401020  yes     by-us      prog+0x1020\n"
            "2   typed-event     0x401030  yes     unknown    prog+0x1020\n");
}

TEST(XrayListing, of_several_modules_has_their_names_in_the_ids) {
  const std::string text = text_of({module_at("/bin/prog"), module_at("/lib/libx.so")});
  EXPECT_NE(text.find("\nprog:1     function-enter"), std::string::npos) << text;
  EXPECT_NE(text.find("\nlibx.so:2  typed-event"), std::string::npos) << text;
}

TEST(XrayListing, is_yaml_as_llvm_xray_prints_it) {
  const std::string sleds =
      "---\n"
      "- { id: 1, address: 0x401000, function: 0x401000, kind: function-enter, "
      "always-instrument: false, function-name: 'f(int)', version: 2 }\n"
      "- { id: 1, address: 0x40101A, function: 0x401000, kind: tail-exit, "
      "always-instrument: false, function-name: 'f(int)', version: 2 }\n"
      "- { id: 2, address: 0x401020, function: 0x401020, kind: log-args-enter, "
      "always-instrument: true, function-name: '@(401020)', version: 1 }\n"
      "- { id: 2, address: 0x401030, function: 0x401020, kind: typed-event, "
      "always-instrument: true, function-name: '@(401020)', version: 1 }\n"
      "...\n";
  EXPECT_EQ(yaml_of({module_at("/bin/prog")}), sleds);
  EXPECT_EQ(yaml_of({module_at("/bin/prog"), module_at("/lib/libx.so")}),
            "# /bin/prog\n" + sleds + "# /lib/libx.so\n" + sleds);
}

TEST(XrayListing, of_names_with_control_characters_stays_a_line_a_sled) {
  ListedModule module = module_at("/bin/prog");
  module.functions[0].text = "a\nb\x01";
  EXPECT_NE(text_of({module}).find("  a b\n"), std::string::npos);
}

}  // namespace
}  // namespace sp::xray
