#include "supervisor/linux/short_transfer.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <span>

#include "supervisor/linux/descriptor.h"
#include "supervisor/linux/process_vm.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Call = ShortTransfer::Call;
using Kind = Descriptor::Kind;

/// The kernel transfers no more in one call (MAX_RW_COUNT).
constexpr std::uint64_t kMostInOneCall = 0x7FFF'F000;
constexpr std::uint64_t kNoSignal = MSG_NOSIGNAL;
constexpr std::uint64_t kUnusualToReceive =
    MSG_DONTWAIT | MSG_OOB | MSG_PEEK | MSG_TRUNC | MSG_ERRQUEUE;
constexpr std::uint64_t kUnusualToSend =
    MSG_DONTWAIT | MSG_OOB | MSG_FASTOPEN | static_cast<unsigned>(MSG_ZEROCOPY);

/// Where the memory of a call with several pieces is in the scratch memory.
struct Scratch {
  iovec first;
  msghdr messages[2];  // NOLINT: as the calls read it
};

bool waits(pid_t tid, std::uint64_t number, std::initializer_list<Kind> kinds) {
  const auto descriptor = look_at_descriptor(tid, number);
  return descriptor && descriptor->waits &&
         std::find(kinds.begin(), kinds.end(), descriptor->kind) != kinds.end();
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// The rest of a vector of pieces: the rest of the first of them, and the others.
struct RestOfPieces {
  iovec first{};
  std::uint64_t others = 0;  // their address
  std::uint64_t count = 0;
};

std::optional<RestOfPieces> rest_of_pieces(pid_t tid, std::uint64_t vector, std::uint64_t count,
                                           std::uint64_t done) {
  if (count == 0 || count > IOV_MAX) {
    return std::nullopt;
  }
  std::vector<iovec> pieces(count);
  if (copy_memory(tid, Address{vector}, std::as_writable_bytes(std::span(pieces))) !=
      pieces.size() * sizeof(iovec)) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (done < pieces[i].iov_len) {
      RestOfPieces rest;
      rest.first.iov_base = static_cast<char*>(pieces[i].iov_base) + done;
      rest.first.iov_len = pieces[i].iov_len - done;
      rest.others = vector + (i + 1) * sizeof(iovec);
      rest.count = count - i - 1;
      return rest;
    }
    done -= pieces[i].iov_len;
  }
  return std::nullopt;
}

RestOfTransfer one_call(const Call& call) { return {call, 0, std::nullopt, {}}; }

RestOfTransfer two_calls(const Call& first, const Call& second, const RestOfPieces& pieces,
                         const Scratch& scratch) {
  RestOfTransfer rest{first, pieces.first.iov_len, std::nullopt, {}};
  if (pieces.count > 0) {
    rest.second = second;
  }
  rest.scratch.resize(sizeof scratch);
  std::memcpy(rest.scratch.data(), &scratch, sizeof scratch);
  return rest;
}

/// The rest of a message. Its name and control data were sent with its beginning.
RestOfTransfer in_messages(std::uint64_t descriptor, const RestOfPieces& pieces,
                           std::uint64_t flags, Address at) {
  Scratch scratch{};
  scratch.first = pieces.first;
  scratch.messages[0].msg_iov = reinterpret_cast<iovec*>(at.value());
  scratch.messages[0].msg_iovlen = 1;
  scratch.messages[1].msg_iov = reinterpret_cast<iovec*>(pieces.others);
  scratch.messages[1].msg_iovlen = pieces.count;
  const std::uint64_t messages = at.value() + offsetof(Scratch, messages);
  const Call first{SYS_sendmsg, {descriptor, messages, flags | kNoSignal, 0, 0, 0}};
  Call second = first;
  second.arguments[1] += sizeof(msghdr);
  return two_calls(first, second, pieces, scratch);
}

// A transfer to a socket that breaks in our part of it would raise SIGPIPE, and not without us.

std::optional<RestOfTransfer> rest_of_write(pid_t tid, const ShortTransfer& transfer,
                                            bool may_change_call) {
  const auto& [descriptor, buffer, size, position, address, address_size] = transfer.call.arguments;
  const auto kind = look_at_descriptor(tid, descriptor);
  if (transfer.done >= size || !kind || !kind->waits || kind->kind == Kind::other) {
    return std::nullopt;
  }
  Call call = transfer.call;
  call.arguments[1] += transfer.done;
  call.arguments[2] -= transfer.done;
  if (call.number == SYS_pwrite64) {
    call.arguments[3] += transfer.done;
  } else if (call.number == SYS_sendto) {
    if ((call.arguments[3] & kUnusualToSend) != 0) {
      return std::nullopt;
    }
    call.arguments[3] |= kNoSignal;
  } else if (kind->kind == Kind::stream_socket && may_change_call) {
    call = {SYS_sendto, {descriptor, call.arguments[1], call.arguments[2], kNoSignal, 0, 0}};
  }
  return one_call(call);
}

/// Only with MSG_WAITALL a short result is no answer.
std::optional<RestOfTransfer> rest_of_receive(pid_t tid, const ShortTransfer& transfer) {
  Call call = transfer.call;
  const std::uint64_t flags = call.arguments[3];
  if ((flags & MSG_WAITALL) == 0 || (flags & kUnusualToReceive) != 0 ||
      transfer.done >= call.arguments[2]) {
    return std::nullopt;
  }
  const auto kind = look_at_descriptor(tid, call.arguments[0]);
  if (!kind || kind->kind != Kind::stream_socket || !kind->waits_to_receive) {
    return std::nullopt;
  }
  call.arguments[1] += transfer.done;
  call.arguments[2] -= transfer.done;
  return one_call(call);
}

