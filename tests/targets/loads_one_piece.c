// loads_one_piece LIBRARY: loads it (libraries/one_piece.c), calls its function, loads another
// library, and calls the function again.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  int (*square)(int) = library != NULL ? (int (*)(int))dlsym(library, "one_piece_square") : NULL;
  if (square == NULL) return 1;
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += square(i % 5);
  if (dlopen("libm.so.6", RTLD_NOW) == NULL) return 1;
  for (int i = 0; i < 100; ++i) sum += square(i % 5);
  printf("%d\n", sum);
  return 0;
}
