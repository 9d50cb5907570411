#define _GNU_SOURCE
#include "daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  ENTRIES_PER_STEP = 256,
  MAX_PATH_BYTES = 16 << 10,
  MAX_WAITING_BYTES = 16 << 20, /* names of folders to enter */
  MAX_RECORDS_BYTES = 32 << 20, /* records of one answer */
  RECORD_BYTES = 4 * 8 + 4 + 2, /* size, mtime and ctime in microseconds, inode, mode, length of the path */
};

struct folder {
  struct folder *next;
  size_t length;
  char path[];
};

struct walk {
  struct walk *next;
  uint32_t id;
  uint32_t left;
  bool complete;
  bool whole; /* skips no folder */
  uint64_t started;
  size_t waiting_bytes;
  struct folder *first, *last;
  struct folder *open; /* the folder that `entries` lists */
  DIR *entries;
  size_t used, sent;
  unsigned char batch[MAX_DATA_BYTES];
};

static struct walk *walks;

static uint64_t microseconds(struct timespec time) {
  return (uint64_t)(time.tv_sec * 1000000LL + time.tv_nsec / 1000);
}

/* The clock that stamps files: later changes get this time or a later one. */
static uint64_t coarse_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return microseconds(now);
}

static void queue_folder(struct walk *walk, const char *parent, size_t parent_length, const char *name) {
  size_t name_length = strlen(name);
  size_t length = parent_length + 1 + name_length;
  if (length > MAX_PATH_BYTES || walk->waiting_bytes + length > MAX_WAITING_BYTES) {
    walk->complete = false;
    return;
  }
  struct folder *folder = allocate(sizeof *folder + length + 1);
  folder->next = NULL;
  folder->length = length;
  memcpy(folder->path, parent, parent_length);
  folder->path[parent_length] = '/';
  memcpy(folder->path + parent_length + 1, name, name_length + 1);
  if (walk->last) walk->last->next = folder;
  else walk->first = folder;
  walk->last = folder;
  walk->waiting_bytes += length;
}

void walk_start(uint32_t id, struct request_reader *request) {
  uint32_t max = take_u32(request);
  bool whole = take_u32(request);
  const char *root = take_string(request);
  size_t running = 0, length = strlen(root);
  for (struct walk *other = walks; other; other = other->next) running++;
  if (running >= MAX_STREAMS) return send_failure(id, IO, "too many walks at once");
  int fd = open(root, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return send_errno(id, errno);
  struct walk *walk = allocate(sizeof *walk);
  *walk = (struct walk){.next = walks, .id = id, .left = max, .complete = true, .whole = whole, .started = coarse_now()};
  walks = walk;
  while (length && root[length - 1] == '/') length--;
  walk->open = allocate(sizeof *walk->open + length + 1);
  *walk->open = (struct folder){.length = length};
  memcpy(walk->open->path, root, length);
  walk->open->path[length] = 0;
  walk->entries = fdopendir(fd);
  if (!walk->entries) die("out of memory");
}

static void send_batch(struct walk *walk) {
  if (walk->used) send_frame(DATA, walk->id, walk->batch, walk->used);
  walk->used = 0;
}

static void add_file(struct walk *walk, const char *name, const struct stat *info) {
  size_t name_length = strlen(name), length = walk->open->length + 1 + name_length;
  if (length > MAX_PATH_BYTES || walk->sent + RECORD_BYTES + length > MAX_RECORDS_BYTES) {
    walk->complete = false;
    return;
  }
  walk->sent += RECORD_BYTES + length;
  if (walk->used + RECORD_BYTES + length > sizeof walk->batch) send_batch(walk);
  unsigned char *to = walk->batch + walk->used;
  put_u64(to, (uint64_t)info->st_size);
  put_u64(to + 8, microseconds(info->st_mtim));
  put_u64(to + 16, microseconds(info->st_ctim));
  put_u64(to + 24, info->st_ino);
  put_u32(to + 32, info->st_mode & 07777);
  to[36] = (unsigned char)length;
  to[37] = (unsigned char)(length >> 8);
  to += RECORD_BYTES;
  memcpy(to, walk->open->path, walk->open->length);
  to[walk->open->length] = '/';
  memcpy(to + walk->open->length + 1, name, name_length);
  walk->used += RECORD_BYTES + length;
}

static bool skipped(const char *name) {
  return !strcmp(name, ".git") || !strcmp(name, "node_modules");
}

static void look_at(struct walk *walk, const struct dirent *entry) {
  struct stat info;
  if (!walk->whole && skipped(entry->d_name)) return;
  if (entry->d_type != DT_REG && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN) return;
  if (fstatat(dirfd(walk->entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW)) return;
  if (S_ISDIR(info.st_mode)) queue_folder(walk, walk->open->path, walk->open->length, entry->d_name);
  if (S_ISREG(info.st_mode)) add_file(walk, entry->d_name, &info);
}

/* O_NOFOLLOW: the folder may have become a link since it was listed. */
static void open_next(struct walk *walk) {
  if (walk->entries) closedir(walk->entries);
  free(walk->open);
  walk->entries = NULL;
  walk->open = walk->first;
  if (!walk->open) return;
  walk->first = walk->open->next;
  if (!walk->first) walk->last = NULL;
  walk->waiting_bytes -= walk->open->length;
  int fd = open(walk->open->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) walk->complete = false;
    return;
  }
  walk->entries = fdopendir(fd);
  if (!walk->entries) die("out of memory");
}

static bool step(struct walk *walk) {
  for (int i = 0; i < ENTRIES_PER_STEP && walk->open; i++) {
    struct dirent *entry = walk->entries ? readdir(walk->entries) : NULL;
    if (!entry) {
      open_next(walk);
      continue;
    }
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (!walk->left) {
      walk->complete = false;
      return true;
    }
    walk->left--;
    look_at(walk, entry);
  }
  return !walk->open;
}

static void finish(struct walk *walk) {
  send_batch(walk);
  unsigned char done[9] = {walk->complete};
  put_u64(done + 1, walk->started);
  send_frame(DONE, walk->id, done, sizeof done);
  if (walk->entries) closedir(walk->entries);
  free(walk->open);
  for (struct folder *folder = walk->first, *next; folder; folder = next) {
    next = folder->next;
    free(folder);
  }
  struct walk **link = &walks;
  while (*link != walk) link = &(*link)->next;
  *link = walk->next;
  free(walk);
}

bool walk_advance(void) {
  for (struct walk *walk = walks, *next; walk; walk = next) {
    next = walk->next;
    if (!output_full() && step(walk)) finish(walk);
  }
  return walks != NULL;
}
