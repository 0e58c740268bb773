# Part of an installation: strips INSTALLED.
execute_process(COMMAND "${STRIP}" --strip-all "${INSTALLED}" COMMAND_ERROR_IS_FATAL ANY)
