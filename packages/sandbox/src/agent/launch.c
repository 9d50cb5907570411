/* `agent launch [--group FILE] [--stage PATH] [--network bridge] [--uid N] -- PROGRAM ARGUMENT...`: prepares the
 * process that becomes PROGRAM. Joins control groups (before anything can be forked), makes each staged path reachable as
 * /mnt/0, /mnt/1, … in a mount namespace of its own (whatever the permissions of the folders above it), and
 * becomes another user. `--network bridge` leaves it no network but the bridge's. Staging needs root. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char STAGE[] = "/mnt";

void refuse(const char *what, const char *on) {
  dprintf(STDERR_FILENO, "launch: cannot %s %s: %s\n", what, on, strerror(errno));
  _exit(125);
}

static void join(const char *group) {
  int fd = open(group, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "0", 1) != 1) refuse("join", group);
  close(fd);
}

static void bind_to(int source, const char *target) {
  struct stat info;
  char link[64];
  if (fstat(source, &info)) refuse("look at", target);
  int made = S_ISDIR(info.st_mode) ? mkdir(target, 0700) : mknod(target, S_IFREG | 0600, 0);
  snprintf(link, sizeof link, "/proc/self/fd/%d", source);
  if (made || mount(link, target, NULL, MS_BIND | MS_REC, NULL)) refuse("stage", target);
  close(source);
}

static void stage(char **paths, int count) {
  int *sources = allocate((size_t)count * sizeof *sources);
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) refuse("stage below", STAGE);
  /* Opened before the stage covers what was at its place. */
  for (int i = 0; i < count; i++) {
    sources[i] = open(paths[i], O_PATH | O_CLOEXEC);
    if (sources[i] < 0) refuse("find", paths[i]);
  }
  if (mount("stage", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0711")) refuse("mount", STAGE);
  for (int i = 0; i < count; i++) {
    char target[64];
    snprintf(target, sizeof target, "%s/%d", STAGE, i);
    bind_to(sources[i], target);
  }
  free(sources);
}

static void become(const char *user) {
  uid_t uid = (uid_t)strtoul(user, NULL, 10);
  if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) refuse("become user", user);
}

int launch(int count, char **arguments) {
  char **paths = allocate((size_t)(count + 1) * sizeof *paths);
  const char *user = NULL;
  int staged = 0, i = 0;
  bool bridged = false;
  for (; i + 1 < count && strcmp(arguments[i], "--"); i += 2) {
    if (!strcmp(arguments[i], "--group")) join(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--stage")) paths[staged++] = arguments[i + 1];
    else if (!strcmp(arguments[i], "--network")) bridged = true;
    else if (!strcmp(arguments[i], "--uid")) user = arguments[i + 1];
    else break;
  }
  if (i + 1 >= count || strcmp(arguments[i], "--")) {
    dprintf(STDERR_FILENO, "launch: wrong arguments\n");
    return 125;
  }
  if (staged) stage(paths, staged);
  if (bridged) listen_alone();
  if (user) become(user);
  char *none[] = {NULL};
  execve(arguments[i + 1], arguments + i + 1, none);
  refuse("run", arguments[i + 1]);
  return 125;
}
