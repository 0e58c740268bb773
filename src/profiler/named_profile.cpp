#include "profiler/named_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "profiler/text.h"

namespace sp::profiler {

FunctionKind kind_of(const core::Module* module) {
  if (module == nullptr) {
    return FunctionKind::unknown;
  }
  switch (module->kind) {
    case core::ModuleKind::file: {
      const std::string_view file = base_name(module->path);
      const bool library = file.ends_with(".so") || file.find(".so.") != std::string_view::npos;
      return library ? FunctionKind::library : FunctionKind::executable;
    }
    case core::ModuleKind::vdso:
      return FunctionKind::library;
    case core::ModuleKind::jit:
      return FunctionKind::jit;
    case core::ModuleKind::unknown:
      return FunctionKind::unknown;
  }
  return FunctionKind::unknown;
}

namespace {

/// Does the work of name_profile(), which names the steps below in their order.
class Naming {
 public:
  Naming(const Profile& profile, Namer& namer) : profile_(profile), namer_(namer) {
    for (const core::Module& module : profile.modules()) {
      modules_.emplace(static_cast<std::uint32_t>(module.id), &module);
    }
  }

  NamedProfile run() {
    named_.counts = profile_.counts();
    sum_below();
    expand_steps();
    build_tree();
    sum_functions();
    merge_equal_names();
    named_.sources = sources_.take_sources();
    return std::move(named_);
  }

 private:
  void sum_below() {
    const std::vector<Profile::Node>& nodes = profile_.nodes();
    totals_.resize(nodes.size());
    for (std::size_t id = nodes.size(); id-- > 0;) {
      totals_[id] += nodes[id].samples;
      if (nodes[id].parent != IdIndex::kNone) {
        totals_[nodes[id].parent] += totals_[id];
      }
    }
  }

  void expand_steps() {
    named_.first_of_step.reserve(profile_.steps().size() + 1);
    for (const Step& step : profile_.steps()) {
      named_.first_of_step.push_back(named_.steps.size());
      expand(step);
    }
    named_.first_of_step.push_back(named_.steps.size());
  }

  void expand(const Step& step) {
    switch (step.kind) {
      case StepKind::instruction:
      case StepKind::return_address:
        expand_code(step);
        return;
      case StepKind::blocked: {
        const std::string& syscall = profile_.syscalls()[step.value];
        expand_mark(fmt::format("[blocked: {}]", syscall.empty() ? "unknown" : syscall), "[kernel]",
                    FunctionKind::blocked);
        return;
      }
      case StepKind::truncated:
        expand_mark("[truncated]", "", FunctionKind::truncated);
        return;
      case StepKind::collapsed:
        expand_mark("[collapsed: too many distinct stacks]", "[superprofiler]",
                    FunctionKind::collapsed);
        return;
      case StepKind::thread: {
        const Profile::Thread& thread = profile_.threads()[step.value];
        const std::string& name = thread.name.empty() ? "thread" : thread.name;
        expand_mark(thread.id.tid == 0 ? name : fmt::format("{} ({})", name, thread.id.tid), "",
                    FunctionKind::thread);
        return;
      }
    }
  }

  void expand_code(const Step& step) {
    const auto module = modules_.find(static_cast<std::uint32_t>(step.module));
    const core::Module* known = module == modules_.end() ? nullptr : module->second;
    const std::vector<symbols::NamedFrame>& frames =
        namer_.name({step.module, step.value}, step.kind == StepKind::return_address);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const std::uint32_t function = function_number(
          frame->function, known == nullptr ? "[unknown]" : known->path, kind_of(known));
      const std::uint32_t source = frame->source
                                       ? sources_.number(frame->source->file, frame->source->line)
                                       : SourceTally::kUnknown;
      named_.steps.push_back({function, source, frame->inlined, frame->start});
    }
  }

  void expand_mark(const std::string& name, const std::string& module, FunctionKind kind) {
    named_.steps.push_back({function_number(name, module, kind)});
  }

  std::uint32_t function_number(const std::string& name, const std::string& module,
                                FunctionKind kind) {
    const auto [place, is_new] = function_numbers_.try_emplace(
        fmt::format("{}\n{}", module, name), static_cast<std::uint32_t>(named_.functions.size()));
    if (is_new) {
      named_.functions.push_back({name, module, {}, kind});
    }
    return place->second;
  }

