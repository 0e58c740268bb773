#include "commands/count/count.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "commands/count/call_profile.h"
#include "commands/count/count_analysis.h"
#include "commands/count/count_text.h"
#include "commands/count/function_patterns.h"
#include "commands/count/name_check.h"
#include "commands/count/parameter_names.h"
#include "commands/record/stage_options.h"
#include "commands/session/session.h"
#include "core/fd.h"
#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/symbol_namer.h"
#include "profiler/text.h"
#include "symbols/inlined_copies.h"

namespace sp::count {
namespace {

constexpr int kUsage = 2;
constexpr int kOwnFailure = 125;

supervisor::SupervisorOptions supervisor_options(const cli::CountOptions& options,
                                                 supervisor::CodeAnalysis& analysis) {
  supervisor::SupervisorOptions out = record::supervisor_options(options.run, analysis);
  out.reports_crashes = false;
  return out;
}

class Count {
 public:
  Count(const cli::CountOptions& options, const FunctionPatterns& patterns, core::UniqueFd file,
        supervisor::Guardian& guardian)
      : options_(options),
        patterns_(patterns),
        analysis_(patterns),
        session_({supervisor_options(options, analysis_), std::nullopt, {}}, guardian),
        namer_({options.run.debug_dirs, true, symbols::DebugServer::of_environment({[this] {
                  return session_.supervisor().user_requests().interrupts.load();
                }}),
                true}),
        profile_(
            options.query, namer_,
            [this](const core::Module& module, std::uint64_t offset) {
              const auto found = analysis_.counted_at(module, offset);
              return found ? std::optional(CountedName{found->name, found->module}) : std::nullopt;
            }),
        file_(std::move(file)) {}

  record::Ending run();

 private:
  /// The body of the consumer's thread.
  void watch();
  void ask_for_counts();
  void show(Table table);
  void show_notes() const;
  void write(std::string_view text);
  [[nodiscard]] record::Ending ending() const;
  /// Rows for functions that were not called, if there are few.
  void add_uncalled(Table& table) const;
  [[nodiscard]] int output() const {
    return file_.get() >= 0               ? file_.get()
           : options_.run.command.empty() ? STDOUT_FILENO
                                          : STDERR_FILENO;
  }

