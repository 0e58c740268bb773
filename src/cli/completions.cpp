#include <fmt/format.h>

#include <string>

#include "cli/command_table.h"
#include "cli/option_table.h"
#include "cli/texts.h"

namespace sp::cli {
namespace {

constexpr std::string_view kBashHead = R"(# bash completion for superprofiler
_superprofiler() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((i + 1 == COMP_CWORD)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    return
  done
  case $prev in
)";

constexpr std::string_view kBashTail = R"(  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _superprofiler superprofiler
)";

// bash's completion of an option's value; "" for none.
std::string bash_values(const OptionRow& row) {
  switch (row.completes) {
    case Completes::nothing:
      return "";
    case Completes::choices:
      return fmt::format("compgen -W '{}' -- \"$cur\"", row.choices);
    case Completes::files:
      return "compgen -f -- \"$cur\"";
    case Completes::directories:
      return "compgen -d -- \"$cur\"";
    case Completes::processes:
      return "compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$cur\"";
    case Completes::commands:
      return "compgen -c -- \"$cur\"";
  }
  return "";
}

std::string spelled(const OptionRow& row, std::string_view between) {
  return row.letter == '\0' ? fmt::format("--{}", row.name)
                            : fmt::format("-{}{}--{}", row.letter, between, row.name);
}

void add_word(const OptionRow& row, Command command, std::string& words) {
  if (row.is_for(command)) {
    words += fmt::format("{}--{}", words.empty() ? "" : " ", row.name);
  }
}

template <typename Wanted>
std::string command_names(const Wanted& wanted) {
  std::string names;
  for (const CommandRow& row : command_table()) {
    if (wanted(row)) {
      names += fmt::format("{}{}", names.empty() ? "" : " ", row.name);
    }
  }
  return names;
}

bool is_any(const CommandRow& /*row*/) { return true; }
bool reads_file(const CommandRow& row) { return row.takes == Takes::file; }
bool reads_run(const CommandRow& row) {
  return row.takes != Takes::nothing && row.takes != Takes::functions && !reads_file(row);
}

// Sets what completes a command's words in bash: d directories, f files.
std::string_view bash_takes(const CommandRow& row) {
  return reads_file(row) ? " takes=f" : reads_run(row) ? " takes=d" : "";
}

std::string bash_script() {
  std::string script(kBashHead);
  std::string words;
  for (const OptionRow& row : option_table()) {
    add_word(row, Command::record, words);
    if (row.value_optional) {
      words += fmt::format(" --{}={}", row.name, row.choices);
    }
    if (!row.takes_next_word()) {
      continue;
    }
    const std::string values = bash_values(row);
    script += fmt::format("    {})\n", spelled(row, " | "));
    if (!values.empty()) {
      script += fmt::format("      mapfile -t COMPREPLY < <({})\n", values);
    }
    script += "      return\n      ;;\n";
  }
  script += fmt::format(
      "  esac\n"
      "  local words='{}' takes=''\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      words);
  for (const CommandRow& command : command_table()) {
    std::string own;
    for (const OptionRow& row : option_table()) {
      add_word(row, command.command, own);
    }
    script += fmt::format("    {}) words='{}'{} ;;\n", command.name, own, bash_takes(command));
  }
  script += fmt::format(
      "  esac\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    words+=' {}'\n"
      "  elif [[ $takes && $cur != -* && ($COMP_CWORD == 2 || "
      "${{COMP_WORDS[1]}} == diff) ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -\"$takes\" -- \"$cur\")\n"
      "    return\n"
      "  fi\n",
      command_names(is_any));
  return script.append(kBashTail);
}

// For '...' in zsh and fish: help texts contain no quotes; colons are escaped for zsh.
std::string escaped_for_zsh(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string zsh_values(const OptionRow& row) {
  switch (row.completes) {
    case Completes::nothing:
      return " ";
    case Completes::choices:
      return fmt::format("({})", row.choices);
    case Completes::files:
      return "_files";
    case Completes::directories:
      return "_directories";
    case Completes::processes:
      return "_pids";
    case Completes::commands:
      return "_cmdstring";
  }
  return " ";
}

std::string zsh_script() {
  std::string script =
      "#compdef superprofiler\n"
      "# zsh completion for superprofiler\n"
      "_superprofiler_command() {\n"
      "  if ((${words[(I)--]})); then\n"
      "    _command_names -e\n"
      "  else\n"
      "    compadd " +
      command_names(is_any) +
      "\n"
      "  fi\n"
      "}\n"
      "_superprofiler() {\n"
      "  _arguments -s -S \\\n";
  for (const OptionRow& row : option_table()) {
    if (row.value_optional) {
      script += fmt::format("    '*'--{0}=-'[{1}]::{2}:({3})' \\\n", row.name,
                            escaped_for_zsh(row.help), row.value, row.choices);
      if (row.letter != '\0') {
        script += fmt::format("    '*'-{}'[{}]' \\\n", row.letter, escaped_for_zsh(row.help));
      }
      continue;
    }
    const std::string value =
        row.value.empty() ? "" : fmt::format(":{}:{}", row.value, zsh_values(row));
    const std::string rest = fmt::format("'[{}]{}'", escaped_for_zsh(row.help), value);
    script += row.letter == '\0'
                  ? fmt::format("    '*'--{}{} \\\n", row.name, rest)
                  : fmt::format("    '*'{{-{},--{}}}{} \\\n", row.letter, row.name, rest);
  }
  script +=
      "    '1:command:_superprofiler_command' \\\n"
      "    '*::argument:_normal'\n"
      "}\n"
      // Works both autoloaded from $fpath and sourced.
      "if [ \"$funcstack[1]\" = _superprofiler ]; then\n"
      "  _superprofiler \"$@\"\n"
      "else\n"
      "  compdef _superprofiler superprofiler\n"
      "fi\n";
  return script;
}

std::string fish_values(const OptionRow& row) {
  switch (row.completes) {
    case Completes::nothing:
      return " -x";
    case Completes::choices:
      return fmt::format(" -x -a '{}'", row.choices);
    case Completes::files:
      return " -r -F";
    case Completes::directories:
      return " -x -a '(__fish_complete_directories)'";
    case Completes::processes:
      return " -x -a '(__fish_complete_pids)'";
    case Completes::commands:
      return " -x -a '(__fish_complete_command)'";
  }
  return "";
}

std::string fish_script() {
  std::string script =
      "# fish completion for superprofiler\n"
      "complete -c superprofiler -f\n";
  for (const CommandRow& row : command_table()) {
    script += fmt::format("complete -c superprofiler -n __fish_is_first_token -a {} -d '{}'\n",
                          row.name, row.does);
  }
  script += fmt::format(
      "complete -c superprofiler -n '__fish_seen_subcommand_from {}' "
      "-a '(__fish_complete_directories)'\n"
      "complete -c superprofiler -n '__fish_seen_subcommand_from {}' -F\n",
      command_names(reads_run), command_names(reads_file));
  script +=
      // Words after -- are completed as that command's.
      "function __superprofiler_command\n"
      "  set -l words (commandline -opc)\n"
      "  set -l dashes (contains -i -- -- $words)\n"
      "  set -e words[1..$dashes]\n"
      "  complete -C \"$(string escape -- $words | string join ' ') $(commandline -ct)\"\n"
      "end\n"
      "complete -c superprofiler -n '__fish_seen_subcommand_from --' "
      "-a '(__superprofiler_command)'\n";
  for (const OptionRow& row : option_table()) {
    const std::string letter = row.letter == '\0' ? "" : fmt::format(" -s {}", row.letter);
    const std::string values = row.value_optional  ? fmt::format(" -a '{}'", row.choices)
                               : row.value.empty() ? ""
                                                   : fish_values(row);
    script += fmt::format("complete -c superprofiler{} -l {}{} -d '{}'\n", letter, row.name, values,
                          row.help);
  }
  return script;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") {
    return bash_script();
  }
  if (shell == "zsh") {
    return zsh_script();
  }
  return shell == "fish" ? fish_script() : "";
}

}  // namespace sp::cli
