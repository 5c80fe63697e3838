/* A program in C11 that multiplies batches: strided, by pointers, complex; and reads an error. */
#include <ricci/ricci.h>

#include <complex.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int good, const char *what) {
  if (!good) {
    ++failures;
    printf("wrong: %s; last error: %s\n", what, ricci_last_error());
  }
}

int main(void) {
  double a[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{1, 0, 1}, {0, 1, 0}}};
  double b[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  double c[2][2][2];
  const double want[2][2][2] = {{{4, 5}, {10, 11}}, {{2, 1}, {0, 1}}};
  expect(ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 2, 2, 3, 1.0, &a[0][0][0], 3, 6,
                                   &b[0][0], 2, 0, 0.0, &c[0][0][0], 2, 4, 2) == RICCI_SUCCESS, "strided call");
  expect(memcmp(c, want, sizeof c) == 0, "strided result");

  const double *as[2] = {&a[1][0][0], &a[0][0][0]}, *bs[2] = {&b[0][0], &b[0][0]};
  double *cs[2] = {&c[1][0][0], &c[0][0][0]};
  expect(ricci_dgemm_batch(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 2, 2, 3, -1.0, as, 3, bs, 2, 1.0, cs, 2, 2) == 0,
         "call by pointers");
  expect(c[0][1][1] == 0 && c[1][0][0] == 0, "result by pointers");

  const float complex x = 1 + 2 * I, one = 1, none = 0;
  float complex z = 0;
  expect(ricci_cgemm_batch_strided(RICCI_COL_MAJOR, RICCI_CONJ_TRANS, RICCI_NO_TRANS, 1, 1, 1, &one, &x, 1, 1, &x, 1, 1, &none,
                                   &z, 1, 1, 1) == 0, "complex call");
  expect(crealf(z) == 5 && cimagf(z) == 0, "complex result");

  const ricci_bfloat16 two = 0x4000;
  ricci_bfloat16 four = 0;
  expect(ricci_bgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 1, 1, 1, 1.0f, &two, 1, 1, &two, 1, 1, 0.0f,
                                   &four, 1, 1, 1) == 0 && four == 0x4080, "bfloat16");

  expect(ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 2, 2, 3, 1.0, &a[0][0][0], 2, 6,
                                   &b[0][0], 2, 0, 0.0, &c[0][0][0], 2, 4, 2) == -9, "a bad argument");
  expect(strstr(ricci_last_error(), "lda") != NULL, "its sentence");
  printf("ricci %s in C: %s\n", ricci_version(), failures ? "wrong" : "right");
  return failures != 0;
}
