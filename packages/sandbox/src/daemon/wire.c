#include "daemon.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes for the server: data[start..end) of a growing buffer. Producers stop at the high water mark, so the buffer
 * holds at most that plus one reply. */
static struct {
  unsigned char *data;
  size_t start, end, capacity;
} output;

uint32_t take_u32(struct request_reader *reader) {
  if (reader->end - reader->at < 4) die("a request is too short");
  const unsigned char *b = (const unsigned char *)reader->at;
  reader->at += 4;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t take_u64(struct request_reader *reader) {
  uint64_t low = take_u32(reader);
  return low | (uint64_t)take_u32(reader) << 32;
}

const char *take_string(struct request_reader *reader) {
  const char *string = reader->at;
  const char *nul = memchr(string, 0, (size_t)(reader->end - reader->at));
  if (!nul) die("a string in a request has no end");
  reader->at = nul + 1;
  return string;
}

void put_u32(unsigned char *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (8 * i));
}

void put_u64(unsigned char *to, uint64_t value) {
  put_u32(to, (uint32_t)value);
  put_u32(to + 4, (uint32_t)(value >> 32));
}

static void reserve(size_t size) {
  if (output.capacity - output.end >= size) return;
  size_t used = output.end - output.start;
  if (used) memmove(output.data, output.data + output.start, used);
  output.start = 0;
  output.end = used;
  if (output.capacity - used >= size) return;
  size_t capacity = output.capacity ? output.capacity : HIGH_WATER_BYTES;
  while (capacity - used < size) capacity *= 2;
  output.data = realloc(output.data, capacity);
  if (!output.data) die("out of memory");
  output.capacity = capacity;
}

void send_frame(enum reply type, uint32_t id, const void *payload, size_t size) {
  reserve(4 + HEADER_BYTES + size);
  unsigned char *to = output.data + output.end;
  put_u32(to, (uint32_t)(HEADER_BYTES + size));
  to[4] = (unsigned char)type;
  put_u32(to + 5, id);
  if (size) memcpy(to + 4 + HEADER_BYTES, payload, size);
  output.end += 4 + HEADER_BYTES + size;
}

void send_failure(uint32_t id, enum failure code, const char *message) {
  unsigned char payload[256];
  size_t length = strlen(message);
  if (length > sizeof payload - 1) length = sizeof payload - 1;
  payload[0] = (unsigned char)code;
  memcpy(payload + 1, message, length);
  send_frame(FAILED, id, payload, 1 + length);
}

static enum failure failure_of(int error) {
  switch (error) {
    case ENOENT: return NOT_FOUND;
    case EISDIR: case ENXIO: return NOT_A_FILE;
    case ENOTDIR: return NOT_A_DIRECTORY;
    case EACCES: case EPERM: case EROFS: return DENIED;
    case EFBIG: return TOO_LARGE;
    default: return IO;
  }
}

void send_errno(uint32_t id, int error) { send_failure(id, failure_of(error), strerror(error)); }

bool output_waiting(void) { return output.end > output.start; }

bool output_full(void) { return output.end - output.start >= HIGH_WATER_BYTES; }

void flush_output(void) {
  while (output_waiting()) {
    ssize_t written = write(STDOUT_FILENO, output.data + output.start, output.end - output.start);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) die("the server is gone");
    output.start += (size_t)written;
  }
  output.start = output.end = 0;
}
