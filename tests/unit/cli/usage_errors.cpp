#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

using Words = std::vector<std::string>;

struct Mistake {
  Words words;
  std::string says;  // a part of the line
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << "superprofiler";
  for (const std::string& word : mistake.words) {
    *out << " '" << word << "'";
  }
}

class UsageError : public testing::TestWithParam<Mistake> {};

TEST_P(UsageError, says_the_fact_and_the_fix) {
  EXPECT_NE(usage_error(GetParam().words).find(GetParam().says), std::string::npos)
      << usage_error(GetParam().words);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, UsageError,
    testing::Values(
        Mistake{{}, "give a command (superprofiler -- CMD) or a process (superprofiler -p PID)"},
        Mistake{{"ls", "-l"}, "put -- in front of the command: superprofiler -- ls -l"},
        Mistake{{"--flame", "ls", "-a"}, "put -- in front of the command: superprofiler -- ls -a"},
        Mistake{{"--"}, "there is no command after --; write"},
        Mistake{{"-c", "ls", "--", "ls"}, "-c and -- both give a command; keep one"},
        Mistake{{"-c", "ls", "-c", "ls"}, "-c is given twice"},
        Mistake{{"-c", "ls", "-p", "1"}, "superprofiler -p PID -- CMD"},
        Mistake{{"-c", ""}, "-c: the command is empty; give one"},
        Mistake{{"-c", "'ls"}, "never closed; add the missing '"},
        Mistake{{"-c", "--", "ls"}, "--command needs a value"},
        Mistake{{"--toggle-collect", "f", "--", "ls"}, "goes with -s or --single=step"},
        Mistake{{"-s", "--toggle-collect", "/(/", "--", "ls"}, "--toggle-collect"},
        Mistake{{"doctor", "-p", "1", "-p", "2"}, "-p is given twice"},
        Mistake{{"doctor", "-p", "1,2"}, "'1,2' is not a process id"},
        Mistake{{"dump", "-p", "1,x"}, "'x' is not a process id"},
        Mistake{{"-p", "1,x"}, "'x' is not a process id"},
        Mistake{{"-p", ""}, "'' is not a process id"},
        Mistake{{"-p"}, "--pid needs a value: --pid PID"},
        Mistake{{"-p", "abc"}, "'abc' is not a process id; give one number"},
        Mistake{{"-p", "-1"}, "'-1' is not a process id"},
        Mistake{{"-p", "0"}, "'0' is not a process id"},
        Mistake{{"-p", "99999999999"}, "'99999999999' is not a process id"},
        Mistake{{"-v", "doctor"}, "goes first: superprofiler doctor"},
        Mistake{{"doctor", "ls"}, "doctor takes no command ('ls')"},
        Mistake{{"doctor", "--", "ls"}, "doctor takes no command"},
        Mistake{{"doctor", "-p", "x"}, "'x' is not a process id"},
        Mistake{{"doctor", "--flame"}, "there is no option --flame"},
        Mistake{{"annotate"}, "annotate takes a run and a function, 0 words are given"},
        Mistake{{"annotate", "run"}, "1 word is given: superprofiler annotate output/NAME"},
        Mistake{{"annotate", "run", "f(int,", "int)"}, "3 words are given"},
        Mistake{{"annotate", "--flame", "run", "f"}, "there is no option --flame"},
        Mistake{{"-q", "annotate", "run", "f"}, "goes first: superprofiler annotate"},
        Mistake{{"convert", "run"}, "convert needs a format: superprofiler convert RUN -f FORMAT"},
        Mistake{{"convert", "run", "-o", "a.xyz"}, "convert needs a format"},
        Mistake{{"convert", "a", "b", "-f", "csv"}, "convert takes one run, 2 are given"},
        Mistake{{"convert", "a", "-f", "xml"},
                "'xml' is not known; write callgrind, callgrind-lines, speedscope"},
        Mistake{{"convert", "a", "-f", ""}, "'' is not known"},
        Mistake{{"convert", "", "-f", "csv"}, "is empty"},
        Mistake{{"convert", "a", "-f", "csv", "-o", ""}, "is empty"},
        Mistake{{"report", "a", "b"}, "report takes one run, 2 are given: superprofiler report"},
        Mistake{{"report", ""}, "is empty"},
        Mistake{{"report", "--sort", "hits"},
                "'hits' is not known; write self, total, calls or max"},
        Mistake{{"report", "--graph"}, "are of calls: give --trace as well"},
        Mistake{{"report", "--sort", "max"}, "are of calls: give --trace as well"},
        Mistake{{"report", "--trace", "--from", "1"}, "give --graph as well"},
        Mistake{{"report", "--trace", "--by-module"}, "--by-module are of samples"},
        Mistake{{"report", "--trace", "--graph", "--json"}, "leave out --json"},
        Mistake{{"report", "--trace", "--graph", "--from", "2", "--to", "1"}, "not before --to"},
        Mistake{{"convert", "-f", "xray", "-o", "-"}, "xray writes two files"},
        Mistake{{"convert", "-f", "chrome", "--limit", "-1"}, "limit: '-1' is not a number"},
        Mistake{{"top", "-p", "1", "--sort", "max"}, "top has no longest calls"},
        Mistake{{"report", "--callers", ""}, "--callers: the function's name is empty"},
        Mistake{{"report", "--callers", "f", "--by-module"}, "report prints one table"},
        Mistake{{"report", "-o", "x.html"}, "-o is of --html"},
        Mistake{{"report", "--html", "-o", ""}, "the name of the file is empty"},
        Mistake{{"report", "--html", "--json"}, "leave out --json"},
        Mistake{{"report", "--html", "--callers", "f"}, "leave out --callers"},
        Mistake{{"report", "--html", "a", "b"}, "report takes one run, 2 are given"},
        Mistake{{"--html", "--", "ls"}, "--html is an option of report: superprofiler"},
        Mistake{{"report", "--percent-limit", "101"}, "'101' is not a number from 0 to 100"},
        Mistake{{"--by-module", "--", "ls"}, "--by-module is an option of report: superprofiler"},
        Mistake{{"report", "--by-thread", "--by-module"}, "report prints one table"},
        Mistake{{"report", "--by-thread", "--sort", "calls"}, "not counted by thread"},
        Mistake{{"info", "a", "b"}, "info takes one run, 2 are given: superprofiler info"},
        Mistake{{"-q", "info"}, "goes first: superprofiler info"},
        Mistake{{"-q", "report"}, "goes first: superprofiler report"},
        Mistake{{"dump"}, "dump needs a process: superprofiler dump -p PID"},
        Mistake{{"top", "./prog", "a"},
                "put -- in front of the command: superprofiler top -- ./prog a"},
        Mistake{{"dump", "7"}, "dump takes no command ('7'); it takes a process: superprofiler"},
        Mistake{{"dump", "-p", "7", "--", "ls"}, "dump takes no command; it takes a process"},
        Mistake{{"top"}, "nothing to profile"},
        Mistake{{"top", "-p", "7", "-i", "1ms"}, "the shortest time between two tables is 50ms"},
        Mistake{{"top", "-p", "7", "--sort", "calls"}, "--sort calls needs --calls"},
        Mistake{{"top", "-p", "7", "--flame"}, "there is no option --flame"},
        Mistake{{"--once", "--", "ls"}, "--once is an option of top: superprofiler top -p PID"},
        Mistake{{"-q", "dump"}, "goes first: superprofiler dump -p PID"},
        Mistake{{"convert", "a", "--flame"}, "there is no option --flame"},
        Mistake{{"-f", "csv", "--", "ls"}, "-f is an option of convert: superprofiler convert"},
        Mistake{{"-q", "convert", "run"}, "goes first: superprofiler convert"}));