std::optional<RestOfTransfer> rest_of_writev(pid_t tid, const ShortTransfer& transfer, Address at,
                                             bool may_change_call) {
  const auto& [descriptor, vector, count, position, high, flags] = transfer.call.arguments;
  if (transfer.call.number == SYS_pwritev2 && (flags & RWF_NOWAIT) != 0) {
    return std::nullopt;
  }
  const auto kind = look_at_descriptor(tid, descriptor);
  const auto pieces = rest_of_pieces(tid, vector, count, transfer.done);
  if (!pieces || !kind || !kind->waits || kind->kind == Kind::other) {
    return std::nullopt;
  }
  if (kind->kind == Kind::stream_socket && may_change_call) {
    return in_messages(descriptor, *pieces, 0, at);
  }
  Scratch scratch{};
  scratch.first = pieces->first;
  Call first = transfer.call;
  first.arguments[1] = at.value();
  first.arguments[2] = 1;
  Call second = transfer.call;
  second.arguments[1] = pieces->others;
  second.arguments[2] = pieces->count;
  const bool has_position = transfer.call.number == SYS_pwritev ||
                            (transfer.call.number == SYS_pwritev2 && position != ~std::uint64_t{0});
  if (has_position) {
    first.arguments[3] += transfer.done;
    second.arguments[3] += transfer.done + pieces->first.iov_len;
  }
  return two_calls(first, second, *pieces, scratch);
}

std::optional<RestOfTransfer> rest_of_sendmsg(pid_t tid, const ShortTransfer& transfer,
                                              Address at) {
  const auto& [descriptor, address, flags, unused3, unused4, unused5] = transfer.call.arguments;
  msghdr message{};
  if ((flags & kUnusualToSend) != 0 || !waits(tid, descriptor, {Kind::stream_socket}) ||
      copy_memory(tid, Address{address}, std::as_writable_bytes(std::span(&message, 1))) !=
          sizeof message) {
    return std::nullopt;
  }
  const auto pieces =
      rest_of_pieces(tid, address_of(message.msg_iov), message.msg_iovlen, transfer.done);
  return pieces ? std::optional(in_messages(descriptor, *pieces, flags, at)) : std::nullopt;
}

/// The same call once more, for the rest of its count. The kernel has moved the offsets itself.
std::optional<RestOfTransfer> with_smaller_count(const ShortTransfer& transfer, std::size_t count) {
  Call call = transfer.call;
  if (transfer.done >= call.arguments[count]) {
    return std::nullopt;
  }
  call.arguments[count] -= transfer.done;
  return one_call(call);
}

std::optional<RestOfTransfer> rest_of_sendfile(pid_t tid, const ShortTransfer& transfer) {
  // What a pipe has room for is an answer.
  const bool is_short_of_itself =
      !waits(tid, transfer.call.arguments[0], {Kind::file, Kind::stream_socket, Kind::terminal});
  return is_short_of_itself ? std::nullopt : with_smaller_count(transfer, 3);
}

std::optional<RestOfTransfer> rest_of_copy(pid_t tid, const ShortTransfer& transfer) {
  const auto& arguments = transfer.call.arguments;
  return waits(tid, arguments[0], {Kind::file}) && waits(tid, arguments[2], {Kind::file})
             ? with_smaller_count(transfer, 4)
             : std::nullopt;
}

/// What is in the pipe, or has room there, is an answer: the rest must not wait for more.
std::optional<RestOfTransfer> rest_of_splice(pid_t tid, const ShortTransfer& transfer) {
  const auto& arguments = transfer.call.arguments;
  const std::initializer_list<Kind> any = {Kind::pipe, Kind::file, Kind::stream_socket,
                                           Kind::terminal};
  if ((arguments[5] & SPLICE_F_NONBLOCK) != 0 || !waits(tid, arguments[0], any) ||
      !waits(tid, arguments[2], any)) {
    return std::nullopt;
  }
  auto rest = with_smaller_count(transfer, 4);
  if (rest) {
    rest->first.arguments[5] |= SPLICE_F_NONBLOCK;
  }
  return rest;
}

std::optional<RestOfTransfer> rest_of_getrandom(const ShortTransfer& transfer) {
  const auto& arguments = transfer.call.arguments;
  if (transfer.done >= std::min<std::uint64_t>(arguments[1], INT_MAX) ||
      (arguments[2] & GRND_RANDOM) != 0) {
    return std::nullopt;
  }
  Call call = transfer.call;
  call.arguments[0] += transfer.done;
  call.arguments[1] -= transfer.done;
  return one_call(call);
}

}  // namespace

std::optional<std::size_t> scratch_of(const Call& call) {
  switch (call.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_recvfrom:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_copy_file_range:
    case SYS_getrandom:
      return 0;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendmsg:
      return sizeof(Scratch);
    default:
      return std::nullopt;
  }
}

std::optional<RestOfTransfer> rest_of(pid_t tid, const ShortTransfer& transfer, Address scratch,
                                      bool may_change_call) {
  if (transfer.done >= kMostInOneCall) {
    return std::nullopt;
  }
  switch (transfer.call.number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
      return rest_of_write(tid, transfer, may_change_call);
    case SYS_recvfrom:
      return rest_of_receive(tid, transfer);
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
      return rest_of_writev(tid, transfer, scratch, may_change_call);
    case SYS_sendmsg:
      return rest_of_sendmsg(tid, transfer, scratch);
    case SYS_sendfile:
      return rest_of_sendfile(tid, transfer);
    case SYS_splice:
      return rest_of_splice(tid, transfer);
    case SYS_copy_file_range:
      return rest_of_copy(tid, transfer);
    case SYS_getrandom:
      return rest_of_getrandom(transfer);
    default:
      return std::nullopt;
  }
}

}  // namespace sp::supervisor
