#define _GNU_SOURCE
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
  bool used;
  uint32_t id;
  int fd;
  uint64_t offset, left, size;
};

struct writing {
  bool used;
  uint32_t id;
  int fd;    /* -1 after an error, which the end of the request reports */
  int error;
  mode_t mode;
  char *path, *temporary;
};

static struct reading readings[MAX_STREAMS];
static struct writing writings[MAX_STREAMS];
static unsigned char buffer[MAX_DATA_BYTES];

/* Reading. O_NONBLOCK: opening a FIFO must not wait for its other end. */

static int open_regular(const char *path, struct stat *info) {
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int error = fstat(fd, info) ? errno : S_ISREG(info->st_mode) ? 0 : EISDIR;
  if (!error) return fd;
  close(fd);
  return -error;
}

void files_read(uint32_t id, struct request_reader *request) {
  uint64_t offset = take_u64(request);
  uint64_t max = take_u64(request);
  const char *path = take_string(request);
  struct stat info;
  int slot = 0;
  while (slot < MAX_STREAMS && readings[slot].used) slot++;
  if (slot == MAX_STREAMS) return send_failure(id, IO, "too many reads at once");
  if (offset > INT64_MAX - max || max > INT64_MAX) return send_failure(id, IO, "no such range");
  int fd = open_regular(path, &info);
  if (fd == -EISDIR) return send_failure(id, NOT_A_FILE, "not a regular file");
  if (fd < 0) return send_errno(id, -fd);
  readings[slot] = (struct reading){true, id, fd, offset, max, (uint64_t)info.st_size};
}

static void end_reading(struct reading *reading) {
  close(reading->fd);
  reading->used = false;
}

static void read_step(struct reading *reading) {
  size_t want = reading->left < sizeof buffer ? (size_t)reading->left : sizeof buffer;
  ssize_t got = want ? pread(reading->fd, buffer, want, (off_t)reading->offset) : 0;
  if (got < 0 && errno == EINTR) return;
  if (got < 0) {
    send_errno(reading->id, errno);
    return end_reading(reading);
  }
  if (got > 0) {
    send_frame(DATA, reading->id, buffer, (size_t)got);
    reading->offset += (uint64_t)got;
    reading->left -= (uint64_t)got;
    return;
  }
  unsigned char size[8];
  put_u64(size, reading->size);
  send_frame(DONE, reading->id, size, sizeof size);
  end_reading(reading);
}

bool files_advance(void) {
  bool busy = false;
  for (int i = 0; i < MAX_STREAMS; i++) {
    while (readings[i].used && !output_full()) read_step(&readings[i]);
    busy |= readings[i].used;
  }
  return busy;
}

/* Writing: into a new file beside the old one, which it replaces at the end. */

static int make_parents(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    int error = mkdir(path, 0700) ? errno : 0;
    struct stat info;
    /* An existing folder does not always give EEXIST: read-only file systems give EROFS. */
    if (error && (stat(path, &info) || !S_ISDIR(info.st_mode))) {
      *slash = '/';
      return error == EEXIST ? ENOTDIR : error;
    }
    *slash = '/';
  }
  return 0;
}

static int open_temporary(struct writing *writing, const char *path) {
  static unsigned serial;
  struct stat info;
  writing->mode = 0644;
  if (*path != '/') return EINVAL;
  if (stat(path, &info) == 0) {
    if (!S_ISREG(info.st_mode)) return EISDIR;
    if (access(path, W_OK)) return errno;
    writing->mode = info.st_mode & 07777;
    writing->path = realpath(path, NULL);
  } else {
    if (errno != ENOENT && errno != ENOTDIR) return errno;
    writing->path = strdup(path);
  }
  if (!writing->path) return errno;
  int error = make_parents(writing->path);
  if (error) return error;
  size_t size = strlen(writing->path) + 64;
  writing->temporary = allocate(size);
  int folder = (int)(strrchr(writing->path, '/') - writing->path);
  snprintf(writing->temporary, size, "%.*s/.steward-%d-%u", folder, writing->path, getpid(), serial++);
  writing->fd = open(writing->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return writing->fd < 0 ? errno : 0;
}

static struct writing *find_writing(uint32_t id) {
  for (int i = 0; i < MAX_STREAMS; i++)
    if (writings[i].used && writings[i].id == id) return &writings[i];
  return NULL;
}

void files_write(uint32_t id, struct request_reader *request) {
  const char *path = take_string(request);
  int slot = 0;
  while (slot < MAX_STREAMS && writings[slot].used) slot++;
  if (slot == MAX_STREAMS || find_writing(id)) die("too many writes at once");
  struct writing *writing = &writings[slot];
  *writing = (struct writing){.used = true, .id = id, .fd = -1};
  writing->error = open_temporary(writing, path);
}

static void fail_writing(struct writing *writing, int error) {
  writing->error = error;
  close(writing->fd);
  unlink(writing->temporary);
  writing->fd = -1;
}

void files_write_data(uint32_t id, struct request_reader *request) {
  struct writing *writing = find_writing(id);
  if (!writing) die("data for no file");
  while (writing->fd >= 0 && request->at < request->end) {
    ssize_t written = write(writing->fd, request->at, (size_t)(request->end - request->at));
    if (written >= 0) request->at += written;
    else if (errno != EINTR) fail_writing(writing, errno);
  }
}

void files_write_end(uint32_t id) {
  struct writing *writing = find_writing(id);
  if (!writing) die("the end of no file");
  if (writing->fd >= 0 && (fchmod(writing->fd, writing->mode) || fsync(writing->fd) ||
                           rename(writing->temporary, writing->path)))
    fail_writing(writing, errno);
  if (writing->fd >= 0) close(writing->fd);
  if (writing->error == EISDIR) send_failure(id, NOT_A_FILE, "not a regular file");
  else if (writing->error) send_errno(id, writing->error);
  else send_frame(DONE, id, NULL, 0);
  free(writing->path);
  free(writing->temporary);
  writing->used = false;
}

/* Removing: a file or link, then the folders above it, below `top`, that become empty. */

void files_remove(uint32_t id, struct request_reader *request) {
  const char *path = take_string(request), *top = take_string(request);
  size_t kept = strlen(top);
  if (unlink(path)) return errno == EISDIR ? send_failure(id, NOT_A_FILE, "a folder") : send_errno(id, errno);
  char *above = strdup(path);
  if (!above) die("out of memory");
  if (!strncmp(path, top, kept) && path[kept] == '/') {
    for (char *slash; (slash = strrchr(above, '/')) > above + kept;) {
      *slash = 0;
      if (rmdir(above)) break;
    }
  }
  free(above);
  send_frame(DONE, id, NULL, 0);
}
