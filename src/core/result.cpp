#include "core/result.h"

#include <cerrno>
#include <system_error>

namespace sp::core {

std::string Error::message() const {
  if (code == 0) {
    return doing;
  }
  return doing + ": " + std::generic_category().message(code);
}

tl::unexpected<Error> fail_errno(std::string doing) {
  const int code = errno;
  return fail(std::move(doing), code);
}

}  // namespace sp::core
