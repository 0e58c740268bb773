#include "supervisor/startup/refusal.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace sp::supervisor {
namespace {

/// A process of our own user that lives well, and us without privileges.
AttachFacts plain() {
  AttachFacts facts;
  facts.pid = facts.leader = 1234;
  facts.error = EPERM;
  facts.exists = true;
  facts.name = "server";
  facts.parent = 77;
  facts.parent_name = "bash";
  facts.state = 'S';
  facts.uid = facts.our_uid = 1000;
  facts.threads = 1;
  return facts;
}

void expect_refusal(const AttachFacts& facts, std::string_view fact, std::string_view fix) {
  const Refusal refusal = describe_refusal(facts);
  EXPECT_NE(refusal.fact.find(fact), std::string::npos) << refusal.fact;
  EXPECT_NE(refusal.fix.find(fix), std::string::npos) << refusal.fix;
  EXPECT_EQ((refusal.fact + refusal.fix).find('\n'), std::string::npos);
}

TEST(Refusal, of_no_such_process) {
  AttachFacts facts;
  facts.pid = 1234;
  facts.error = ESRCH;
  expect_refusal(facts, "there is no process 1234", "pgrep");
}

TEST(Refusal, of_ourselves) {
  AttachFacts facts = plain();
  facts.is_ours = true;
  expect_refusal(facts, "1234 (server) is superprofiler itself", "another process");
}

TEST(Refusal, of_a_kernel_thread) {
  AttachFacts facts = plain();
  facts.is_kernel_thread = true;
  expect_refusal(facts, "1234 (server) is a kernel thread", "perf");
}

TEST(Refusal, of_a_thread_that_is_no_process) {
  AttachFacts facts = plain();
  facts.leader = 1200;
  expect_refusal(facts, "is one thread of process 1200", "superprofiler -p 1200");
}

TEST(Refusal, of_a_zombie) {
  AttachFacts facts = plain();
  facts.state = 'Z';
  expect_refusal(facts, "waits for its parent 77 (bash) to collect it (a zombie)",
                 "superprofiler -- CMD");
}

TEST(Refusal, of_a_process_with_a_tracer) {
  AttachFacts facts = plain();
  facts.tracer = 99;
  facts.tracer_name = "gdb";
  expect_refusal(facts, "already traced by gdb (99)", "let gdb detach");
  facts.tracer_name = "";
  expect_refusal(facts, "already traced by a process (99)", "let a process detach");
}

TEST(Refusal, of_a_32_bit_program) {
  AttachFacts facts = plain();
  facts.is_32_bit = true;
  expect_refusal(facts, "32-bit program", "64-bit build");
  facts.is_32_bit = false;
  facts.error = ENOTSUP;
  expect_refusal(facts, "32-bit program", "64-bit build");
}

TEST(Refusal, by_a_seccomp_filter) {
  AttachFacts facts = plain();
  facts.filter_error = EPERM;
  expect_refusal(facts, "a seccomp filter refuses ptrace", "sandbox or service");
  facts.in_container = true;
  expect_refusal(facts, "a seccomp filter refuses ptrace", "--cap-add SYS_PTRACE");
}

TEST(Refusal, by_yama_scope_1) {
  AttachFacts facts = plain();
  facts.yama_scope = 1;
  expect_refusal(facts, "kernel.yama.ptrace_scope = 1", "superprofiler -- CMD");
  expect_refusal(facts, "ancestors", "sudo sysctl kernel.yama.ptrace_scope=0");
}

TEST(Refusal, by_yama_scope_2) {
  AttachFacts facts = plain();
  facts.yama_scope = 2;
  expect_refusal(facts, "kernel.yama.ptrace_scope = 2", "sudo superprofiler -p 1234");
}

TEST(Refusal, by_yama_scope_3_whoever_we_are) {
  AttachFacts facts = plain();
  facts.yama_scope = 3;
  facts.may_trace_all = true;
  expect_refusal(facts, "kernel.yama.ptrace_scope = 3", "reboot");
}

TEST(Refusal, of_another_users_process) {
  AttachFacts facts = plain();
  facts.uid = 33;
  expect_refusal(facts, "belongs to uid 33 and superprofiler runs as uid 1000",
                 "sudo superprofiler -p 1234");
  facts.root_may_trace_all = false;
  expect_refusal(facts, "belongs to uid 33", "--cap-add SYS_PTRACE");
}

TEST(Refusal, of_a_process_that_proc_hides) {
  AttachFacts facts = plain();
  facts.hidden = true;
  facts.name = "";
  facts.leader = 0;
  expect_refusal(facts, "1234 belongs to somebody else (/proc hides it)", "sudo");
}

TEST(Refusal, of_a_process_that_is_not_dumpable) {
  AttachFacts facts = plain();
  facts.dumpable = false;
  expect_refusal(facts, "is not dumpable", "sudo superprofiler -p 1234");
}

TEST(Refusal, of_a_process_with_more_capabilities) {
  AttachFacts facts = plain();
  facts.permitted_capabilities = 1U << 13;
  expect_refusal(facts, "holds capabilities", "sudo");
}

TEST(Refusal, of_root_without_the_capability) {
  AttachFacts facts = plain();
  facts.our_uid = 0;
  expect_refusal(facts, "belongs to uid 1000 and superprofiler runs as uid 0", "CAP_SYS_PTRACE");
}

TEST(Refusal, by_a_security_module) {
  AttachFacts facts = plain();
  facts.error = EACCES;
  expect_refusal(facts, "security module", "dmesg");
}

TEST(Refusal, of_a_process_that_ended_meanwhile) {
  AttachFacts facts = plain();
  facts.error = ESRCH;
  expect_refusal(facts, "1234 (server) ended just now", "superprofiler -- CMD");
}

TEST(Refusal, without_a_reason_says_what_the_kernel_said) {
  AttachFacts facts = plain();
  expect_refusal(facts, "Operation not permitted", "sudo");
  facts.may_trace_all = true;
  expect_refusal(facts, "Operation not permitted", "user namespace");
}

}  // namespace
}  // namespace sp::supervisor
