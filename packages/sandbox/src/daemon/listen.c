/* The network of a sandbox with a gate: a network namespace with only a loopback, created here or given. The bridge's
 * listeners are opened on it before the sandbox is entered, so that no process inside needs the privilege to open
 * them. */
#define _GNU_SOURCE
#include "daemon.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct {
  int type;
  uint32_t address;
  uint16_t port;
} listeners[LISTENERS] = {
    [NAMES_UDP] = {SOCK_DGRAM, INADDR_LOOPBACK, 53},
    [NAMES_TCP] = {SOCK_STREAM, INADDR_LOOPBACK, 53},
    /* On the addresses of all names, which are loopback addresses. */
    [SECURE] = {SOCK_STREAM, INADDR_ANY, 443},
    [PLAIN] = {SOCK_STREAM, INADDR_ANY, 80},
    [PROXY] = {SOCK_STREAM, INADDR_LOOPBACK, 3128},
};

static void set(const char *file, const char *text) {
  int fd = open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) refuse("write", file);
  close(fd);
}

/* A user other than root can create a network namespace only within a user namespace. */
static void enter_network(void) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  char map[64];
  if (!uid && unshare(CLONE_NEWNET)) refuse("make", "a network of its own");
  if (!uid) return;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) refuse("make", "a user namespace with a network of its own");
  set("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  set("/proc/self/uid_map", map);
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  set("/proc/self/gid_map", map);
}

/* A second address, because the C library considers a machine with only 127.0.0.1 as one without IPv4. */
static void raise_loopback(void) {
  struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP}, second = {.ifr_name = "lo:1"};
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (1u << 23))};
  memcpy(&second.ifr_addr, &address, sizeof address);
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &up) || ioctl(fd, SIOCSIFADDR, &second)) refuse("raise", up.ifr_name);
  close(fd);
}

static void listen_at(enum listener which) {
  int type = listeners[which].type, target = FIRST_LISTENER + (int)which, fd = socket(AF_INET, type, 0);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(listeners[which].port),
                                .sin_addr.s_addr = htonl(listeners[which].address)};
  bool done = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
  done = done && (type == SOCK_DGRAM || listen(fd, SOMAXCONN) == 0);
  if (!done || dup2(fd, target) < 0) refuse("listen at", "the loopback");
  if (fd != target) close(fd);
}

/* A given network has its loopback up and allows any process to listen on any port. */
void listen_inside(bool own) {
  if (own) {
    enter_network();
    raise_loopback();
  }
  for (enum listener which = 0; which < LISTENERS; which++) listen_at(which);
}
