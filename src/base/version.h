#ifndef HM_VERSION_H
#define HM_VERSION_H
#define HM_VERSION "0.1.0"
#endif