  void build_tree() {
    const std::vector<Profile::Node>& nodes = profile_.nodes();
    std::vector<std::uint32_t> named_as(nodes.size(), CallTree::kRoot);
    for (std::size_t id = 0; id < nodes.size(); ++id) {
      const Profile::Node& node = nodes[id];
      if (totals_[id] == 0 || node.parent == IdIndex::kNone) {
        continue;
      }
      tally_sources(node, totals_[id]);
      if (node.parent == Profile::kPcOnlyRoot) {
        named_.functions[named_.steps[named_.first_of_step[node.step + 1] - 1].function].self +=
            node.samples;
        continue;
      }
      std::uint32_t at = named_as[node.parent];
      for (std::size_t i = named_.first_of_step[node.step]; i < named_.first_of_step[node.step + 1];
           ++i) {
        at = named_.tree.child(at, named_.steps[i].function, named_.steps[i].inlined);
      }
      named_as[id] = at;
      named_.tree.add_self(at, node.samples);
    }
  }

  void tally_sources(const Profile::Node& node, std::uint64_t total) {
    const std::size_t end = named_.first_of_step[node.step + 1];
    for (std::size_t i = named_.first_of_step[node.step]; i < end; ++i) {
      const bool innermost = i + 1 == end;
      sources_.add(named_.steps[i].function, named_.steps[i].source, innermost ? node.samples : 0,
                   total);
    }
  }

  void sum_functions() {
    for (const CallTree::Node& node : named_.tree.nodes()) {
      if (node.self != 0) {
        named_.functions[node.function].self += node.self;
      }
    }
    const std::vector<std::uint64_t> inclusive =
        inclusive_samples(named_.tree, named_.functions.size());
    for (std::size_t i = 0; i < named_.functions.size(); ++i) {
      named_.functions[i].total = inclusive[i];
    }
    sources_.for_each_hottest([this](std::uint32_t function, std::string source) {
      named_.functions[function].source = std::move(source);
    });
  }

  /// Files tell stacks apart by the names in them, so two functions that look the same there must
  /// not be two nodes.
  void merge_equal_names() {
    std::unordered_map<std::string, std::uint32_t> first_of_name;
    std::vector<std::uint32_t> same_as(named_.functions.size());
    bool any = false;
    for (std::uint32_t i = 0; i < same_as.size(); ++i) {
      same_as[i] =
          first_of_name.try_emplace(folded_name(named_.functions[i].name), i).first->second;
      any = any || same_as[i] != i;
    }
    if (!any) {
      return;
    }
    CallTree merged;
    const std::vector<CallTree::Node>& nodes = named_.tree.nodes();
    std::vector<std::uint32_t> merged_as(nodes.size(), CallTree::kRoot);
    for (std::size_t id = 1; id < nodes.size(); ++id) {
      merged_as[id] =
          merged.child(merged_as[nodes[id].parent], same_as[nodes[id].function], nodes[id].inlined);
      merged.add_self(merged_as[id], nodes[id].self);
    }
    named_.tree = std::move(merged);
  }

  const Profile& profile_;
  Namer& namer_;
  std::unordered_map<std::uint32_t, const core::Module*> modules_;
  std::vector<std::uint64_t> totals_;
  std::unordered_map<std::string, std::uint32_t> function_numbers_;
  SourceTally sources_;
  NamedProfile named_;
};

}  // namespace

NamedProfile name_profile(const Profile& profile, Namer& namer) {
  return Naming(profile, namer).run();
}

std::vector<std::uint32_t> name_ranks(const std::vector<Function>& functions) {
  std::vector<std::string> names(functions.size());
  std::transform(functions.begin(), functions.end(), names.begin(),
                 [](const Function& function) { return folded_name(function.name); });
  std::vector<std::uint32_t> order(functions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  std::vector<std::uint32_t> rank(functions.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    rank[order[place]] = place;
  }
  return rank;
}

std::vector<std::uint64_t> inclusive_samples(const CallTree& tree, std::size_t functions) {
  std::vector<std::uint32_t> any_order(functions);
  const SortedChildren children(tree, any_order);
  const std::vector<std::uint64_t> totals = tree.totals();
  std::vector<std::uint64_t> inclusive(functions);
  std::vector<std::uint32_t> active(functions);
  walk(
      children,
      [&](std::uint32_t node, std::size_t) {
        const std::uint32_t function = tree.nodes()[node].function;
        if (active[function]++ == 0) {
          inclusive[function] += totals[node];
        }
      },
      [&](std::uint32_t node) { --active[tree.nodes()[node].function]; });
  return inclusive;
}

}  // namespace sp::profiler
