/* `sandboxd launch [--group FILE] [--stage PATH] [--lower FOLDERS] [--network bridge|given] [--uid N] [--filter FILE]
 * [--await FD | -- PROGRAM WORD…]`: prepares this process and becomes PROGRAM, with an empty environment. The steps: join the control
 * groups (before any fork); make each staged path reachable as /mnt/0, /mnt/1, … in a mount namespace of its own
 * (whatever the permissions of the folders above it); overlay staged folders as /mnt/system (`--lower`: the topmost
 * first, separated by colons); become another user. `--network bridge` leaves no network except the bridge's.
 * `given` opens the bridge's listeners in the current network. `--filter`: a system-call filter in classic BPF.
 * `--await`: joins the groups and opens the network, which take the longest, and reads further arguments from the
 * descriptor until its end, each with a NUL; ends when there are none. Staging needs root, or a bridge. */
#define _GNU_SOURCE
#include "daemon.h"

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

struct plan {
  const char *user, *network, *filter, *lower, *await;
  char **paths;
  int staged;
};

/* Returns the number of arguments that it has obeyed. */
static int obey_options(int count, char **arguments, struct plan *plan) {
  int i = 0;
  plan->paths = allocate((size_t)(count + 1) * sizeof *plan->paths);
  for (; i + 1 < count && strcmp(arguments[i], "--"); i += 2) {
    if (!strcmp(arguments[i], "--group")) join(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--stage")) plan->paths[plan->staged++] = arguments[i + 1];
    else if (!strcmp(arguments[i], "--lower")) plan->lower = arguments[i + 1];
    else if (!strcmp(arguments[i], "--network")) plan->network = arguments[i + 1];
    else if (!strcmp(arguments[i], "--filter")) plan->filter = arguments[i + 1];
    else if (!strcmp(arguments[i], "--uid")) plan->user = arguments[i + 1];
    else if (!strcmp(arguments[i], "--await")) plan->await = arguments[i + 1];
    else break;
  }
  return i;
}

/* The arguments stay in the returned list until the program begins. */
static char **await_arguments(int fd, int *count) {
  size_t used = 0, capacity = 4096;
  char *text = allocate(capacity);
  for (ssize_t size; (size = read(fd, text + used, capacity - used)); used += (size_t)size) {
    if (size < 0 && errno != EINTR) refuse("read", "the arguments");
    if (size < 0) size = 0;
    if (used + (size_t)size < capacity) continue;
    text = realloc(text, capacity *= 2);
    if (!text) die("out of memory");
  }
  close(fd);
  *count = 0;
  for (size_t i = 0; i < used; i++) *count += !text[i];
  if (used && text[used - 1]) refuse("read", "the end of the arguments");
  char **arguments = allocate((size_t)(*count + 1) * sizeof *arguments), *at = text;
  for (int i = 0; i < *count; i++, at += strlen(at) + 1) arguments[i] = at;
  arguments[*count] = NULL;
  return arguments;
}

int launch(int count, char **arguments) {
  struct plan plan = {0};
  int i = obey_options(count, arguments, &plan);
  /* First, because the user namespace of the network allows a user other than root to stage. */
  if (plan.network) listen_inside(!strcmp(plan.network, "bridge"));
  if (plan.await && i == count) {
    arguments = await_arguments(atoi(plan.await), &count);
    if (!count) return 0;
    plan = (struct plan){0};
    i = obey_options(count, arguments, &plan);
    if (plan.network || plan.await) i = count;
  }
  if (i + 1 >= count || strcmp(arguments[i], "--")) {
    dprintf(STDERR_FILENO, "launch: wrong arguments\n");
    return 125;
  }
  if (plan.staged) stage(plan.paths, plan.staged);
  if (plan.lower) lay(plan.lower);
  if (plan.user) become(plan.user);
  if (plan.filter) load_filter(plan.filter);
  char *none[] = {NULL};
  execve(arguments[i + 1], arguments + i + 1, none);
  refuse("run", arguments[i + 1]);
  return 125;
}
