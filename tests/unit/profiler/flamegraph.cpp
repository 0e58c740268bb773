#include <gtest/gtest.h>

#include <sstream>

#include "profiler/formats/flame_colours.h"
#include "profiler/formats/flame_layout.h"
#include "profiler/formats/flamegraph_svg.h"

namespace sp::profiler {
namespace {

/// main calls a (3 self samples, 2 in c) and b (4); main has 1 self sample.
NamedProfile small_profile() {
  NamedProfile profile;
  for (const char* name : {"main", "b", "a", "c"}) {
    profile.functions.push_back({name, "/usr/bin/demo", {}, FunctionKind::executable});
  }
  CallTree& tree = profile.tree;
  const std::uint32_t main = tree.child(CallTree::kRoot, 0);
  tree.add_self(main, 1);
  tree.add_self(tree.child(main, 1), 4);
  const std::uint32_t a = tree.child(main, 2);
  tree.add_self(a, 3);
  tree.add_self(tree.child(a, 3), 2);
  return profile;
}

std::string svg_of(const NamedProfile& profile, const FlameHeading& heading = {"demo", "10"}) {
  std::ostringstream out;
  write_flamegraph_svg(out, profile, heading);
  return out.str();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(FlameLayout, callees_stand_side_by_side_by_name_above_their_caller) {
  const FlameLayout layout = lay_out_flame(small_profile(), 0);
  ASSERT_EQ(layout.boxes.size(), 5);
  EXPECT_EQ(layout.total, 10);
  EXPECT_EQ(layout.levels, 4);
  const auto is = [&](std::size_t i, std::uint32_t function, std::uint32_t depth,
                      std::uint64_t start, std::uint64_t samples) {
    const FlameBox& box = layout.boxes[i];
    EXPECT_EQ(std::tie(box.function, box.depth, box.start, box.samples),
              std::tie(function, depth, start, samples))
        << i;
  };
  is(0, FlameBox::kAll, 0, 0, 10);
  is(1, 0, 1, 0, 10);
  is(2, 2, 2, 0, 5);  // a
  is(3, 3, 3, 0, 2);  // c
  is(4, 1, 2, 5, 4);  // b
}

TEST(FlameLayout, leaves_out_what_is_too_narrow_and_counts_it) {
  const FlameLayout layout = lay_out_flame(small_profile(), 0.45);
  EXPECT_EQ(layout.boxes.size(), 3);
  EXPECT_EQ(layout.left_out, 2);
  EXPECT_EQ(layout.levels, 3);
}

TEST(FlameLayout, a_stack_of_a_hundred_thousand_frames_is_no_problem) {
  NamedProfile profile;
  profile.functions.push_back({"deep", "/usr/bin/demo", {}, FunctionKind::executable});
  std::uint32_t node = CallTree::kRoot;
  for (int i = 0; i < 100000; ++i) {
    node = profile.tree.child(node, 0);
  }
  profile.tree.add_self(node, 1);
  EXPECT_EQ(lay_out_flame(profile, 0).boxes.size(), 100001);
  EXPECT_EQ(inclusive_samples(profile.tree, 1), std::vector<std::uint64_t>{1});
}

TEST(FlameColours, a_name_has_the_same_colour_every_time) {
  const FlameFamily& family = family_of(FunctionKind::executable);
  EXPECT_EQ(colour_class(family, "main", false), colour_class(family, "main", false));
  EXPECT_EQ(colour_class(family, "main", false)[0], 'e');
  EXPECT_EQ(colour_class(family, "main", true)[0], 'E');
  EXPECT_EQ(family_of(FunctionKind::jit).letter, 'j');
  EXPECT_EQ(family_of(FunctionKind::blocked).letter, 'b');
}

TEST(FlamegraphSvg, has_a_titled_box_for_every_frame) {
  const std::string svg = svg_of(small_profile());
  EXPECT_EQ(count(svg, "<g class=\""), 5);
  EXPECT_NE(svg.find("<title>a (5 samples, 50.00%)</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>all (10 samples, 100.00%)</title>"), std::string::npos);
}

TEST(FlamegraphSvg, loads_nothing_from_outside) {
  const std::string svg = svg_of(small_profile());
  EXPECT_EQ(count(svg, "href"), 0);
  EXPECT_EQ(count(svg, "url("), 0);
  EXPECT_EQ(count(svg, "@import"), 0);
  // The two namespaces (one of them in the script as well) are names, not addresses.
  EXPECT_EQ(count(svg, "http"), count(svg, "http://www.w3.org/"));
}

TEST(FlamegraphSvg, a_hostile_name_stays_text) {
  NamedProfile profile = small_profile();
  profile.functions[3].name = "</script><script>alert(1)</script>]]>\"'&\x01\xFF";
  const std::string svg = svg_of(profile, {"</title><script>", "<b>"});
  EXPECT_EQ(count(svg, "<script"), 2);   // the data and the script
  EXPECT_EQ(count(svg, "alert(1)"), 3);  // title, label and data
  EXPECT_NE(svg.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(svg.find(R"("\u003c/script\u003e\u003cscript\u003ealert(1))"), std::string::npos);
  EXPECT_EQ(count(svg, "]]>"), 2);  // the ends of the style and of the script
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

TEST(FlamegraphSvg, a_title_is_one_line_with_the_whole_as_its_tooltip) {
  const std::string script = "print 1;\n\n\tprint 2;\r\n";
  const std::string svg = svg_of(small_profile(), {"perl -e '" + script + "'", "10"});
  EXPECT_NE(svg.find("<g><title>perl -e &#39;print 1; print 2; &#39;</title><text id=\"title\" "
                     "x=\"12\" y=\"28\">perl -e &#39;print 1; print 2; &#39;</text></g>"),
            std::string::npos);
  EXPECT_EQ(svg.find("\uFFFD"), std::string::npos) << "no broken characters";
}

TEST(FlamegraphSvg, a_long_title_ends_in_an_ellipsis) {
  const std::string whole = "demo " + std::string(500, 'x');
  const std::string svg = svg_of(small_profile(), {whole, "10"});
  const std::string shown = "demo " + std::string(84, 'x') + "\u2026";
  EXPECT_NE(svg.find("<title>" + whole + "</title>"), std::string::npos);
  EXPECT_NE(svg.find(" data-full=\"" + whole + "\">" + shown + "</text>"), std::string::npos);
}

TEST(FlamegraphSvg, an_empty_profile_says_so) {
  const std::string svg = svg_of(NamedProfile{});
  EXPECT_NE(svg.find("No samples with stacks."), std::string::npos);
  EXPECT_EQ(count(svg, "<script"), 0);
}

}  // namespace
}  // namespace sp::profiler
