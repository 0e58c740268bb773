#include "profiler/push/http_post.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

// Nothing but its types: the library has thirty others as dependencies, which every start would
// load. A cross build may not have it.
#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#define SP_HAS_CURL 1
#else
#define SP_HAS_CURL 0
#endif

namespace sp::profiler {

#if SP_HAS_CURL

namespace {

/// The functions of libcurl.so.4 that are used.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

/// Null: it is not installed, or too old. Stays loaded.
const Curl* load() {
  static Curl curl;
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  const bool is_complete = library != nullptr &&
                           find(library, "curl_global_init", curl.global_init) &&
                           find(library, "curl_easy_init", curl.easy_init) &&
                           find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                           find(library, "curl_easy_setopt", curl.easy_setopt) &&
                           find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                           find(library, "curl_easy_strerror", curl.easy_strerror) &&
                           find(library, "curl_slist_append", curl.slist_append) &&
                           find(library, "curl_slist_free_all", curl.slist_free_all) &&
                           find(library, "curl_multi_init", curl.multi_init) &&
                           find(library, "curl_multi_cleanup", curl.multi_cleanup) &&
                           find(library, "curl_multi_add_handle", curl.multi_add_handle) &&
                           find(library, "curl_multi_remove_handle", curl.multi_remove_handle) &&
                           find(library, "curl_multi_perform", curl.multi_perform) &&
                           find(library, "curl_multi_poll", curl.multi_poll) &&
                           find(library, "curl_multi_info_read", curl.multi_info_read);
  return is_complete && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? &curl : nullptr;
}

const Curl* curl() {
  static const Curl* const loaded = load();
  return loaded;
}

std::size_t drop_answer(char* /*data*/, std::size_t size, std::size_t count, void* /*to*/) {
  return size * count;
}

/// One transfer.
class Transfer {
 public:
  Transfer(const Curl& curl, const HttpRequest& request, core::Duration limit)
      : curl_(curl), easy_(curl.easy_init()), multi_(curl.multi_init()) {
    if (easy_ == nullptr || multi_ == nullptr) {
      return;
    }
    for (const std::string& header : request.headers) {
      headers_ = curl_.slist_append(headers_, header.c_str());
    }
    // "Expect: 100-continue" costs a second where a server does not know it.
    headers_ = curl_.slist_append(headers_, "Expect:");
    const auto set = [this](CURLoption option, auto value) {
      (void)curl_.easy_setopt(easy_, option, value);
    };
    set(CURLOPT_URL, request.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_POSTFIELDS, request.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_WRITEFUNCTION, &drop_answer);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(core::microseconds(limit) / 1000));
#if LIBCURL_VERSION_NUM >= 0x075700
    set(CURLOPT_QUICK_EXIT, 1L);
#endif
    (void)curl_.multi_add_handle(multi_, easy_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (easy_ != nullptr && multi_ != nullptr) {
      (void)curl_.multi_remove_handle(multi_, easy_);
    }
    if (easy_ != nullptr) {
      curl_.easy_cleanup(easy_);
    }
    if (multi_ != nullptr) {
      (void)curl_.multi_cleanup(multi_);
    }
    curl_.slist_free_all(headers_);
  }

  core::Result<long> run(const std::function<bool()>& is_over) {
    constexpr int kLookMs = 50;
    int running = easy_ != nullptr && multi_ != nullptr ? 1 : 0;
    while (running > 0) {
      if (is_over()) {
        return core::fail("the run is over");
      }
      if (curl_.multi_perform(multi_, &running) != CURLM_OK ||
          (running > 0 && curl_.multi_poll(multi_, nullptr, 0, kLookMs, nullptr) != CURLM_OK)) {
        break;
      }
    }
    int left = 0;
    const CURLMsg* const message =
        multi_ != nullptr ? curl_.multi_info_read(multi_, &left) : nullptr;
    if (message == nullptr) {
      return core::fail("libcurl failed");
    }
    if (message->data.result != CURLE_OK) {
      return core::fail(curl_.easy_strerror(message->data.result));
    }
    long status = 0;
    (void)curl_.easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

 private:
  const Curl& curl_;
  CURL* easy_;
  CURLM* multi_;
  curl_slist* headers_ = nullptr;
};

}  // namespace

core::Result<void> check_http() {
  if (curl() == nullptr) {
    return core::fail("libcurl.so.4 cannot be loaded; install libcurl4");
  }
  return {};
}

core::Result<long> http_post(const HttpRequest& request, core::Duration limit,
                             const std::function<bool()>& is_over) {
  if (const auto there = check_http(); !there) {
    return tl::unexpected(there.error());
  }
  return Transfer(*curl(), request, limit).run(is_over);
}

#else

core::Result<void> check_http() {
  return core::fail("this superprofiler was built without libcurl's headers");
}

core::Result<long> http_post(const HttpRequest& /*request*/, core::Duration /*limit*/,
                             const std::function<bool()>& /*is_over*/) {
  return tl::unexpected(check_http().error());
}

#endif

}  // namespace sp::profiler
