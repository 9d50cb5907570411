/* The sandbox daemon: runs inside a sandbox and does what the server asks, as init (PID 1) or as an ordinary process.
 * It is one loop over poll(). Every request is answered in steps, and no answer is produced while the server does not
 * read. When the server closes its stdin, the daemon ends with everything that it started. */
#define _GNU_SOURCE
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool is_init;

static struct {
  char data[4 + MAX_REQUEST_BYTES];
  size_t used;
} input;

void die(const char *why) {
  dprintf(STDERR_FILENO, "sandbox daemon: %s\n", why);
  if (!is_init) jobs_kill_all();
  _exit(1);
}

void *allocate(size_t size) {
  void *memory = malloc(size);
  if (!memory) die("out of memory");
  return memory;
}

uint64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void obey(unsigned char type, uint32_t id, struct request_reader *request) {
  switch ((enum request)type) {
    case EXEC: return jobs_start(id, request);
    case KILL: return jobs_kill(id, take_u32(request));
    case KILL_ALL:
      jobs_kill_all();
      return send_frame(DONE, id, NULL, 0);
    case READ: return files_read(id, request);
    case WRITE: return files_write(id, request);
    case WRITE_DATA: return files_write_data(id, request);
    case WRITE_END: return files_write_end(id);
    case WALK: return walk_start(id, request);
    case REMOVE: return files_remove(id, request);
    case PEEK: return jobs_peek(id, request);
  }
  die("a request of an unknown type");
}

static void read_requests(void) {
  ssize_t size = read(STDIN_FILENO, input.data + input.used, sizeof input.data - input.used);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) {
    if (!is_init) jobs_kill_all();
    _exit(0);
  }
  input.used += (size_t)size;
  size_t at = 0;
  while (input.used - at >= 4) {
    struct request_reader frame = {input.data + at, input.data + input.used};
    uint32_t length = take_u32(&frame);
    if (length < HEADER_BYTES || length > MAX_REQUEST_BYTES) die("a request of a wrong size");
    if ((size_t)(frame.end - frame.at) < length) break;
    frame.end = frame.at + length;
    unsigned char type = (unsigned char)*frame.at++;
    uint32_t id = take_u32(&frame);
    obey(type, id, &frame);
    at += 4 + length;
  }
  memmove(input.data, input.data + at, input.used - at);
  input.used -= at;
  /* The request may have contained a secret. */
  explicit_bzero(input.data + input.used, at);
}

static void set_limit(int resource, const char *value) {
  struct rlimit limit = {strtoull(value, NULL, 10), 0}, now;
  if (getrlimit(resource, &now)) return;
  if (limit.rlim_cur > now.rlim_max) limit.rlim_cur = now.rlim_max;
  limit.rlim_max = limit.rlim_cur;
  if (setrlimit(resource, &limit)) die("cannot set a limit");
}

/* Limits are set here and not earlier, because processes are counted for each user namespace. */
static void obey_arguments(int count, char **arguments) {
  set_limit(RLIMIT_CORE, "0");
  for (int i = 0; i + 1 < count; i += 2) {
    if (!strcmp(arguments[i], "--gate")) bridge_open(arguments[i + 1]);
    else if (!strcmp(arguments[i], "--processes")) set_limit(RLIMIT_NPROC, arguments[i + 1]);
    else if (!strcmp(arguments[i], "--files")) set_limit(RLIMIT_NOFILE, arguments[i + 1]);
    else if (!strcmp(arguments[i], "--file-bytes")) set_limit(RLIMIT_FSIZE, arguments[i + 1]);
    else if (!strcmp(arguments[i], "--data")) set_limit(RLIMIT_DATA, arguments[i + 1]);
    else die("an unknown argument");
  }
}

static void close_from(unsigned first, unsigned last) {
  if (syscall(SYS_close_range, first, last, 0U) == 0) return;
  for (unsigned fd = first; fd <= last && fd < 4096; fd++) close((int)fd);
}

/* Closes descriptors that the server inherited without knowing, so that no command inherits them. */
static void close_inherited(bool bridged) {
  if (!bridged) return close_from(3, ~0U);
  close_from(3, FIRST_LISTENER - 1);
  close_from(FIRST_LISTENER + LISTENERS, ~0U);
}

static int watch_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  /* Init needs no handler for SIGTERM: it is killed, which ends all processes of the namespace. */
  if (!is_init) sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  signal(SIGPIPE, SIG_IGN);
  int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) die("no signalfd");
  return fd;
}

static void take_signals(int fd) {
  struct signalfd_siginfo info;
  while (read(fd, &info, sizeof info) > 0) {
    if (info.ssi_signo != SIGTERM) continue;
    jobs_kill_all();
    _exit(0);
  }
}

static void loop(int signals) {
  enum { OWN = 4 };
  static struct pollfd fds[OWN + MAX_JOBS];
  bool busy = false;
  for (;;) {
    bool held;
    int wait = jobs_advance(&held);
    flush_output();
    bool full = output_full();
    int bridge = bridge_advance();
    if (bridge >= 0 && (wait < 0 || bridge < wait)) wait = bridge;
    fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = full ? 0 : POLLIN};
    fds[1] = (struct pollfd){.fd = STDOUT_FILENO, .events = output_waiting() ? POLLOUT : 0};
    fds[2] = (struct pollfd){.fd = signals, .events = POLLIN};
    fds[3] = (struct pollfd){.fd = bridge_fd(), .events = POLLIN};
    size_t polled = jobs_poll(fds + OWN);
    if ((busy || held) && !full) wait = 0;
    if (poll(fds, OWN + polled, wait) < 0 && errno != EINTR) die("poll failed");
    if (fds[1].revents & (POLLERR | POLLHUP)) die("the server is gone");
    if (fds[2].revents) {
      take_signals(signals);
      jobs_reap();
    }
    jobs_read(fds + OWN, polled);
    if (fds[0].revents) read_requests();
    bool files = files_advance(), walks = walk_advance();
    busy = files || walks;
  }
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "launch")) return launch(count - 2, arguments + 2);
  close_inherited(count > 2 && !strcmp(arguments[1], "--gate"));
  is_init = getpid() == 1;
  prctl(PR_SET_DUMPABLE, 0);
  if (!is_init) prctl(PR_SET_CHILD_SUBREAPER, 1);
  umask(022);
  obey_arguments(count - 1, arguments + 1);
  int signals = watch_signals();
  fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
  unsigned char version[4];
  put_u32(version, PROTOCOL_VERSION);
  send_frame(READY, 0, version, sizeof version);
  loop(signals);
}
