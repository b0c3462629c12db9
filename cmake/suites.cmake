# Read by ctest for one test program, with what collage_suites sets: an entry for each suite, so that its libraries are
# loaded once a suite, and one for each case of the suites that match APART. An entry leaves its cases' results in RESULTS.
cmake_minimum_required(VERSION 3.25)

# list_cases(RESULT): "SUITE.CASE" of each; asked of the program when it is newer than its last answer.
function(list_cases result)
  set(answer "${PROGRAM}.cases")
  if(NOT EXISTS "${answer}" OR "${PROGRAM}" IS_NEWER_THAN "${answer}")
    execute_process(COMMAND "${PROGRAM}" --gtest_list_tests WORKING_DIRECTORY "${RUN_FOLDER}"
      OUTPUT_VARIABLE listed ERROR_VARIABLE problem RESULT_VARIABLE status TIMEOUT 60)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${status}\n${listed}${problem}")
    endif()
    string(REGEX REPLACE " *#[^\n]*" "" listed "${listed}") # values of parameters
    file(WRITE "${answer}" "${listed}")
  endif()
  file(STRINGS "${answer}" lines)
  set(cases "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^  (.+)$")
      list(APPEND cases "${suite}${CMAKE_MATCH_1}")
    else()
      set(suite "${line}")
    endif()
  endforeach()
  set(${result} "${cases}" PARENT_SCOPE)
endfunction()

# add_entry(NAME FILTER): what a filter of gtest selects.
function(add_entry name filter)
  string(REPLACE "/" "." file "${FOLDER}/${name}")
  add_test("${FOLDER}/${name}" "${PROGRAM}" "--gtest_filter=${filter}" "--gtest_output=xml:${RESULTS}/${file}.xml")
  set_tests_properties("${FOLDER}/${name}" PROPERTIES
    WORKING_DIRECTORY "${RUN_FOLDER}" LABELS "${LABELS}" TIMEOUT "${LIMIT_S}" COST "${COST}")
endfunction()

function(add_entries)
  list_cases(cases)
  set(suites "")
  foreach(case IN LISTS cases)
    string(REGEX REPLACE "\\..*$" "" suite "${case}")
    if(APART AND suite MATCHES "^(${APART})$")
      add_entry("${case}" "${case}")
    elseif(NOT suite IN_LIST suites)
      list(APPEND suites "${suite}")
      add_entry("${suite}" "${suite}.*")
    endif()
  endforeach()
endfunction()

if(EXISTS "${PROGRAM}")
  add_entries()
else() # an entry that fails wherever it is asked for
  get_filename_component(name "${PROGRAM}" NAME)
  add_test("${FOLDER}/${name}_NOT_BUILT" "${name}_NOT_BUILT")
  set_tests_properties("${FOLDER}/${name}_NOT_BUILT" PROPERTIES LABELS "${LABELS}")
endif()
