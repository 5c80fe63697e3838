// Two OpenMP loops, the second of which races if an argument is given: does the thread sanitizer tell them apart?
#include <cstdio>
#include <vector>

int main(int argc, char**) {
  std::vector<int> values(1000);
  int sum = 0;
  long total = 0;
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 1000; ++i) {
      values[i] = i + round;
      if (argc > 1) sum += values[i];
    }
#pragma omp parallel for num_threads(4) reduction(+ : total)
    for (int i = 0; i < 1000; ++i) total += values[999 - i];
  }
  std::printf("%ld %s\n", total, sum == 0 ? "" : "(and a sum that several threads wrote)");
  return total == 1501500 ? 0 : 1;
}
