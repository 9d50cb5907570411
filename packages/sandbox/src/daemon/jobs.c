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
#include <sys/wait.h>
#include <unistd.h>

/* A background child may keep a finished command's pipe open. The result waits no longer than this. */
static const uint64_t LINGER_MS = 200;

enum spill { UNSPILLED, SPILLING, SPILL_FAILED };

struct job {
  struct job *next;
  uint32_t id;
  pid_t pid;
  int pipe; /* -1 once at its end */
  bool exited, signalled, killing;
  int code;
  uint64_t linger_until; /* once exited */
  uint64_t kill_at;      /* time of the SIGKILL after a SIGTERM; 0 when not set */

  char *tail; /* ring buffer of the last `keep` bytes, full once total > keep */
  size_t keep;
  uint64_t total;
  uint64_t written_at; /* when the last byte came, or the job began */

  enum spill spill;
  int spill_fd;
  uint64_t spill_above, spill_max;
  char *spill_path;
  char *state_from, *state_to; /* renamed after an ordinary exit; empty for none */
};

static struct job *jobs;
static size_t count;
static unsigned char buffer[MAX_DATA_BYTES];

static struct job *find(uint32_t id) {
  struct job *job = jobs;
  while (job && job->id != id) job = job->next;
  return job;
}

static char *copy(const char *string) {
  char *own = allocate(strlen(string) + 1);
  return strcpy(own, string);
}

/* Spilled output */

static bool write_whole(int fd, const char *data, size_t size) {
  while (size) {
    ssize_t written = write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= (size_t)written;
  }
  return true;
}

static void abandon_spill(struct job *job) {
  if (job->spill_fd >= 0) {
    close(job->spill_fd);
    unlink(job->spill_path);
  }
  job->spill_fd = -1;
  job->spill = SPILL_FAILED;
}

