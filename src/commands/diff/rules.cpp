#include "commands/diff/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/diff/diff_text.h"
#include "commands/run_files/similar_names.h"
#include "symbols/code_selection.h"

namespace sp::diff {
namespace {

using cli::DiffRule;
using State = Pair::State;

bool is_beyond(const DiffRule& rule, const Pair& pair) {
  const double by = rule.unit == DiffRule::Unit::percent ? pair.percent() : pair.delta();
  return rule.more ? by > rule.limit : by < rule.limit;
}

std::string why_unknown(const Comparison& comparison, const Pair& pair) {
  if (is_time(pair.metric)) {
    return "not all runs were sampled";
  }
  return !comparison.counted ? "not all runs were counted"
         : pair.state == State::absent
             ? "it was not counted"
             : "it was not counted over the same time in all runs; record with -a or --single";
}

/// Adds a line to `broken` if `pair`, of `subject`, breaks the rule.
void judge_pair(const Comparison& comparison, const DiffRule& rule, const Pair& pair,
                const std::string& subject, std::vector<std::string>& broken) {
  if (pair.state != State::compared) {
    if (!comparison.same_runs) {
      broken.push_back(fmt::format("rule '{}' cannot be checked: {} of {}: {}", rule.text,
                                   name_of(pair.metric), subject, why_unknown(comparison, pair)));
    }
    return;
  }
  if (pair.certain && is_beyond(rule, pair)) {
    broken.push_back(fmt::format("rule '{}' is broken: {} of {} {} -> {}, {}", rule.text,
                                 name_of(pair.metric), subject, value_text(pair, pair.before),
                                 value_text(pair, pair.after), change_text(pair)));
  }
}

void judge_functions(const Comparison& comparison, const DiffRule& rule, Judgement& judgement) {
  const symbols::FunctionMatcher matcher(symbols::CodeSelection{{rule.function}});
  const auto place = static_cast<std::size_t>(rule.metric);
  std::vector<const ComparedFunction*> with_metric;
  const ComparedFunction* without = nullptr;
  for (const ComparedFunction& function : comparison.functions) {
    if (!matcher.matches(function.key.name)) {
      continue;
    }
    if (function.pairs[place].state == State::absent) {
      without = &function;
    } else {
      with_metric.push_back(&function);
    }
  }
  if (with_metric.empty() && without != nullptr) {
    with_metric.push_back(without);
  }
  for (const ComparedFunction* function : with_metric) {
    judge_pair(comparison, rule, function->pairs[place], shown_name(function->key.name),
               judgement.broken);
  }
  if (with_metric.empty()) {
    std::vector<std::string_view> names;
    for (const ComparedFunction& function : comparison.functions) {
      names.push_back(function.key.name);
    }
    std::vector<std::string> similar = run_files::similar_names(names, rule.function);
    for (std::string& name : similar) {
      name = shown_name(name);
    }
    judgement.notes.push_back(fmt::format(
        "rule '{}': no function of the runs is called {}{}", rule.text, rule.function,
        similar.empty() ? "" : fmt::format("; there are: {}", fmt::join(similar, ", "))));
  }
}

}  // namespace

core::Result<void> check_rules(const std::vector<DiffRule>& rules) {
  for (const DiffRule& rule : rules) {
    if (rule.function.empty()) {
      continue;
    }
    if (const auto valid = symbols::check_selection({{rule.function}}); !valid) {
      return core::fail(fmt::format("--fail-on: '{}': {}", rule.text, valid.error().message()));
    }
  }
  return {};
}

Judgement judge(const Comparison& comparison, const std::vector<DiffRule>& rules) {
  Judgement judgement;
  for (const DiffRule& rule : rules) {
    if (!rule.function.empty()) {
      judge_functions(comparison, rule, judgement);
      continue;
    }
    const bool by_instructions = rule.metric == Metric::total && !comparison.sampled &&
                                 comparison.counted && rule.unit != DiffRule::Unit::nanoseconds;
    const Metric metric = by_instructions ? Metric::instructions : rule.metric;
    judge_pair(comparison, rule, comparison.whole[static_cast<std::size_t>(metric)], "the run",
               judgement.broken);
  }
  return judgement;
}

}  // namespace sp::diff
