/*
 * For tests, preloaded: a layer between a process and its disk.
 *   SYNC_COPIES  a folder; once a sync is done it holds the file as it was when the sync began
 *   SYNC_DELAY   how long a sync takes, in microseconds
 *   SYNC_LOG     a file that gets a letter for each sync: `m` by the main thread, `o` by another one
 *   SYNC_FAILS   where this file exists, each sync fails
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int (*sync_call)(int);

/* Copies the file beside its place among the copies; empty where it is not kept. */
static void copy_file(int file, char *made, char *place) {
  char link[64], path[PATH_MAX], piece[65536];
  struct stat facts;
  const char *folder = getenv("SYNC_COPIES");
  made[0] = 0;
  if (!folder || fstat(file, &facts) || !S_ISREG(facts.st_mode)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  const char *name = strrchr(path, '/') + 1;
  snprintf(place, PATH_MAX, "%s/%s", folder, name);
  snprintf(made, PATH_MAX, "%s/.%ld-%s", folder, (long)syscall(SYS_gettid), name);
  int from = open(path, O_RDONLY), to = open(made, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (ssize_t bytes; (bytes = read(from, piece, sizeof piece)) > 0;)
    if (write(to, piece, bytes) != bytes) abort();
  close(from);
  close(to);
}

static int synced(const char *call, int file) {
  /* Copies of one file come to their place in the order in which they were made. */
  static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
  char made[PATH_MAX], place[PATH_MAX];
  const char *delay = getenv("SYNC_DELAY"), *log = getenv("SYNC_LOG"), *fails = getenv("SYNC_FAILS");
  int copies = getenv("SYNC_COPIES") != NULL;
  if (log) {
    int at = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(at, syscall(SYS_gettid) == getpid() ? "m" : "o", 1) != 1) abort();
    close(at);
  }
  if (fails && access(fails, F_OK) == 0) return errno = EIO, -1;
  if (copies) pthread_mutex_lock(&order);
  copy_file(file, made, place);
  if (delay) usleep(atoi(delay));
  int result = ((sync_call)dlsym(RTLD_NEXT, call))(file);
  if (made[0] && (result || rename(made, place))) abort();
  if (copies) pthread_mutex_unlock(&order);
  return result;
}

int fsync(int file) { return synced("fsync", file); }
int fdatasync(int file) { return synced("fdatasync", file); }
