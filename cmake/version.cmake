# Run at build time: fills IN with the commit and the given facts, and writes OUT if that changes it.
if(NOT RUNNER_COMMIT) # else given, where the sources are an export
  execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE RUNNER_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT RUNNER_COMMIT)
  set(RUNNER_COMMIT unknown)
endif()
configure_file(${IN} ${OUT} @ONLY)
