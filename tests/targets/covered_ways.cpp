// Code of many shapes of which a part is reached, by the number of arguments.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

template <typename T>
T twice(T value) {
  if (value < T(0)) {
    throw std::runtime_error("negative");
  }
  return value + value;
}

struct Shape {
  virtual ~Shape() = default;
  [[nodiscard]] virtual double area() const = 0;
};

struct Square : Shape {
  explicit Square(double a) : side(a) {}
  [[nodiscard]] double area() const override { return side * side; }
  double side;
};

struct Dot : Shape {
  [[nodiscard]] double area() const override { return 0; }
};

int classify(int number) {
  switch (number) {
    case 1:
      return 10;
    case 2:
      return 17;
    case 3:
      return 29;
    case 4:
      return 31;
    case 5:
      return 2;
    case 6:
      return 12;
    default:
      break;
  }
  return -1;
}

long hot(long rounds) {
  long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    if (i % 3 == 0) {
      sum += i;
    } else {
      sum -= 1;
    }
    if (sum < -rounds) {
      sum = 0;
    }
  }
  return sum;
}

[[gnu::noinline]] void in_child() {
  std::puts("child");
  std::exit(0);
}

[[gnu::noinline]] void in_thread(long* result) { *result = hot(1000); }

void falls_through(int number) {
  if (number > 1) {
    std::puts("more");
  }
}

int sum_of_shapes(bool dotted) {
  std::vector<Shape*> shapes;
  shapes.push_back(new Square(2));
  if (dotted) shapes.push_back(new Dot);
  double sum = 0;
  for (Shape* shape : shapes) {
    sum += shape->area();
    delete shape;
  }
  return static_cast<int>(sum);
}

const char* catches() {
  try {
    std::printf("%d\n", twice(4));
    twice(-1.5);
    std::puts("not here");
  } catch (const std::runtime_error&) {
    return "caught";
  }
  return "not caught";
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%d %s %d\n", sum_of_shapes(argc > 3), catches(), classify(argc));
  long of_thread = 0;
  std::thread thread(in_thread, &of_thread);
  thread.join();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) in_child();
  int status = 0;
  waitpid(child, &status, 0);
  falls_through(argc);
  const auto chosen = [&](int number) {
    if (number > 2) return std::string("large");
    return std::string("small");
  };
  const auto larger = [](auto a, auto b) {
    if (a > b) return a;
    return b;
  };
  argc = larger(argc, 1);
  std::map<std::string, int> counts;
  ++counts[chosen(argc)];
  std::printf("%ld %ld %zu\n", of_thread, hot(argc > 2 ? std::atol(argv[2]) : 100), counts.size());
  return counts.count("large") != 0 && argc > 5 ? 1 : 0;
}
