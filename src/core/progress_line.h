#pragma once

#include <functional>
#include <string>

namespace sp::core {

/// What a task does at the moment, on a line of the terminal that is erased at its end. The rule:
/// nothing in the first second of the outermost task, then the innermost one's text, at most four
/// times a second. Only on a terminal, in the foreground, without -q and --no-progress.
///
///   const core::ProgressLine progress("reading debug information of libfoo.so");
///
/// Any thread; a task ends on the thread that it began on. The line is drawn by a thread of its own
/// (sp-progress), since most tasks are calls of libraries.
class ProgressLine {
 public:
  explicit ProgressLine(std::string text);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  void set(std::string text);

  /// Erases the line until it is drawn next: before something else is written to the terminal.
  static void hide();
  /// --no-progress: called once, before the threads start.
  static void forbid();
  /// For the ptrace thread: its target would wait where the terminal does.
  static void forbid_on_this_thread();
  /// True if lines may be shown. They are not while the process is in the background.
  [[nodiscard]] static bool allowed();

 private:
  std::string* text_ = nullptr;  // null: shows nothing
};

}  // namespace sp::core
