// The doctor tries what copies of hot code need, and says where it is refused.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "arch/native.h"
#include "end_to_end/support.h"

namespace sp::end_to_end {
namespace {

/// memfd_create and membarrier fail with EPERM from now on; async-signal-safe.
void refuse_what_copies_need() {
  const sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof rules / sizeof rules[0], const_cast<sock_filter*>(rules)};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST(Doctor, tries_what_copies_of_hot_code_need) {
  const std::string freely = run({SP_PROGRAM, "doctor"}).out;
  EXPECT_EQ(freely.find("memfd_create fails"), std::string::npos) << freely;
  StartOptions start;
  start.before_exec = refuse_what_copies_need;
  const Outcome outcome = run({SP_PROGRAM, "doctor"}, start);
  for (const auto* refused : {"memfd_create fails: Operation not permitted",
                              "no MEMBARRIER_CMD_GLOBAL: Operation not permitted"}) {
    EXPECT_NE(outcome.out.find(refused), std::string::npos) << outcome.out;
  }
}

}  // namespace
}  // namespace sp::end_to_end
