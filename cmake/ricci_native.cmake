# ricci_native(<target> [arch]): compiles a target, the Eigen side of a comparison, for the processor that builds it.
include(CheckCXXCompilerFlag)

function(ricci_native target)
  if(RICCI_BENCH_PLAIN)
    return()  # nothing is made of it
  endif()
  set(arch native)
  if(ARGC GREATER 1)
    set(arch ${ARGV1})
  endif()
  check_cxx_compiler_flag(-march=${arch} RICCI_HAS_MARCH_${arch})
  # clang 19 says this of processors with AVX10, once for every function.
  check_cxx_compiler_flag(-Winvalid-feature-combination RICCI_HAS_INVALID_FEATURE_COMBINATION)
  # With AVX-512 gcc 12 takes the deliberately undefined operands in its own header for mistakes of ours.
  target_compile_options(${target} PRIVATE $<$<BOOL:${RICCI_HAS_MARCH_${arch}}>:-march=${arch}>
    $<$<BOOL:${RICCI_HAS_INVALID_FEATURE_COMBINATION}>:-Wno-invalid-feature-combination> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)
endfunction()
