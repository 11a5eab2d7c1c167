# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DPROGRAMS=A;B -P test_names.cmake: fails if the name of a test contains the bytes or the address of a parameter, which
# GoogleTest prints where a type has no PrintTo(). Such names change with the memory of the process.
foreach(program ${PROGRAMS})
  execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]*(-byte object|= 0x[0-9a-f]|, 0x[0-9a-f])[^\n]*" unnamed "${names}")
  if(unnamed)
    string(REPLACE ";" "\n" unnamed "${unnamed}")
    message(SEND_ERROR "${program}: these parameters need a PrintTo():\n${unnamed}")
  endif()
endforeach()
