#include "profiler/formats/flamegraph_svg.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <unordered_map>
#include <vector>

#include "profiler/formats/flame_change.h"
#include "profiler/formats/flame_colours.h"
#include "profiler/formats/flame_layout.h"
#include "profiler/formats/flame_page.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

// In pixels, before a browser fits the picture to its window.
constexpr double kWidth = 1200;
constexpr double kMargin = 12;
constexpr double kHeader = 84;
constexpr double kFooter = 36;
constexpr double kLevel = 18;
constexpr double kLetter = 7.22;  // of the monospaced 12-pixel font
constexpr double kNarrowest = 0.1;
constexpr std::size_t kTitleLetters = 90;  // of some 9 pixels, beside the search field

constexpr double kInner = kWidth - 2 * kMargin;

class FlameWriter {
 public:
  FlameWriter(std::ostream& out, const NamedProfile& profile, const FlameHeading& heading,
              const FlameBefore* before)
      : out_(out),
        profile_(profile),
        heading_(heading),
        before_(before),
        layout_(lay_out_flame(profile, kNarrowest / kInner)) {}

  void run() {
    if (layout_.total == 0) {
      layout_.boxes.clear();
    }
    begin();
    style();
    boxes();
    top();
    bottom();
    if (!layout_.boxes.empty()) {
      data();
      fmt::print(out_, "<script><![CDATA[\n{}]]></script>\n", flame_script());
    }
    out_ << "</svg>\n";
  }

 private:
  [[nodiscard]] double height() const {
    return kHeader + kLevel * static_cast<double>(layout_.levels) + kFooter;
  }

  void begin() {
    fmt::print(out_,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{0}\" "
               "height=\"{1}\" viewBox=\"0 0 {0} {1}\" aria-labelledby=\"title\">\n",
               kWidth, height());
    out_ << "<rect id=\"background\" width=\"100%\" height=\"100%\"/>\n";
  }

  void style() {
    std::string light(flame_style());
    std::string dark(flame_dark_style());
    std::vector<const FlameFamily*> used = families();
    const FlameFamily* of_all = &family_of(FunctionKind::unknown);
    if (std::find(used.begin(), used.end(), of_all) == used.end()) {
      used.push_back(of_all);
    }
    for (const FlameFamily* family : used) {
      light += colour_rules(*family, false);
      dark += colour_rules(*family, true);
    }
    if (before_ != nullptr) {
      light += change_rules(false);
      dark += change_rules(true);
    }
    fmt::print(out_,
               "<style><![CDATA[\n{}@media (prefers-color-scheme:dark){{\n{}}}\n]]></style>\n",
               light, dark);
  }

  /// The families in the picture, in a fixed order.
  [[nodiscard]] std::vector<const FlameFamily*> families() const {
    constexpr std::array kInOrder = {FunctionKind::executable, FunctionKind::library,
                                     FunctionKind::jit, FunctionKind::blocked,
                                     FunctionKind::unknown};
    std::vector<const FlameFamily*> shown;
    for (const FunctionKind kind : kInOrder) {
      const FlameFamily* family = &family_of(kind);
      const auto is_shown = [&](const FlameBox& box) {
        return box.function != FlameBox::kAll && &family_of(kind_of(box)) == family;
      };
      if (std::any_of(layout_.boxes.begin(), layout_.boxes.end(), is_shown)) {
        shown.push_back(family);
      }
    }
    return shown;
  }

  [[nodiscard]] FunctionKind kind_of(const FlameBox& box) const {
    return box.function == FlameBox::kAll ? FunctionKind::unknown
                                          : profile_.functions[box.function].kind;
  }
  [[nodiscard]] std::string name_of(const FlameBox& box) const {
    return box.function == FlameBox::kAll ? "all"
                                          : folded_name(profile_.functions[box.function].name);
  }

  [[nodiscard]] std::string class_of(const FlameBox& box) const {
    return before_ != nullptr ? change_class(before_->samples[box.node], box.samples)
                              : colour_class(family_of(kind_of(box)), name_of(box), box.inlined);
  }

  void boxes() {
    fmt::print(out_,
               "<svg id=\"frames\" tabindex=\"-1\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
               "role=\"tree\" "
               "aria-label=\"Stacks: arrow keys move, Enter zooms, Escape resets\">\n",
               kMargin, kHeader, kInner, kLevel * static_cast<double>(layout_.levels));
    for (const FlameBox& box : layout_.boxes) {
      write_box(box);
    }
    out_ << "</svg>\n";
    if (layout_.boxes.empty()) {
      fmt::print(out_, "<text id=\"empty\" x=\"{}\" y=\"{}\">No samples with stacks.</text>\n",
                 kMargin, kHeader + 12);
    }
  }

  void write_box(const FlameBox& box) {
    const std::string name = name_of(box);
    const auto total = static_cast<double>(layout_.total);
    const double share = static_cast<double>(box.samples) / total;
    const double x = 100 * static_cast<double>(box.start) / total;
    const double y = kLevel * static_cast<double>(layout_.levels - 1 - box.depth);
    const double gap = std::min(0.6, share * kInner / 4) / kInner;
    fmt::print(out_,
               "<g class=\"{}\"><title>{} ({} {}, {:.2f}%{})</title>"
               "<rect x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"/>",
               class_of(box), xml_text(name), grouped(box.samples),
               box.samples == 1 ? "sample" : "samples", 100 * share,
               before_ != nullptr ? change_text(before_->samples[box.node], box.samples) : "", x, y,
               100 * (share - gap), kLevel - 1);
    const double letters = std::floor((share * kInner - 6) / kLetter);
    if (letters >= 3) {
      fmt::print(out_, "<text x=\"{:.4f}%\" dx=\"4\" y=\"{}\">{}</text>", x, y + 13,
                 xml_text(elided(name, static_cast<std::size_t>(letters))));
    }
    out_ << "</g>\n";
  }