static void spill(struct job *job, const char *data, size_t size) {
  if (job->spill == SPILL_FAILED || job->total + size <= job->spill_above) return;
  if (job->total + size > job->spill_max) return abandon_spill(job);
  if (job->spill == UNSPILLED) {
    job->spill = SPILLING;
    job->spill_fd = open(job->spill_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (job->spill_fd < 0) return abandon_spill(job);
    /* spill_above <= keep, so the ring still holds the whole output from its beginning. */
    if (!write_whole(job->spill_fd, job->tail, (size_t)job->total)) return abandon_spill(job);
  }
  if (!write_whole(job->spill_fd, data, size)) abandon_spill(job);
}

static void keep_tail(struct job *job, const char *data, size_t size) {
  spill(job, data, size);
  uint64_t end = job->total + size;
  if (size > job->keep) {
    data += size - job->keep;
    size = job->keep;
  }
  size_t at = (size_t)((end - size) % job->keep);
  size_t first = size < job->keep - at ? size : job->keep - at;
  memcpy(job->tail + at, data, first);
  memcpy(job->tail, data + first, size - first);
  job->total = end;
  job->written_at = now_ms();
}

/* Start and end */

static void run_child(const char *directory, char **arguments, char **environment, int output) {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigset_t none;
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  if (!is_init) prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(126);
  if (chdir(directory)) {
    dprintf(2, "cannot enter %s: %s\n", directory, strerror(errno));
    _exit(126);
  }
  execve(arguments[0], arguments, environment);
  dprintf(2, "cannot run %s: %s\n", arguments[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

static char **take_strings(struct request_reader *request) {
  uint32_t length = take_u32(request);
  if (length > (size_t)(request->end - request->at)) die("a list in a request is too long");
  char **strings = allocate((length + 1) * sizeof *strings);
  for (uint32_t i = 0; i < length; i++) strings[i] = (char *)take_string(request);
  strings[length] = NULL;
  return strings;
}

static void forget(struct job *job) {
  struct job **link = &jobs;
  while (*link != job) link = &(*link)->next;
  *link = job->next;
  count--;
  if (job->pipe >= 0) close(job->pipe);
  if (job->spill_fd >= 0) close(job->spill_fd);
  free(job->tail);
  free(job->spill_path);
  free(job->state_from);
  free(job->state_to);
  free(job);
}

static void spawn(struct job *job, const char *directory, char **arguments, char **environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    send_errno(job->id, errno);
    return forget(job);
  }
  job->pipe = ends[0];
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  job->pid = fork();
  if (job->pid == 0) run_child(directory, arguments, environment, ends[1]);
  int error = errno;
  close(ends[1]);
  if (job->pid > 0) return;
  send_errno(job->id, error);
  forget(job);
}

void jobs_start(uint32_t id, struct request_reader *request) {
  size_t keep = take_u32(request);
  uint64_t spill_above = take_u64(request);
  uint64_t spill_max = take_u64(request);
  const char *spill_path = take_string(request);
  const char *state_from = take_string(request);
  const char *state_to = take_string(request);
  const char *directory = take_string(request);
  char **arguments = take_strings(request);
  char **environment = take_strings(request);
  if (!arguments[0] || !keep || keep > MAX_KEEP_BYTES || spill_above > keep || find(id))
    die("an EXEC request makes no sense");
  if (count >= MAX_JOBS) {
    send_failure(id, IO, "too many commands at once");
  } else {
    struct job *job = allocate(sizeof *job);
    *job = (struct job){.next = jobs, .id = id, .pid = -1, .pipe = -1, .spill_fd = -1,
                        .keep = keep, .spill_above = spill_above, .spill_max = spill_max,
                        .tail = allocate(keep), .written_at = now_ms(), .spill_path = copy(spill_path),
                        .state_from = copy(state_from), .state_to = copy(state_to)};
    jobs = job;
    count++;
    spawn(job, directory, arguments, environment);
  }
  free(arguments);
  free(environment);
}

/* The child may not have reached setsid() yet, so both the group and the process are signalled. */
static void signal_job(const struct job *job, int number) {
  kill(-job->pid, number);
  kill(job->pid, number);
}

void jobs_kill(uint32_t id, uint32_t grace_ms) {
  struct job *job = find(id);
  if (!job || job->killing) return;
  if (job->exited) {
    job->linger_until = 0;
    return;
  }
  job->killing = true;
  signal_job(job, grace_ms ? SIGTERM : SIGKILL);
  if (grace_ms) job->kill_at = now_ms() + grace_ms;
}

static void commit_state(const struct job *job) {
  if (!*job->state_from) return;
  if (job->signalled || job->killing) unlink(job->state_from);
  else if (rename(job->state_from, job->state_to) && errno != ENOENT) unlink(job->state_from);
}

static void note_exit(struct job *job, const siginfo_t *info) {
  job->signalled = info->si_code != CLD_EXITED;
  job->code = job->signalled ? 128 + info->si_status : info->si_status;
  job->exited = true;
  job->linger_until = job->killing ? 0 : now_ms() + LINGER_MS;
  commit_state(job);
}

void jobs_reap(void) {
  for (;;) {
    siginfo_t info = {0};
    /* The zombie keeps its pid, hence its group's id, until the group has been killed. */
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid) return;
    struct job *job = jobs;
    while (job && (job->exited || job->pid != info.si_pid)) job = job->next;
    if (job && job->killing) kill(-job->pid, SIGKILL);
    waitpid(info.si_pid, NULL, 0);
    if (job) note_exit(job, &info);
  }
}

/* Kills the children of this process until none is left. As subreaper it is the parent of every orphan. */
static void kill_children(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  for (;;) {
    FILE *children = fopen(path, "re");
    long pid;
    if (!children) break;
    while (fscanf(children, "%ld", &pid) == 1) kill((pid_t)pid, SIGKILL);
    fclose(children);
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) && errno == ECHILD) return;
    jobs_reap();
  }
  /* The kernel does not list children: kill at least the process groups. */
  for (struct job *job = jobs; job; job = job->next) kill(-job->pid, SIGKILL);
}

void jobs_kill_all(void) {
  for (struct job *job = jobs; job; job = job->next) {
    job->killing |= !job->exited;
    job->linger_until = 0;
  }
  if (!is_init) return kill_children();
  kill(-1, SIGKILL);
  siginfo_t info;
  while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 || errno == EINTR) jobs_reap();
}

