/* `agent launch [--group FILE] [--stage PATH] [--lower FOLDERS] [--network bridge|given] [--uid N] [--filter FILE]
 * -- PROGRAM WORD…`: prepares this process and becomes PROGRAM, with an empty environment. The steps: join the control
 * groups (before any fork); make each staged path reachable as /mnt/0, /mnt/1, … in a mount namespace of its own
 * (whatever the permissions of the folders above it); overlay staged folders as /mnt/system (`--lower`: the topmost
 * first, separated by colons); become another user. `--network bridge` leaves no network except the bridge's.
 * `given` opens the bridge's listeners in the current network. `--filter`: a system-call filter in classic BPF.
 * Staging needs root, or a bridge. */
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
#include <sys/prctl.h>
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
  /* Open the paths before the stage covers them. */
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

static void lay(const char *folders) {
  char target[64], options[256];
  snprintf(target, sizeof target, "%s/system", STAGE);
  snprintf(options, sizeof options, "lowerdir=%s%s", folders, geteuid() ? ",userxattr" : "");
  unsigned long flags = MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (mkdir(target, 0700) || mount("system", target, "overlay", flags, options)) refuse("lay", "the system's folders");
}

static void become(const char *user) {
  uid_t uid = (uid_t)strtoul(user, NULL, 10);
  if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) refuse("become user", user);
}

/* The kernel's struct, because musl has no kernel headers: at most MAX_INSTRUCTIONS of eight bytes each. */
enum { FILTER_MODE = 2, MAX_INSTRUCTIONS = 4096 };
struct filter {
  unsigned short length;
  const uint64_t *instructions;
};

static void load_filter(const char *path) {
  static uint64_t program[MAX_INSTRUCTIONS];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, program, sizeof program);
  if (size <= 0) refuse("read", path);
  close(fd);
  struct filter filter = {(unsigned short)((size_t)size / sizeof *program), program};
  bool loaded = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, FILTER_MODE, &filter);
  if (!loaded) refuse("load", path);
}

int launch(int count, char **arguments) {
  char **paths = allocate((size_t)(count + 1) * sizeof *paths);
  const char *user = NULL, *network = NULL, *filter = NULL, *lower = NULL;
  int staged = 0, i = 0;
  for (; i + 1 < count && strcmp(arguments[i], "--"); i += 2) {
    if (!strcmp(arguments[i], "--group")) join(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--stage")) paths[staged++] = arguments[i + 1];
    else if (!strcmp(arguments[i], "--lower")) lower = arguments[i + 1];
    else if (!strcmp(arguments[i], "--network")) network = arguments[i + 1];
    else if (!strcmp(arguments[i], "--filter")) filter = arguments[i + 1];
    else if (!strcmp(arguments[i], "--uid")) user = arguments[i + 1];
    else break;
  }
  if (i + 1 >= count || strcmp(arguments[i], "--")) {
    dprintf(STDERR_FILENO, "launch: wrong arguments\n");
    return 125;
  }
  /* First, because the user namespace of the network allows a user other than root to stage. */
  if (network) listen_inside(!strcmp(network, "bridge"));
  if (staged) stage(paths, staged);
  if (lower) lay(lower);
  if (user) become(user);
  if (filter) load_filter(filter);
  char *none[] = {NULL};
  execve(arguments[i + 1], arguments + i + 1, none);
  refuse("run", arguments[i + 1]);
  return 125;
}
