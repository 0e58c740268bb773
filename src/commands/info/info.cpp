#include "commands/info/info.h"

#include <iostream>

#include "commands/info/contents.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/pager.h"
#include "commands/run_files/recording_file.h"
#include "core/log.h"

namespace sp::info {
namespace {

constexpr int kFailure = 125;

int fail(const core::Error& error) {
  core::print_error(error.message());
  return kFailure;
}

}  // namespace

int run(const cli::InfoOptions& options) {
  const auto named = run_files::named_or_newest_run(options.run);
  if (!named) {
    return fail(named.error());
  }
  auto recording = run_files::open_recording(*named);
  if (!recording) {
    return fail(recording.error());
  }
  Contents contents = contents_of(recording->reader, recording->path);
  contents.trace = trace_of(*named);
  if (options.json) {
    write_json(std::cout, contents);
  }
  const bool is_shown =
      options.json ? static_cast<bool>(std::cout.flush())
                   : run_files::show([&](std::ostream& out) { write_text(out, contents); });
  if (!is_shown) {
    return fail({"writing to stdout failed"});
  }
  if (!recording->reader.damage().empty()) {
    core::print_note(recording->reader.damage() + "; what stands before that is shown");
  }
  return 0;
}

}  // namespace sp::info
