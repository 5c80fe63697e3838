// Batches of matrix products from C.
// [strided]
#include <ricci/ricci.h>

#include <stdio.h>

enum { m = 2, n = 2, k = 3, count = 4 };

int main(void) {
  double a[count][m][k], b[k][n] = {{1, 0}, {0, 1}, {1, 1}}, c[count][m][n];
  for (int e = 0; e < count; ++e)
    for (int i = 0; i < m; ++i)
      for (int l = 0; l < k; ++l) a[e][i][l] = e + i + l;

  // c_e = a_e b for every e: the stride 0 shares b.
  int info = ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, m, n, k, 1.0, &a[0][0][0], k, m * k,
                                       &b[0][0], n, 0, 0.0, &c[0][0][0], n, m * n, count);
  if (info != 0) return fprintf(stderr, "%s\n", ricci_last_error()), 1;
  printf("%g %g\n", c[3][0][0], c[3][1][1]);
  // [/strided]

  // [pointers]
  // Matrices that live anywhere: the same with arrays of pointers.
  const double *as[2] = {&a[2][0][0], &a[0][0][0]}, *bs[2] = {&b[0][0], &b[0][0]};
  double *cs[2] = {&c[0][0][0], &c[1][0][0]};
  info = ricci_dgemm_batch(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, m, n, k, -1.0, as, k, bs, n, 1.0, cs, n, 2);
  printf("%d: %g %g\n", info, c[0][0][0], c[1][0][0]);
  // [/pointers]

  // [error]
  // A bad argument is named, and nothing is touched: lda is the ninth.
  info = ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, m, n, k, 1.0, &a[0][0][0], 2, m * k,
                                   &b[0][0], n, 0, 0.0, &c[0][0][0], n, m * n, count);
  printf("%d: %s\n", info, ricci_last_error());
  // [/error]
  return 0;
}
