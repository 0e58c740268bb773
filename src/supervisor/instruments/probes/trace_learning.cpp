#include "supervisor/instruments/probes/trace_learning.h"

#include <algorithm>
#include <set>
#include <utility>

#include "supervisor/instruments/probes/probed_thread.h"

namespace sp::supervisor {

TraceLearning::TraceLearning(core::Duration time, CodeAnalysis& analysis, ProbeCosts& costs,
                             TraceeTable& tracees)
    : time_(time), analysis_(analysis), costs_(costs), tracees_(tracees) {
  costs_.suspend_limit();
}

void TraceLearning::note_hit(ProbedCode& code, const ProbedFunction& function, bool is_call) {
  current_ = row_of(code, function);
  if (!current_ || is_over_) {
    return;
  }
  if (!began_) {
    began_ = core::Clock::now();
    begin_step(*began_);
  }
  rows_[*current_].calls.entries += is_call ? 1 : 0;
}

void TraceLearning::note_ended(ProbedCode& code, const ThreadTrace::EndedCall& call) {
  const auto row = is_over_ ? std::nullopt : row_of(code, code.function(call.function));
  if (row && call.depth <= 1) {  // a recursion is inside of its outermost call
    rows_[*row].calls.inside += call.took;
  }
}

void TraceLearning::end_hit(const Tracee& tracee) {
  const auto row = std::exchange(current_, std::nullopt);
  if (row && rows_[*row].is_dropped) {
    drop_in(probed_code(*tracee.process));  // another process has met it for the first time
  }
  if (is_over_ || (row && rows_[*row].is_dropped)) {
    return;
  }
  core::Duration& rest = of_no_row_[tracee.id.tid];
  if (!row) {
    // Its instruction is executed in steps; else it was the first entry, which does not come again.
    rest += probed_thread(tracee).displaced.is_active() ? costs_.last_hit() : core::Duration{};
    return;
  }
  rows_[*row].calls.cost += costs_.last_hit() + std::exchange(rest, core::Duration{});
  const core::TimePoint now = core::Clock::now();
  if (began_ && now - step_began_ >= time_ / kSteps) {
    decide(now);
  }
}

void TraceLearning::tell() {
  if (!is_over_ && began_) {
    (void)ask(false);
  }
}

bool TraceLearning::has_dropped(ProbedCode& code, const ProbedFunction& function) {
  const auto row = row_of(code, function);
  return row && rows_[*row].is_dropped;
}

std::optional<std::size_t> TraceLearning::row_of(ProbedCode& code, const ProbedFunction& function) {
  std::vector<std::uint32_t>& known = code.trace()->learned;
  if (function.number >= known.size()) {
    known.resize(function.number + std::size_t{1});
  }
  std::uint32_t& number = known[function.number];  // a row's, plus 1
  if (number == 0) {
    const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
    if (module == nullptr || module->file.image == nullptr) {
      return std::nullopt;
    }
    const auto [file, is_new_file] = file_numbers_.try_emplace(
        {module->file.image->identity(), module->file.path}, files_.size());
    if (is_new_file) {
      files_.push_back(module->file);
    }
    const std::uint64_t begin = function.bounds.begin.value() - module->bias;
    const auto [row, is_new] = row_numbers_.try_emplace({file->second, begin}, rows_.size());
    if (is_new) {
      rows_.push_back({file->second, {.begin = begin}});
    }
    number = static_cast<std::uint32_t>(row->second + 1);
  }
  return number - std::size_t{1};
}

/// Those that have not ended were inside, too.
void TraceLearning::add_open_calls(core::TimePoint now) {
  std::set<const ThreadTrace*> seen;
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->code_state == nullptr || !probed_code(*tracee.process).trace()) {
      continue;
    }
    ProbedCode& code = probed_code(*tracee.process);
    for (const auto& trace : code.trace()->threads) {
      if (!seen.insert(trace.get()).second) {
        continue;
      }
      for (const ThreadTrace::EndedCall& call : trace->open_calls(now)) {
        note_ended(code, call);
      }
    }
  }
}

std::vector<std::size_t> TraceLearning::ask(bool is_decided) {
  const core::TimePoint now = core::Clock::now();
  const std::vector<Row> without_open = rows_;
  add_open_calls(now);
  std::vector<CodeAnalysis::CallCosts> files;
  for (const CodeAnalysis::File& file : files_) {
    files.push_back({file, {}});
  }
  core::Duration cost{};
  std::vector<std::vector<std::size_t>> rows(files.size());  // of the functions in `files`
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    files[rows_[i].file].functions.push_back(rows_[i].calls);
    rows[rows_[i].file].push_back(i);
    cost += rows_[i].calls.cost;
  }
  // The timer adds up the target's time only from sample to sample.
  core::Duration own = costs_.target_cpu() - target_cpu_;
  own = own > core::Duration{} ? own : now - step_began_ - cost;
  const auto dropped = analysis_.learn(files, std::max(own, core::Duration{1}), is_decided);
  std::vector<std::size_t> result;
  for (std::size_t file = 0; file < std::min(dropped.size(), rows.size()); ++file) {
    for (const std::size_t function : dropped[file]) {
      result.push_back(rows[file][function]);
    }
  }
  rows_ = without_open;
  return result;
}

void TraceLearning::begin_step(core::TimePoint now) {
  step_began_ = now;
  target_cpu_ = costs_.target_cpu();
  for (Row& row : rows_) {
    row.calls = {.begin = row.calls.begin};
  }
}

void TraceLearning::decide(core::TimePoint now) {
  const std::vector<std::size_t> chosen = ask(true);  // while what is open is still added
  for (const std::size_t row : chosen) {
    rows_[row].is_dropped = true;
  }
  std::set<const CodeState*> seen;
  for (const auto& [tid, tracee] : tracees_.all()) {
    const CodeState* const state = tracee.process->code_state.get();
    if (state != nullptr && seen.insert(state).second && probed_code(*tracee.process).trace()) {
      drop_in(probed_code(*tracee.process));
    }
  }
  begin_step(now);
  if (now - *began_ >= time_) {
    is_over_ = true;
    of_no_row_.clear();
    costs_.resume_limit();
  }
}

void TraceLearning::drop_in(ProbedCode& code) {
  std::vector<std::uint32_t> blocks;
  const std::vector<std::uint32_t>& known = code.trace()->learned;
  for (std::uint32_t number = 0; number < known.size(); ++number) {
    ProbedFunction& function = code.function(number);
    if (known[number] == 0 || !rows_[known[number] - 1].is_dropped || function.trace_until) {
      continue;
    }
    blocks.insert(blocks.end(), function.blocks.begin(), function.blocks.end());
    ++dropped_;
  }
  code.remove_probes(blocks, core::Clock::now());
}

}  // namespace sp::supervisor
