#include "commands/diff/difference_flame.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sp::diff {
namespace {

using profiler::RecordedFunction;

class Stacks final : public profiler::StackSource {
 public:
  using All = std::vector<std::pair<std::vector<std::uint32_t>, std::uint64_t>>;
  Stacks(std::vector<std::string> names, All stacks) : stacks_(std::move(stacks)) {
    for (std::string& name : names) {
      functions_.push_back({std::move(name), "/bin/demo", "", 0, 0, 0, {}, ""});
    }
  }
  [[nodiscard]] std::span<const RecordedFunction> functions() const override { return functions_; }
  void for_each(const Visit& visit) override {
    for (const auto& [stack, samples] : stacks_) {
      visit(stack, samples);
    }
  }

 private:
  std::vector<RecordedFunction> functions_;
  All stacks_;
};

std::vector<RunStacks> side(std::vector<std::string> names, Stacks::All stacks, double ns) {
  std::vector<RunStacks> runs;
  runs.push_back({std::make_unique<Stacks>(std::move(names), std::move(stacks)), ns});
  return runs;
}

std::string picture(const DifferenceFlame& flame) {
  std::ostringstream out;
  profiler::write_flamegraph_svg(out, flame.profile, {"b compared with a", "demo"}, &flame.before);
  return out.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DifferenceFlame, is_as_wide_as_the_later_run_and_coloured_by_the_change) {
  const std::string svg = picture(difference_flame(
      side({"main", "f", "g", "h"}, {{{0, 1}, 100}, {{0, 2}, 500}, {{0, 3}, 70}}, 1000),
      side({"main", "g", "f"}, {{{0, 2}, 200}, {{0, 1}, 250}}, 1000), {}));
  EXPECT_TRUE(has(svg, "<g class=\"m4\"><title>f (200 samples, 44.44%, before: 100, +100.0%)"))
      << svg;
  EXPECT_TRUE(has(svg, "<g class=\"f4\"><title>g (250 samples, 55.56%, before: 500, -50.0%)"));
  EXPECT_TRUE(has(svg, "<g class=\"f3\"><title>main (450 samples, 100.00%, before: 670, -32.8%)"));
  EXPECT_FALSE(has(svg, "<title>h "));
  EXPECT_FALSE(has(svg, "narrower than"));  // what is gone has no width
  EXPECT_TRUE(has(svg, "\"before\":[670,670,100,500]"));
  EXPECT_TRUE(has(svg, "more than before"));
}

TEST(DifferenceFlame, compares_times_of_runs_not_samples) {
  // Twice the samples for half the time each, and two runs: nothing has changed.
  auto before = side({"main"}, {{{0}, 1000}}, 500);
  before.push_back(std::move(side({"main"}, {{{0}, 1000}}, 500).front()));
  const DifferenceFlame flame = difference_flame(before, side({"main"}, {{{0}, 500}}, 1000), {});
  EXPECT_EQ(flame.before.samples.back(), 500U);
  EXPECT_TRUE(has(picture(flame), "<g class=\"u0\"><title>main (500 samples"));
  EXPECT_EQ(flame.gone, 0);
}

TEST(DifferenceFlame, says_how_much_is_gone) {
  const DifferenceFlame flame = difference_flame(
      side({"main", "f"}, {{{0}, 75}, {{0, 1, 1}, 25}}, 1), side({"main"}, {{{0}, 100}}, 1), {});
  EXPECT_DOUBLE_EQ(flame.gone, 0.25);
}

}  // namespace
}  // namespace sp::diff
