#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "cli/cli.h"
#include "cli/settings.h"
#include "commands/annotate/annotate.h"
#include "commands/convert/convert.h"
#include "commands/count/count.h"
#include "commands/coverage/coverage.h"
#include "commands/ctl/ctl.h"
#include "commands/diff/diff.h"
#include "commands/doctor/doctor.h"
#include "commands/dump/dump.h"
#include "commands/info/info.h"
#include "commands/record/record.h"
#include "commands/report/report.h"
#include "commands/symbols/symbols.h"
#include "commands/top/top.h"
#include "commands/xray/xray.h"
#include "core/check.h"

namespace {

/// Ends by `signal` as the target did, so that a shell reports the same; without a core dump of
/// superprofiler.
void die_by(int signal) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(signal, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(signal);
}

int end_as(const sp::record::Ending& ending) {
  if (ending.signal != 0) {
    die_by(ending.signal);
    return 128 + ending.signal;
  }
  return ending.status;
}

}  // namespace

int main(int argc, char** argv) {
  sp::core::end_by_line_where_uncaught();
  const auto settings = sp::cli::find_settings();
  if (!settings) {
    std::fprintf(stderr, "superprofiler: %s\n", settings.error().message().c_str());
    return 2;
  }
  const sp::cli::Parsed parsed = sp::cli::parse(argc, argv, *settings);
  if (const auto* options = std::get_if<sp::cli::RecordOptions>(&parsed)) {
    return end_as(sp::record::run(*options, std::vector<std::string>(argv, argv + argc)));
  }
  if (const auto* options = std::get_if<sp::cli::DoctorOptions>(&parsed)) {
    return sp::doctor::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::AnnotateOptions>(&parsed)) {
    return sp::annotate::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::ConvertOptions>(&parsed)) {
    return sp::convert::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::ReportOptions>(&parsed)) {
    return sp::report::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::DiffOptions>(&parsed)) {
    return sp::diff::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::InfoOptions>(&parsed)) {
    return sp::info::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::DumpOptions>(&parsed)) {
    return sp::dump::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::TopOptions>(&parsed)) {
    return end_as(sp::top::run(*options));
  }
  if (const auto* options = std::get_if<sp::cli::CountOptions>(&parsed)) {
    return end_as(sp::count::run(*options));
  }
  if (const auto* options = std::get_if<sp::cli::CoverageOptions>(&parsed)) {
    return sp::coverage::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::XrayOptions>(&parsed)) {
    return sp::xray::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::SymbolsOptions>(&parsed)) {
    return sp::symbols_command::run(*options);
  }
  if (const auto* options = std::get_if<sp::cli::CtlOptions>(&parsed)) {
    return sp::ctl::run(*options);
  }
  const auto& print = std::get<sp::cli::PrintAndExit>(parsed);
  if (print.status == 0) {
    std::fputs(print.text.c_str(), stdout);
  } else {
    std::fprintf(stderr, "superprofiler: %s\n", print.text.c_str());
  }
  return print.status;
}
