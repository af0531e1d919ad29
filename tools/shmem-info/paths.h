/* shmem-info --paths: joins the job that it was started in, and has the library say which way its PEs take. */
#ifndef HM_INFO_PATHS_H
#define HM_INFO_PATHS_H

/* The exit status. */
int hm_paths_join(void);

#endif
