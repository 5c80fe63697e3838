# ricci_precompiled(<target> HEADERS ... | FROM <other target>): with RICCI_PRECOMPILE these headers are parsed once for
# all sources of the target, or those of another one that is compiled with the same flags. Sources whose own includes
# are too few then compile; tools/check_includes.py finds those of the library.
option(RICCI_PRECOMPILE "Parse common headers once for each target" OFF)
mark_as_advanced(RICCI_PRECOMPILE)

function(ricci_precompiled target)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  if(NOT RICCI_PRECOMPILE)
    return()
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  endif()
endfunction()
