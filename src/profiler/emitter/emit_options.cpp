#include "profiler/emitter/emit_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>

namespace sp::profiler {
namespace {

core::Result<std::string> check_path(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      return core::fail(fmt::format(
          "--emit: {} is not a socket; give the path of a listening stream socket", path));
    }
    return std::string();
  }
  if (errno != ENOENT) {
    return core::fail_errno(fmt::format("--emit: looking at {}", path));
  }
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return core::fail(fmt::format("--emit: there is no directory {}; create it", directory),
                      ENOENT);
  }
  return fmt::format("--emit: nobody listens at {} yet; it is tried again", path);
}

}  // namespace

core::Result<std::string> check_reader(const EmitOptions& options) {
  if (!options.path.empty()) {
    return check_path(options.path);
  }
  int type = 0;
  socklen_t size = sizeof(type);
  if (::getsockopt(options.fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return core::fail(fmt::format(
        "--emit: descriptor {} is not a stream socket; pass a connected one on", options.fd));
  }
  // Else a launched target would keep it open.
  if (::fcntl(options.fd, F_SETFD, FD_CLOEXEC) != 0) {
    return core::fail_errno(fmt::format("--emit: using descriptor {}", options.fd));
  }
  return std::string();
}

}  // namespace sp::profiler
