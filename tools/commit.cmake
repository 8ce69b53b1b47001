# SPDX-License-Identifier: BSD-2-Clause
# Writes OUTPUT, a C file that says which commit of SOURCE is built: run at each build, changed
# only where the answer has changed. A "+" is there for changes that are not committed; away from
# a repository of its own the answer is empty.
set(commit "")
execute_process(COMMAND git rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE top
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed AND top STREQUAL SOURCE)
  execute_process(COMMAND git describe --always --abbrev=10 --exclude=* --dirty=+ WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "extern const char tarn_commit[];\nconst char tarn_commit[] = \"${commit}\";\n")
