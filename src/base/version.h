/* The version of the library, in this one place: CMake, the tools and the package files read it from here. */
#ifndef HM_VERSION_H
#define HM_VERSION_H

#define HM_VERSION "1.0.0"

#endif