INSTANTIATE_TEST_SUITE_P(
    Options, UsageError,
    testing::Values(
        Mistake{{"--intervall", "5"}, "there is no option --intervall; did you mean --interval?"},
        Mistake{{"--nmae=x", "--", "ls"}, "did you mean --name?"},
        Mistake{{"--inter", "5"}, "did you mean --interval?"},
        Mistake{{"--zzzzzzzz"}, "superprofiler --help lists them"},
        Mistake{{"-x"}, "there is no option -x; superprofiler --help lists them"},
        Mistake{{"-nx"}, "there is no option -x"},
        Mistake{{"--flame=3"}, "--flame takes no value; write --flame alone"},
        Mistake{{"--single=fast", "--", "ls"},
                "--single: 'fast' is not known; write copies or step"},
        Mistake{{"-s=fast", "--", "ls"}, "--single: 'fast' is not known; write copies or step"},
        Mistake{{"-s", "ls"}, "put -- in front of the command: superprofiler -- ls"},
        Mistake{{"-s", "-n", "--", "ls"}, "-n only samples and -s only counts; keep one"},
        Mistake{{"-q", "-v", "--", "ls"}, "-q and -v contradict each other; keep one"},
        Mistake{{"--completions", "tcsh"}, "'tcsh' is not known; write bash, zsh or fish"},
        Mistake{{"--color", "blue", "--", "ls"}, "write auto, always or never"},
        Mistake{{"--follow", "forks", "--", "ls"}, "write all, fork, exec or none"},
        Mistake{{"--follow", "", "--", "ls"}, "write all, fork, exec or none"},
        Mistake{{"--follow", "fork,none", "--", "ls"}, "'none' does not go with others"},
        Mistake{{"--threads", "1", "--", "ls"}, "write all or main"},
        Mistake{{"--stop-with", "9", "--", "ls"}, "write sigstop or interrupt"},
        Mistake{{"--name", "a/b", "--", "ls"}, "give a name without /"},
        Mistake{{"--name", "..", "--", "ls"}, "cannot name a directory"},
        Mistake{{"--name=", "--", "ls"}, "--name needs a value"},
        Mistake{{"-o", "", "--", "ls"}, "the directory's name is empty; give one"}));

