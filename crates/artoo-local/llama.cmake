# Read by CMake right after llama.cpp's `project()` (CMAKE_PROJECT_INCLUDE in .cargo/config.toml).
# Its command line's helpers are two thirds of its build, and nothing here calls them; the binding asks for them.
set(LLAMA_BUILD_COMMON OFF)
