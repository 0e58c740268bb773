// A library that the linker maps in one executable piece, of which it then takes away all but the
// text: tests/targets/CMakeLists.txt.
int one_piece_square(int of) {
  int sum = 0;
  for (int i = 0; i < of; ++i) sum += of;
  return sum;
}

int (*one_piece_pointer)(int) = one_piece_square;  // so that it has data
