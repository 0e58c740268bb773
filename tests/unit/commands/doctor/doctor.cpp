#include "commands/doctor/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "arch/native.h"
#include "commands/doctor/copies.h"
#include "commands/doctor/machine.h"
#include "commands/doctor/process.h"

namespace sp::doctor {
namespace {

MachineFacts good_machine() {
  MachineFacts facts;
  facts.own.may_trace_all = true;
  facts.kernel = "6.1.0";
  facts.cpu = arch::Native::kName;
  facts.stop_cost =
      supervisor::StopCost{std::chrono::microseconds(3), std::chrono::microseconds(50)};
  facts.memory_reads = facts.no_aslr = facts.map_files = facts.debug_files = true;
  facts.cpus_allowed = facts.cpus_online = 4;
  facts.clock_source = "tsc";
  facts.copies.by_segment = true;
  return facts;
}

Finding about(const std::vector<Finding>& findings, std::string_view subject) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.subject == subject;
  });
  if (found == findings.end()) {
    ADD_FAILURE() << "nothing about " << subject;
    return {};
  }
  return *found;
}

TEST(DoctorOfMachine, finds_nothing_wrong_where_all_is_well) {
  for (const Finding& finding : judge(good_machine())) {
    EXPECT_EQ(finding.level, Level::ok) << finding.subject << ": " << finding.fact;
    EXPECT_EQ(finding.fix, "") << finding.subject;
  }
}

TEST(DoctorOfMachine, knows_each_yama_scope) {
  MachineFacts facts = good_machine();
  facts.own.may_trace_all = false;
  const Level unprivileged[] = {Level::ok, Level::warn, Level::fail, Level::fail};
  const Level privileged[] = {Level::ok, Level::ok, Level::ok, Level::fail};
  for (int scope = 0; scope <= 3; ++scope) {
    facts.own.yama_scope = scope;
    facts.own.may_trace_all = false;
    const Finding finding = about(judge(facts), "yama");
    EXPECT_EQ(finding.level, unprivileged[scope]) << scope;
    EXPECT_EQ(finding.fix.empty(), finding.level == Level::ok) << scope;
    facts.own.may_trace_all = true;
    EXPECT_EQ(about(judge(facts), "yama").level, privileged[scope]) << scope;
  }
}

TEST(DoctorOfMachine, gives_the_fix_that_fits_where_it_runs) {
  MachineFacts facts = good_machine();
  facts.own.may_trace_all = false;
  EXPECT_NE(about(judge(facts), "rights").fix.find("sudo"), std::string::npos);
  facts.own.root_may_trace_all = false;
  EXPECT_NE(about(judge(facts), "rights").fix.find("--cap-add SYS_PTRACE"), std::string::npos);
}

TEST(DoctorOfMachine, fails_where_a_filter_refuses_ptrace) {
  MachineFacts facts = good_machine();
  facts.seccomp_filter = facts.own.in_container = true;
  EXPECT_EQ(about(judge(facts), "seccomp").level, Level::ok) << "it lets ptrace through";
  facts.own.filter_error = EPERM;
  facts.stop_cost = core::fail("stopping a child", EPERM);
  EXPECT_EQ(about(judge(facts), "seccomp").level, Level::fail);
  const Finding ptrace = about(judge(facts), "ptrace");
  EXPECT_EQ(ptrace.level, Level::fail);
  EXPECT_NE(ptrace.fix.find("--cap-add SYS_PTRACE"), std::string::npos);
}

TEST(DoctorOfMachine, fails_where_stacks_cannot_be_read) {
  MachineFacts facts = good_machine();
  facts.memory_reads = false;
  EXPECT_EQ(about(judge(facts), "memory").level, Level::fail);
}

TEST(DoctorOfMachine, fails_on_another_cpu_than_it_was_built_for) {
  MachineFacts facts = good_machine();
  facts.cpu = "sparc64";
  EXPECT_EQ(about(judge(facts), "kernel").level, Level::fail);
}

TEST(DoctorOfMachine, warns_of_what_only_limits) {
  MachineFacts facts = good_machine();
  facts.no_aslr = facts.map_files = false;
  facts.cpus_allowed = 1;
  facts.clock_source = "hpet";
  for (const auto* subject : {"--no-aslr", "deleted files", "cpus", "clock"}) {
    EXPECT_EQ(about(judge(facts), subject).level, Level::warn) << subject;
    EXPECT_NE(about(judge(facts), subject).fix, "") << subject;
  }
}

supervisor::CopyFacts good_copies() {
  supervisor::CopyFacts facts;
  facts.by_segment = true;
  return facts;
}

TEST(DoctorOfCopies, finds_nothing_wrong_where_all_is_well) {
  const auto findings = judge(good_copies(), false);
  for (const auto* subject : {"text writes", "gs base", "counters", "code memory", "membarrier"}) {
    EXPECT_EQ(about(findings, subject).level, Level::ok) << subject;
    EXPECT_EQ(about(findings, subject).fix, "") << subject;
  }
}

