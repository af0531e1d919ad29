# Nothing: cmake/python.cmake makes the declarations itself.