INSTANTIATE_TEST_SUITE_P(
    Values, UsageError,
    testing::Values(
        Mistake{{"-i", "0", "--", "ls"}, "the shortest interval is 1us"},
        Mistake{{"-i", "500ns", "--", "ls"}, "the shortest interval is 1us"},
        Mistake{{"-i", "-5", "--", "ls"}, "'-5' is not a time; write a number with"},
        Mistake{{"-F", "0", "--", "ls"}, "'0' is not a number from 0.001 to 1000000"},
        Mistake{{"-F", "2000000", "--", "ls"}, "-F: '2000000'"},
        Mistake{{"-F", "9", "-i", "9", "--", "ls"}, "-i and -F both set the sampling rate; keep"},
        Mistake{{"-d", "0", "--", "ls"}, "-d: the duration must be more than 0"},
        Mistake{{"-d", "soon", "--", "ls"}, "'soon' is not a time"},
        Mistake{{"-D", "-1s", "--", "ls"}, "'-1s' is not a time"},
        Mistake{{"-t", "1.5", "--", "ls"}, "'1.5' is not a number from 0 to 1"},
        Mistake{{"-t", "nan", "--", "ls"}, "'nan' is not a number"},
        Mistake{{"--overhead", "-1", "--", "ls"}, "--overhead: '-1' is not a number from 0"},
        Mistake{{"--only-funcs", "/[/", "--", "ls"}, "'/[/' is not a regular expression ("},
        Mistake{{"--only-funcs", "main,/a(/", "--", "ls"}, "is not a regular expression ("},
        Mistake{{"--func-instrumentation-depth", "x", "--", "ls"}, "'x' is not a number"}));

}  // namespace
}  // namespace sp::cli