TEST(DoctorOfCopies, says_in_one_line_what_is_lost_and_how_to_get_it_back) {
  supervisor::CopyFacts facts = good_copies();
  facts.traced_writes = facts.gs_base = facts.counter_memory = EPERM;
  facts.executable_memory = facts.executable_file = facts.membarrier = EACCES;
  const std::pair<std::string, std::string> lost[] = {
      {"text writes", "only -n works"},
      {"gs base", "its probes are removed when hot"},
      {"counters", "its probes are removed when hot"},
      {"code memory", "its probes are removed when hot"},
      {"membarrier", "100 ms later"}};
  const auto findings = judge(facts, false);
  for (const auto& [subject, loss] : lost) {
    const Finding finding = about(findings, subject);
    EXPECT_EQ(finding.level, Level::warn) << subject;
    EXPECT_NE(finding.fact.find(loss), std::string::npos) << finding.fact;
    EXPECT_EQ(finding.fact.find('\n'), std::string::npos) << subject;
    EXPECT_NE(finding.fix, "") << subject;
  }
}

TEST(DoctorOfCopies, makes_do_with_a_memfd_where_execmem_is_refused) {
  supervisor::CopyFacts facts = good_copies();
  facts.executable_memory = EACCES;
  EXPECT_EQ(about(judge(facts, false), "code memory").level, Level::ok);
  facts.executable_file = EACCES;
  EXPECT_NE(about(judge(facts, false), "code memory").fix.find("execmem"), std::string::npos);
  facts.memfd_noexec = 2;
  EXPECT_NE(about(judge(facts, false), "code memory").fix.find("memfd_noexec"), std::string::npos);
}

TEST(DoctorOfCopies, tells_writes_of_the_guardian_from_those_of_the_tracer) {
  supervisor::CopyFacts facts = good_copies();
  facts.untraced_writes = EIO;
  const Finding finding = about(judge(facts, false), "text writes");
  EXPECT_EQ(finding.level, Level::warn);
  EXPECT_NE(finding.fact.find("keeps its breakpoints"), std::string::npos) << finding.fact;
}

TEST(DoctorOfCopies, tells_a_filter_from_a_kernel_without_the_command) {
  supervisor::CopyFacts facts = good_copies();
  facts.membarrier = EINVAL;
  EXPECT_NE(about(judge(facts, true), "membarrier").fix.find("nohz_full"), std::string::npos);
  facts.membarrier = EPERM;
  EXPECT_NE(about(judge(facts, true), "membarrier").fix.find("docker run"), std::string::npos);
}

TEST(DoctorOfCopies, needs_no_segment_where_a_cpu_has_none) {
  supervisor::CopyFacts facts = good_copies();
  facts.by_segment = false;
  facts.gs_base = ENOTSUP;
  const auto findings = judge(facts, false);
  EXPECT_EQ(about(findings, "copies").level, Level::ok);
  EXPECT_NE(about(findings, "copies").fact.find("atomically"), std::string::npos);
}

ProcessFacts good_process() {
  ProcessFacts facts;
  facts.attach.pid = facts.attach.leader = 1234;
  facts.attach.name = "server";
  facts.attach.exists = true;
  facts.attach.state = 'R';
  facts.attach.threads = 8;
  facts.readable = facts.has_symbols = facts.has_debug_info = true;
  return facts;
}

TEST(DoctorOfProcess, says_what_it_is) {
  const auto findings = judge(good_process());
  EXPECT_EQ(about(findings, "process").fact, "1234 (server), uid 0, 8 threads");
  EXPECT_EQ(about(findings, "attach").level, Level::ok);
  EXPECT_EQ(about(findings, "names").level, Level::ok);
}

TEST(DoctorOfProcess, fails_with_the_reason_of_a_refusal) {
  ProcessFacts facts = good_process();
  facts.attach.tracer = 99;
  facts.attach.tracer_name = "gdb";
  facts.attach.error = EPERM;
  const auto findings = judge(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].level, Level::fail);
  EXPECT_NE(findings[0].fact.find("already traced by gdb (99)"), std::string::npos);
}

TEST(DoctorOfProcess, fails_on_what_can_be_attached_to_but_not_profiled) {
  ProcessFacts narrow = good_process();
  narrow.attach.is_32_bit = true;
  EXPECT_EQ(judge(narrow).front().level, Level::fail);
  ProcessFacts thread = good_process();
  thread.attach.leader = 1000;
  EXPECT_EQ(judge(thread).front().level, Level::fail);
}

TEST(DoctorOfProcess, warns_of_a_stopped_and_of_a_stripped_program) {
  ProcessFacts facts = good_process();
  facts.attach.state = 'T';
  facts.has_symbols = facts.has_debug_info = false;
  EXPECT_EQ(about(judge(facts), "process").fix, "kill -CONT 1234");
  EXPECT_EQ(about(judge(facts), "names").level, Level::warn);
}

TEST(DoctorReport, is_aligned_and_ends_with_the_verdict) {
  const std::vector<Finding> findings = {{Level::ok, "a", "works", ""},
                                         {Level::warn, "longer", "half", "do this"},
                                         {Level::fail, "c", "broken", "do that"}};
  EXPECT_EQ(render(findings, false),
            "ok    a       works\n"
            "warn  longer  half\n"
            "              fix: do this\n"
            "FAIL  c       broken\n"
            "              fix: do that\n"
            "Profiling cannot work: see the line that says FAIL above.\n");
  EXPECT_TRUE(render({findings.data(), 1}, false).ends_with("Profiling works.\n"));
  EXPECT_TRUE(render({findings.data(), 2}, false).ends_with("within the limits above.\n"));
}

TEST(DoctorReport, is_coloured_only_when_asked) {
  const std::vector<Finding> findings = {{Level::ok, "a", "works", ""}};
  EXPECT_EQ(render(findings, false).find('\033'), std::string::npos);
  EXPECT_NE(render(findings, true).find("\033[32mok\033[0m"), std::string::npos);
}

}  // namespace
}  // namespace sp::doctor