/* Output */

size_t jobs_poll(struct pollfd *fds) {
  size_t used = 0;
  for (struct job *job = jobs; job; job = job->next)
    if (job->pipe >= 0) fds[used++] = (struct pollfd){.fd = job->pipe, .events = POLLIN};
  return used;
}

static void read_job(struct job *job) {
  ssize_t size = read(job->pipe, buffer, sizeof buffer);
  if (size > 0) return keep_tail(job, (char *)buffer, (size_t)size);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(job->pipe);
  job->pipe = -1;
}

void jobs_read(const struct pollfd *fds, size_t polled) {
  for (size_t i = 0; i < polled; i++) {
    if (!fds[i].revents) continue;
    for (struct job *job = jobs; job; job = job->next)
      if (job->pipe == fds[i].fd) {
        read_job(job);
        break;
      }
  }
}

static void send_data(uint32_t id, const char *data, size_t size) {
  for (size_t at = 0; at < size; at += MAX_DATA_BYTES)
    send_frame(DATA, id, data + at, size - at < MAX_DATA_BYTES ? size - at : MAX_DATA_BYTES);
}

/* Sends the last `size` bytes of the output; no more than were kept. */
static void send_tail(const struct job *job, uint32_t id, size_t size) {
  size_t at = (size_t)((job->total - size) % job->keep);
  size_t first = size < job->keep - at ? size : job->keep - at;
  send_data(id, job->tail + at, first);
  send_data(id, job->tail, size - first);
}

/* The end of the output so far, unless it has `known` bytes; how many it has; how long ago the last one came. */
void jobs_peek(uint32_t id, struct request_reader *request) {
  struct job *job = find(take_u32(request));
  size_t size = take_u32(request);
  uint64_t known = take_u64(request);
  if (!job) return send_failure(id, NOT_FOUND, "no such command");
  if (size > MAX_DATA_BYTES) die("a PEEK request makes no sense");
  if (size > job->keep) size = job->keep;
  if (size > job->total) size = (size_t)job->total;
  if (job->total != known) send_tail(job, id, size);
  unsigned char payload[16];
  put_u64(payload, job->total);
  put_u64(payload + 8, now_ms() - job->written_at);
  send_frame(DONE, id, payload, sizeof payload);
}

static void finish(struct job *job) {
  send_tail(job, job->id, job->total < job->keep ? (size_t)job->total : job->keep);
  unsigned char payload[13];
  put_u32(payload, (uint32_t)job->code);
  put_u64(payload + 4, job->total);
  payload[12] = (unsigned char)((job->spill == SPILLING ? SPILLED_FLAG : 0) | (job->killing ? KILLED_FLAG : 0));
  send_frame(EXITED, job->id, payload, sizeof payload);
  forget(job);
}

/* Bytes in the pipe belong to the command, even if another process holds the other end. */
static void drain(struct job *job) {
  for (int turns = 0; job->pipe >= 0 && turns < 16; turns++) {
    struct pollfd one = {.fd = job->pipe, .events = POLLIN};
    if (poll(&one, 1, 0) != 1) return;
    read_job(job);
  }
}

/* Ends jobs that are due. Returns the milliseconds until the next job is due, or -1. Sets `held` when the result of a
 * job waits for room in the output. */
int jobs_advance(bool *held) {
  *held = false;
  uint64_t now = now_ms(), soonest = UINT64_MAX;
  for (struct job *job = jobs, *next; job; job = next) {
    next = job->next;
    if (job->kill_at && !job->exited && job->kill_at <= now) {
      signal_job(job, SIGKILL);
      job->kill_at = 0;
    }
    if (job->exited && job->pipe >= 0 && job->linger_until <= now) {
      drain(job);
      if (job->pipe >= 0) close(job->pipe);
      job->pipe = -1;
    }
    if (job->exited && job->pipe < 0) {
      if (output_full()) *held = true;
      else finish(job);
      continue;
    }
    uint64_t due = job->exited ? job->linger_until : job->kill_at;
    if (due && due < soonest) soonest = due;
  }
  return soonest == UINT64_MAX ? -1 : (int)(soonest - now);
}
