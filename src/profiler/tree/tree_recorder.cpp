#include "profiler/tree/tree_recorder.h"

#include <algorithm>
#include <ostream>
#include <unordered_map>
#include <utility>

#include "core/log.h"
#include "profiler/formats/tree_json.h"

namespace sp::profiler {
namespace {

ContextTree::Options tree_options(const TreeRecorder::Options& options) {
  const core::RunFacts facts = options.facts_now ? options.facts_now() : core::RunFacts();
  // The return address is pushed, or in a register: ContainerHeader has the same two.
  return {.by_thread = options.by_thread,
          .calls_push = facts.host_arch != "aarch64",
          .planned = options.planned};
}

}  // namespace

TreeRecorder::TreeRecorder(Options options, Namer& namer)
    : options_(std::move(options)), namer_(namer), tree_(tree_options(options_), namer) {
  if (options_.emit) {
    emitter_ = std::make_unique<Emitter>(
        *options_.emit, Emitter::Run{options_.started, options_.version, options_.facts_now}, tree_,
        ids_, namer_);
  }
}

void TreeRecorder::add(const core::ModuleSeen& seen) {
  ids_.add(seen.module);
  tree_.add(seen);
  if (emitter_) {
    emitter_->add(seen.module);
  }
}

void TreeRecorder::add(const NamedCrash& crash) {
  if (emitter_) {
    emitter_->add(crash);
  }
}

void TreeRecorder::send_now() {
  if (emitter_) {
    emitter_->send_now();
  }
}

void TreeRecorder::tell(const core::TraceRequest& change) {
  if (emitter_) {
    emitter_->tell(change);
  }
}

core::Duration TreeRecorder::interval(core::Duration wanted) const {
  return emitter_ ? std::min(wanted, emitter_->interval()) : wanted;
}

void TreeRecorder::tick(core::TimePoint now) {
  if (emitter_) {
    emitter_->step(now);
  }
}

void TreeRecorder::finish(const core::RunFacts& facts) {
  if (emitter_ && !emitter_->finish(facts)) {
    core::log_note("--emit: the reader has not got everything; tree.json has it");
  }
}

Output TreeRecorder::output(const core::RunFacts& facts, bool snapshot, const Profile& profile) {
  return {std::string(kTree), [this, &facts, snapshot, &profile](std::ostream& out) {
            std::unordered_map<core::ThreadId, std::string> threads;
            for (const Profile::Thread& thread : profile.threads()) {
              threads[thread.id] = thread.name;
            }
            const NodeTexts texts{[this](core::ModuleOffset start) {
                                    return namer_.name(start, false).back().function;
                                  },
                                  [&threads](core::ThreadId thread) { return threads[thread]; }};
            const TreeReport report{
                facts,         options_.version, snapshot,         options_.by_thread,
                options_.wall, options_.started, profile.modules()};
            write_tree_json(out, report, tree_, ids_, texts);
          }};
}

WrittenTree TreeRecorder::totals() const {
  const ContextTree::Totals& totals = tree_.totals();
  const auto& functions = tree_.functions().all();
  const auto ended =
      std::count_if(functions.begin(), functions.end(),
                    [](const TreeFunctions::Function& one) { return one.until.has_value(); });
  return {tree_.nodes().all().size(),
          totals.calls.calls,
          totals.calls.folded + totals.folded_samples,
          totals.calls.collapsed + totals.collapsed_samples,
          totals.lost_events,
          static_cast<std::uint64_t>(ended)};
}

}  // namespace sp::profiler