  void top() {
    fmt::print(out_,
               "<g id=\"top\"><rect id=\"top-back\" width=\"100%\" height=\"{}\"/>\n"
               "{}<text id=\"subtitle\" x=\"{}\" y=\"48\">{}</text>\n",
               kHeader - 8, title(), kMargin, xml_text(heading_.subtitle));
    legend();
    out_ << "<g id=\"reset\" class=\"button off\" role=\"button\" tabindex=\"0\" "
            "aria-label=\"Reset zoom\"><rect width=\"92\" height=\"26\" rx=\"5\"/>"
            "<text x=\"46\" y=\"17\">Reset zoom</text></g>\n"
            "<foreignObject id=\"search-place\" y=\"12\" width=\"240\" height=\"26\"/>\n"
            "<text id=\"matched\" y=\"54\" text-anchor=\"end\" aria-live=\"polite\"/></g>\n";
  }

  /// One line with the full text as its tooltip. The script fits it to the window's width.
  [[nodiscard]] std::string title() const {
    const std::string whole = folded_blanks(heading_.title);
    const std::string shown = elided(whole, kTitleLetters, "\u2026");
    return fmt::format(
        "<g><title>{0}</title><text id=\"title\" x=\"{1}\" y=\"28\"{2}>{3}</text></g>\n",
        xml_text(whole), kMargin,
        shown == whole ? "" : fmt::format(" data-full=\"{}\"", xml_text(whole)), xml_text(shown));
  }

  void legend() {
    fmt::print(out_, "<text id=\"legend\" x=\"{}\" y=\"68\">", kMargin);
    int gap = 0;
    const auto label = [&](int before, std::string_view text) {
      fmt::print(out_, "<tspan dx=\"{}\">{}</tspan>", before, text);
      gap = 16;
    };
    const auto swatch = [&](const std::string& colour, std::string_view text) {
      fmt::print(out_, "<tspan class=\"swatch\" dx=\"{}\" fill=\"{}\">\u25A0</tspan>", gap, colour);
      label(5, text);
    };
    if (before_ != nullptr) {
      swatch(change_colour(Change::more), "more than before");
      swatch(change_colour(Change::less), "less");
      swatch(change_colour(Change::none), "no more than by chance");
    } else {
      for (const FlameFamily* family : families()) {
        swatch(legend_colour(*family), family->label);
      }
    }
    if (before_ == nullptr && std::any_of(layout_.boxes.begin(), layout_.boxes.end(),
                                          [](const FlameBox& box) { return box.inlined; })) {
      label(gap, "lighter: inlined");
    }
    if (layout_.left_out > 0) {
      label(gap, fmt::format("{} frames narrower than {} pixel are left out",
                             grouped(layout_.left_out), kNarrowest));
    }
    out_ << "</text>\n";
  }

  void bottom() {
    fmt::print(out_,
               "<g id=\"bottom\" transform=\"translate(0 {})\">"
               "<rect id=\"bottom-back\" y=\"4\" width=\"100%\" height=\"{}\"/>"
               "<text id=\"details\" x=\"{}\" y=\"22\" xml:space=\"preserve\" "
               "aria-live=\"polite\"/></g>\n"
               "<text id=\"probe\" y=\"-99\" font-size=\"12\">{}</text>\n",
               height() - kFooter, kFooter, kMargin, std::string(50, 'M'));
  }

  /// The script's data, each name once.
  void data() {
    std::unordered_map<std::uint32_t, std::size_t> function_numbers;
    std::unordered_map<std::string, std::size_t> module_numbers;
    std::string functions;
    std::string modules;
    std::string boxes;
    std::string before;
    for (const FlameBox& box : layout_.boxes) {
      const auto [number, is_new] =
          function_numbers.try_emplace(box.function, function_numbers.size());
      if (is_new) {
        const std::string module =
            box.function == FlameBox::kAll ? "" : profile_.functions[box.function].module;
        const auto [place, new_module] = module_numbers.try_emplace(module, module_numbers.size());
        if (new_module) {
          modules += (modules.empty() ? "" : ",") + json_string(module);
        }
        functions += fmt::format("{}[{},{}]\n", functions.empty() ? "" : ",",
                                 json_string(name_of(box)), place->second);
      }
      boxes += fmt::format("{}{},{},{},{},{}\n", boxes.empty() ? "" : ",", number->second,
                           box.depth, box.start, box.samples, box.self);
      if (before_ != nullptr) {
        before += fmt::format("{}{}", before.empty() ? "" : ",", before_->samples[box.node]);
      }
    }
    fmt::print(out_,
               "<script id=\"data\" type=\"application/json\">{{\"total\":{},\"margin\":{},"
               "\"header\":{},\"footer\":{},\n\"modules\":[{}],\n\"functions\":[{}],\n"
               "\"boxes\":[{}]{}}}</script>\n",
               layout_.total, kMargin, kHeader, kFooter, modules, functions, boxes,
               before_ != nullptr ? fmt::format(",\n\"before\":[{}]", before) : "");
  }

  std::ostream& out_;
  const NamedProfile& profile_;
  const FlameHeading& heading_;
  const FlameBefore* before_;
  FlameLayout layout_;
};

}  // namespace

void write_flamegraph_svg(std::ostream& out, const NamedProfile& profile,
                          const FlameHeading& heading, const FlameBefore* before) {
  FlameWriter(out, profile, heading, before).run();
}

}  // namespace sp::profiler
