/* A name server that assigns each name an address in 127.64.0.0/10, so that the address of a connection reveals the
 * name. It remembers a limited number of names, those used last. An address is reused only after four million
 * others. */
#define _GNU_SOURCE
#include "daemon.h"

#include <string.h>

enum {
  HEADER = 12,
  TYPE_A = 1,
  CLASS_IN = 1,
  NO_SUCH_NAME = 3,
  TTL_SECONDS = 60,
  MAX_NAMES = 1024,
  MAX_NAME = 253,
  ADDRESSES = 1 << 22,
};
static const uint32_t FIRST_ADDRESS = 127u << 24 | 64u << 16;

static struct {
  char text[MAX_NAME + 1];
  uint32_t address;
  uint64_t used; /* 0 for none */
} names[MAX_NAMES];
static uint64_t uses;
static uint32_t serial;

const char *names_find(uint32_t address) {
  for (int i = 0; i < MAX_NAMES; i++)
    if (names[i].used && names[i].address == address) {
      names[i].used = ++uses;
      return names[i].text;
    }
  return NULL;
}

static uint32_t fresh_address(void) {
  uint32_t address;
  do address = FIRST_ADDRESS + ++serial % ADDRESSES;
  while (names_find(address));
  return address;
}

static uint32_t address_of(const char *text) {
  int oldest = 0;
  for (int i = 0; i < MAX_NAMES; i++) {
    if (names[i].used && !strcmp(names[i].text, text)) {
      names[i].used = ++uses;
      return names[i].address;
    }
    if (names[i].used < names[oldest].used) oldest = i;
  }
  names[oldest].used = 0;
  names[oldest].address = fresh_address();
  names[oldest].used = ++uses;
  strcpy(names[oldest].text, text);
  return names[oldest].address;
}

static bool is_of_host(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Returns the end of the name, or 0 if there is none. The text is empty for a name that no host can have. */
static size_t read_name(const unsigned char *query, size_t size, char text[MAX_NAME + 2]) {
  size_t at = HEADER, length = 0;
  bool of_host = true;
  while (at < size && query[at]) {
    size_t label = query[at++];
    if (label > 63 || at + label > size || length + label + 1 > MAX_NAME + 1) return 0;
    for (size_t i = 0; i < label; i++) {
      unsigned char c = query[at + i];
      if (c >= 'A' && c <= 'Z') c = (unsigned char)(c + 'a' - 'A');
      of_host = of_host && is_of_host(c);
      text[length++] = (char)c;
    }
    text[length++] = '.';
    at += label;
  }
  if (at >= size) return 0;
  text[of_host && length ? length - 1 : 0] = 0;
  return at + 1;
}

static unsigned char *put_u16(unsigned char *to, unsigned value) {
  to[0] = (unsigned char)(value >> 8);
  to[1] = (unsigned char)value;
  return to + 2;
}

size_t names_answer(const unsigned char *query, size_t size, unsigned char answer[MAX_ANSWER_BYTES]) {
  char text[MAX_NAME + 2];
  /* A standard query with one question. Bytes after the question are ignored. */
  if (size < HEADER || size > MAX_QUERY_BYTES || query[2] & 0xf8 || query[4] || query[5] != 1) return 0;
  size_t end = read_name(query, size, text);
  if (!end || end + 4 > size) return 0;
  unsigned type = (unsigned)query[end] << 8 | query[end + 1], class = (unsigned)query[end + 2] << 8 | query[end + 3];
  bool is_root = end == HEADER + 1, found = type == TYPE_A && class == CLASS_IN && *text;
  memset(answer, 0, HEADER);
  memcpy(answer, query, 2);
  answer[2] = (unsigned char)(0x80 | (query[2] & 1)); /* a response; repeats the recursion flag */
  answer[3] = (unsigned char)(0x80 | (*text || is_root ? 0 : NO_SUCH_NAME));
  answer[5] = 1;
  answer[7] = found;
  memcpy(answer + HEADER, query + HEADER, end + 4 - HEADER);
  if (!found) return end + 4;
  uint32_t address = address_of(text);
  unsigned char *at = put_u16(answer + end + 4, 0xc000 | HEADER); /* a pointer to the name of the question */
  at = put_u16(put_u16(at, TYPE_A), CLASS_IN);
  at = put_u16(put_u16(put_u16(at, 0), TTL_SECONDS), 4);
  at = put_u16(put_u16(at, address >> 16), address & 0xffff);
  return (size_t)(at - answer);
}
