# cmake -DPROGRAM=p -DEXPECTED=file -P compare_output.cmake: runs p and compares what it prints with the file.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0 OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} ended with ${status} and printed\n${printed}instead of\n${expected}")
endif()
