# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
# The tests at full counts, which only `./dev soak` runs: ctest -C Soak -L soak. It sets HETSORT_TEST_SEED and RC_PARAMS.

# hetsort_soak(NAME [VARIABLE=VALUE...] COMMAND...)
function(hetsort_soak name)
  add_test(NAME "${name}" CONFIGURATIONS Soak COMMAND ${CMAKE_COMMAND} -E env ${ARGN} --gtest_brief=1)
  set_tests_properties("${name}" PROPERTIES LABELS soak TIMEOUT 3600 RUN_SERIAL ON)
endfunction()

if(HETSORT_TESTS_UNDER_MPIRUN)
  foreach(ranks 2 3 4)
    hetsort_soak("500 sorts in each exchange mode, ${ranks} ranks in one mpirun" HETSORT_TEST_CASES=1500
      ${HETSORT_MPIRUN_COMMAND} -n ${ranks} $<TARGET_FILE:hetsort_distributed_mpi_test>)
  endforeach()
  hetsort_soak("200 bits flipped in control messages under mpirun" HETSORT_TEST_MPIRUN_FLIPS=200
    $<TARGET_FILE:hetsort_comm_mpirun_test> --gtest_filter=*flipped_bit*)
  hetsort_soak("500 kills of processes, ranks and launchers, from start to end" HETSORT_TEST_KILLS=500
    $<TARGET_FILE:hetsort_mpirun_test> --gtest_filter=Kills.leave*)
  hetsort_soak("300 jobs of 2 to 4 ranks killed, by rank or launcher, and continued with 1 to 4 ranks"
    HETSORT_TEST_RANK_RESUMES=300
    $<TARGET_FILE:hetsort_mpirun_test> --gtest_filter=JobWithCheckpoint*)
  hetsort_soak("200 launchers killed while they forward standard input" HETSORT_TEST_FORWARDS=200
    $<TARGET_FILE:hetsort_mpirun_test> --gtest_filter=Kills.of*)
  hetsort_soak("every option on rank 0 only and on rank 1 only" HETSORT_TEST_ALL_OPTIONS=1
    $<TARGET_FILE:hetsort_mpirun_test> --gtest_filter=MpirunOptions*)
  hetsort_soak("stopped ranks and signals to the launcher" $<TARGET_FILE:hetsort_mpirun_test> --gtest_filter=MpirunDeath*)
endif()
hetsort_soak("500 sorts in each exchange mode, 1 to 8 ranks in one process" HETSORT_TEST_CASES=1500
  $<TARGET_FILE:hetsort_distributed_test> --gtest_filter=-*DistributedFault*)
hetsort_soak("500 processes killed, 1 to 3 times each, and continued from their checkpoints" HETSORT_TEST_RESUMES=500
  $<TARGET_FILE:hetsort_cli_test> --gtest_filter=SortWithCheckpoint*)
hetsort_soak("10,200 bits flipped in runs, journals and unfinished outputs of checkpoints" HETSORT_TEST_KEPT_FLIPS=1700
  $<TARGET_FILE:hetsort_sort_test> --gtest_filter=*RecordsAndLines.a*flipped*)
hetsort_soak("200 bits flipped between write and publication" HETSORT_TEST_WRITE_FLIPS=200
  $<TARGET_FILE:hetsort_sort_test> --gtest_filter=VerifyOutput*)
hetsort_soak("faults at the first 40 calls of each kind, 10,000 flipped messages" HETSORT_TEST_DENSE=40 HETSORT_TEST_FLIPS=840
  $<TARGET_FILE:hetsort_distributed_test> --gtest_filter=*DistributedFault*)
hetsort_soak("10,000 bits flipped in control messages of ranks in one process" HETSORT_TEST_CONTROL_FLIPS=10000
  $<TARGET_FILE:hetsort_comm_test> --gtest_filter=CommMessageFault.a_flipped*)
foreach(part io gen partition research sort)
  hetsort_soak("properties of ${part}, 5,000 cases each" $<TARGET_FILE:hetsort_${part}_test>)
endforeach()