  const cli::CountOptions& options_;
  const FunctionPatterns& patterns_;
  CountAnalysis analysis_;
  session::Session session_;
  profiler::SymbolNamer namer_;
  CallProfile profile_;
  core::UniqueFd file_;
  TableStyle style_;
  core::TimePoint started_;
  bool is_over_ = false;  // nobody reads it
};

void Count::ask_for_counts() {
  ++session_.supervisor().user_requests().snapshots;
  session_.supervisor().wakeup().send();
}

void Count::watch() {
  constexpr core::Duration kLongestWait = std::chrono::seconds(1);
  const core::Duration every = options_.interval.value_or(core::Duration{});
  const bool has_tables = options_.interval.has_value();
  core::TimePoint next = core::Clock::now() + every;
  while (!session_.records().finished()) {
    const core::TimePoint wait = core::Clock::now() + kLongestWait;
    auto record = session_.records().pop_until(has_tables ? std::min(next, wait) : wait);
    if (record && std::holds_alternative<core::SnapshotWanted>(*record)) {
      show(has_tables ? profile_.take_interval(core::Clock::now())
                      : profile_.whole(core::Clock::now()));
    } else if (record) {
      profile_.add(std::move(*record));
    }
    if (has_tables && core::Clock::now() >= next) {
      ask_for_counts();
      next = core::Clock::now() + every;
    }
  }
  if (!session_.supervisor().exec_failure()) {
    if (has_tables && !options_.json) {
      write("all together:\n");
    }
    namer_.ask_server();
    show(profile_.whole(core::Clock::now()));
    show_notes();
  }
}

void Count::write(std::string_view text) {
  while (!text.empty() && !is_over_) {
    const ssize_t written = ::write(output(), text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      is_over_ = true;
      session_.end();
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Count::add_uncalled(Table& table) const {
  constexpr std::size_t kFew = 20;
  const auto counted = analysis_.counted();
  if (counted.size() > kFew) {
    return;
  }
  for (const CountAnalysis::Counted& one : counted) {
    const bool is_known =
        std::any_of(table.rows.begin(), table.rows.end(), [&](const FunctionRow& row) {
          return row.function == one.name && row.module == one.module;
        });
    if (!is_known) {
      FunctionRow& row = table.rows.emplace_back();
      row.function = one.name;
      row.module = one.module;
      if (!options_.run.launches_target()) {
        row.span.since = one.planned;
      }
    }
  }
}

void Count::show(Table table) {
  add_uncalled(table);
  write(options_.json ? table_json(table, style_, core::seconds(core::Clock::now() - started_))
                      : table_text(table, style_) + (options_.interval ? "\n" : ""));
}

/// Calls that no breakpoint sees: the compiler has put the function's code into its callers.
void Count::show_notes() const {
  constexpr core::Duration kLongest = std::chrono::seconds(1);
  const core::TimePoint deadline = core::Clock::now() + kLongest;
  for (const NamedFile& file : analysis_.files()) {
    const auto found = symbols::find_inlined_copies(
        file.image, file.path, file.root, patterns_.debug_directories(),
        [&](std::string_view name) { return patterns_.matches(file, name); }, deadline);
    if (const std::string note = inlined_note(found, file.path); !note.empty()) {
      core::print_note(note);
    }
  }
  const auto probing = [&] {
    core::RunFacts facts;
    session_.supervisor().fill(facts);
    return facts.probing.value_or(core::Probing{});
  }();
  if (probing.removed > 0) {
    core::print_note(fmt::format(
        "{} breakpoints were hot and are gone (exact-until): -a keeps them, --overhead allows more",
        profiler::grouped(probing.removed)));
  }
}

record::Ending Count::run() {
  supervisor::Supervisor& supervisor = session_.supervisor();
  if (const auto prepared = supervisor.prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return {prepared.error().status, 0};
  }
  started_ = core::Clock::now();
  winsize size{};
  const bool is_terminal = ::ioctl(output(), TIOCGWINSZ, &size) == 0;
  style_ = {options_.query, options_.limit, started_, is_terminal ? size.ws_col : std::size_t{0}};
  session_.start("sp-count", [this] { watch(); });
  session_.run();
  const bool finished = session_.serve([&] { return supervisor.user_requests().interrupts > 2; });
  if (!finished) {
    ::_exit(ending().status != 0 ? ending().status : 130);
  }
  return ending();
}

record::Ending Count::ending() const {
  const auto& failure = session_.supervisor().exec_failure();
  if (failure) {
    core::print_error(failure->message);
    return {failure->status, 0};
  }
  core::RunFacts now;
  session_.supervisor().fill(now);
  if (analysis_.has_nothing()) {
    std::vector<std::string> names;
    std::vector<std::string> files;
    for (const NamedFile& file : analysis_.files()) {
      const auto of_file = patterns_.all_names(file);
      names.insert(names.end(), of_file.begin(), of_file.end());
      files.push_back(file.path);
    }
    const bool was_there =
        !options_.run.launches_target() && files.empty();  // check_names() has found it
    core::print_error(was_there
                          ? fmt::format("process {0} got no breakpoints: nothing was counted; "
                                        "superprofiler doctor -p {0} looks for the reason",
                                        options_.run.pids.front())
                          : no_such_function(options_.patterns, names, files));
    if (!options_.run.launches_target()) {
      return {was_there ? kOwnFailure : kUsage, 0};
    }
  }
  if (!options_.run.launches_target()) {
    return {};
  }
  return {now.end == core::RunEnd::target_exited ? now.exit_status.value_or(0) : 0,
          now.end == core::RunEnd::target_killed ? now.exit_signal.value_or(0) : 0};
}

}  // namespace

record::Ending run(const cli::CountOptions& typed) {
  cli::CountOptions options = typed;
  for (const std::string& note : options.run.notes) {
    core::print_note(note);
  }
  const FunctionPatterns patterns(options.patterns, options.run.debug_dirs);
  if (const auto checked = check_names(options, patterns); !checked) {
    core::print_error(checked.error().message());
    return {kUsage, 0};
  }
  if (const auto found = find_named_parameters(options, patterns, known_files(options)); !found) {
    core::print_error(found.error().message());
    return {kUsage, 0};
  }
  core::UniqueFd file;
  if (!options.output.empty()) {
    constexpr mode_t kMode = 0666;
    file = core::UniqueFd(
        ::open(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
    if (file.get() < 0) {
      core::print_error(core::Error{"-o: writing " + options.output, errno}.message());
      return {kOwnFailure, 0};
    }
  }
  auto guardian = session::begin_tracing();
  if (!guardian) {
    return {kOwnFailure, 0};
  }
  return Count(options, patterns, std::move(file), *guardian).run();
}

}  // namespace sp::count
