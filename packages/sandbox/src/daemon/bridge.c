/* Connects the sandbox's loopback to its gate, a unix socket. Connections to the proxy's port are passed on unchanged.
 * For programs that know of no proxy, the bridge sends the missing CONNECT first. Events are edge-triggered:
 * `readable` and `writable` stay true until a call says otherwise. An idle connection holds no buffer. Bytes that a
 * slow side has not taken are stored, and the other side is not read until they are written. */
#define _GNU_SOURCE
#include "daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  MAX_LINKS = 256,
  CHUNK = 64 << 10,
  ROUNDS = 16,         /* chunks to move before other connections get a turn */
  MAX_HEAD = 4 << 10,  /* largest head of the gate's answer to a CONNECT */
  EVENTS = 64,
  PAUSE_MS = 50,       /* delay before accepting again after a failure of the kernel */
};

enum side { CLIENT, GATE };

struct end {
  int fd;
  bool readable, writable, ended; /* ended: read to its end */
  bool shut;                      /* closed for writing */
  char *rest;                     /* bytes read here and not yet written to the other side */
  size_t at, size;
};

struct link {
  enum { FREE, TUNNEL, CONNECTING, ASKING } state; /* ASKING: a connection to the name server */
  bool busy;
  struct end ends[2];
};

static struct link links[MAX_LINKS];
static size_t used;
static int events = -1;
static bool accepting;
static uint64_t paused_until;
static struct sockaddr_un gate = {.sun_family = AF_UNIX};
static char buffer[CHUNK];

static void watch(int operation, int fd, uint32_t what, uint32_t which) {
  struct epoll_event event = {.events = what, .data.u32 = which};
  if (epoll_ctl(events, operation, fd, &event)) die("cannot watch a socket");
}

static bool is_stream(enum listener which) { return which != NAMES_UDP; }

static void accept_more(bool more) {
  if (accepting == more) return;
  accepting = more;
  for (enum listener which = 0; which < LISTENERS; which++)
    if (is_stream(which)) watch(EPOLL_CTL_MOD, FIRST_LISTENER + (int)which, more ? EPOLLIN : 0, 2 * MAX_LINKS + which);
}

void bridge_open(const char *path) {
  if (strlen(path) >= sizeof gate.sun_path) die("the path of the gate is too long");
  strcpy(gate.sun_path, path);
  events = epoll_create1(EPOLL_CLOEXEC);
  if (events < 0) die("no epoll");
  for (enum listener which = 0; which < LISTENERS; which++) {
    int fd = FIRST_LISTENER + (int)which;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK)) die("a listener is missing");
    watch(EPOLL_CTL_ADD, fd, EPOLLIN, 2 * MAX_LINKS + which);
  }
  accepting = true;
}

int bridge_fd(void) { return events; }

static void close_link(struct link *link) {
  for (int side = CLIENT; side <= GATE; side++) {
    if (link->ends[side].fd >= 0) close(link->ends[side].fd);
    free(link->ends[side].rest);
  }
  link->state = FREE;
  used--;
  accept_more(true);
}

/* A reset tells the client that the connection was broken. */
static void break_link(struct link *link) {
  struct linger none = {.l_onoff = 1};
  setsockopt(link->ends[CLIENT].fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  close_link(link);
}

/* Moving bytes */

enum outcome { MOVED, WAITS, BROKEN };

static enum outcome wait_or_break(bool *ready) {
  if (errno != EAGAIN) return BROKEN;
  *ready = false;
  return WAITS;
}

static void drop_rest(struct end *end) {
  free(end->rest);
  end->rest = NULL;
}

/* `to` takes no more bytes. Bytes in the other direction may still be on their way. */
static enum outcome give_up(struct end *from, struct end *to) {
  drop_rest(from);
  from->ended = to->shut = true;
  return WAITS;
}

static enum outcome write_rest(struct end *from, struct end *to) {
  if (!to->writable) return WAITS;
  ssize_t written = write(to->fd, from->rest + from->at, from->size - from->at);
  if (written < 0) return wait_or_break(&to->writable);
  from->at += (size_t)written;
  if (from->at == from->size) drop_rest(from);
  return MOVED;
}

static bool keep(struct end *from, const char *data, size_t size) {
  from->rest = malloc(size);
  if (!from->rest) return false;
  memcpy(from->rest, data, size);
  from->at = 0;
  from->size = size;
  return true;
}

static enum outcome move(struct end *from, struct end *to) {
  if (from->rest) {
    enum outcome outcome = write_rest(from, to);
    return outcome == BROKEN ? give_up(from, to) : outcome;
  }
  if (from->ended) {
    if (!to->shut) shutdown(to->fd, SHUT_WR);
    to->shut = true;
    return WAITS;
  }
  if (!from->readable || !to->writable) return WAITS;
  ssize_t size = read(from->fd, buffer, sizeof buffer);
  if (size < 0) return wait_or_break(&from->readable);
  if (size == 0) {
    from->ended = true;
    return MOVED;
  }
  ssize_t written = write(to->fd, buffer, (size_t)size);
  if (written < 0 && wait_or_break(&to->writable) == BROKEN) return give_up(from, to);
  if (written < 0) written = 0;
  if (written == size) return MOVED;
  return keep(from, buffer + written, (size_t)(size - written)) ? MOVED : BROKEN;
}

/* Moves bytes for some rounds. Returns MOVED when there may be more at once. */
static enum outcome move_all(struct end *from, struct end *to) {
  for (int round = 0; round < ROUNDS; round++) {
    enum outcome outcome = move(from, to);
    if (outcome != MOVED) return outcome;
  }
  return MOVED;
}

/* Transparent connections */

/* Reads the head of the gate's answer, once it is complete, and leaves the bytes after it. */
static enum outcome take_head(struct end *from) {
  if (!from->readable) return WAITS;
  ssize_t size = recv(from->fd, buffer, MAX_HEAD, MSG_PEEK);
  if (size < 0) return wait_or_break(&from->readable);
  const char *end = size ? memmem(buffer, (size_t)size, "\r\n\r\n", 4) : NULL;
  if (!end && size && size < MAX_HEAD) {
    from->readable = false;
    return WAITS;
  }
  if (!end || memcmp(buffer, "HTTP/1.", 7) || memcmp(buffer + 8, " 200", 4)) return BROKEN;
  size_t head = (size_t)(end - buffer) + 4;
  return recv(from->fd, buffer, head, 0) == (ssize_t)head ? MOVED : BROKEN;
}

static enum outcome connect_through(struct link *link) {
  struct end *client = &link->ends[CLIENT], *to = &link->ends[GATE];
  while (client->rest) {
    enum outcome outcome = write_rest(client, to);
    if (outcome != MOVED) return outcome;
  }
  enum outcome outcome = take_head(to);
  if (outcome == MOVED) link->state = TUNNEL;
  return outcome;
}

static bool begin_connect(struct link *link, int port) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  if (getsockname(link->ends[CLIENT].fd, (struct sockaddr *)&address, &length)) return false;
  const char *name = names_find(ntohl(address.sin_addr.s_addr));
  if (!name) return false;
  int size = snprintf(buffer, sizeof buffer, "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n", name, port, name, port);
  link->state = CONNECTING;
  return keep(&link->ends[CLIENT], buffer, (size_t)size);
}

/* The name server over TCP: each query comes after its length. */
static enum outcome answer_stream(struct end *client) {
  unsigned char query[2 + MAX_QUERY_BYTES], answer[2 + MAX_ANSWER_BYTES];
  if (!client->readable) return WAITS;
  ssize_t size = recv(client->fd, query, sizeof query, MSG_PEEK);
  if (size < 0) return wait_or_break(&client->readable);
  size_t length = size >= 2 ? (size_t)query[0] << 8 | query[1] : 0;
  if (size == 0 || length > MAX_QUERY_BYTES) return BROKEN;
  if (size < 2 || (size_t)size < 2 + length) {
    client->readable = false;
    return WAITS;
  }
  size_t answered = names_answer(query + 2, length, answer + 2);
  if (!answered || recv(client->fd, query, 2 + length, 0) < 0) return BROKEN;
  answer[0] = (unsigned char)(answered >> 8);
  answer[1] = (unsigned char)answered;
  return write(client->fd, answer, 2 + answered) == (ssize_t)(2 + answered) ? MOVED : BROKEN;
}

static void answer_datagrams(int fd) {
  for (int i = 0; i < EVENTS; i++) {
    unsigned char query[MAX_QUERY_BYTES + 1], answer[MAX_ANSWER_BYTES];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(fd, query, sizeof query, 0, (struct sockaddr *)&from, &length);
    if (size < 0) return;
    size_t answered = names_answer(query, (size_t)size, answer);
    if (answered) sendto(fd, answer, answered, 0, (struct sockaddr *)&from, length);
  }
}

/* One link's turn */

static void advance_link(struct link *link) {
  struct end *client = &link->ends[CLIENT], *to = &link->ends[GATE];
  link->busy = false;
  if (link->state == ASKING) {
    enum outcome outcome = answer_stream(client);
    link->busy = outcome == MOVED;
    if (outcome == BROKEN) close_link(link);
    return;
  }
  if (link->state == CONNECTING) {
    enum outcome outcome = connect_through(link);
    if (outcome == BROKEN) return close_link(link);
    if (outcome == WAITS) return;
  }
  enum outcome out = move_all(client, to);
  enum outcome in = out == BROKEN ? BROKEN : move_all(to, client);
  if (in == BROKEN) return break_link(link);
  if (client->shut && to->shut) return close_link(link);
  link->busy = out == MOVED || in == MOVED;
}

/* Does not block: returns false at once when the gate's queue is full, or when no process listens. */
static bool reach_gate(struct end *end) {
  end->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  return end->fd >= 0 && connect(end->fd, (struct sockaddr *)&gate, sizeof gate) == 0;
}

static void begin_link(struct link *link, int client, enum listener which) {
  int yes = 1;
  uint32_t number = 2 * (uint32_t)(link - links), what = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  used++;
  *link = (struct link){.state = which == NAMES_TCP ? ASKING : TUNNEL,
                        .ends = {{.fd = client, .writable = true}, {.fd = -1, .writable = true}}};
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if ((which == SECURE && !begin_connect(link, 443)) || (which == PLAIN && !begin_connect(link, 80)))
    return break_link(link);
  watch(EPOLL_CTL_ADD, client, what, number + CLIENT);
  if (which == NAMES_TCP) return;
  if (!reach_gate(&link->ends[GATE])) return break_link(link);
  watch(EPOLL_CTL_ADD, link->ends[GATE].fd, what, number + GATE);
}

static void accept_links(enum listener which) {
  while (used < MAX_LINKS) {
    int client = accept4(FIRST_LISTENER + (int)which, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) return;
    if (client < 0) {
      paused_until = now_ms() + PAUSE_MS;
      break;
    }
    struct link *link = links;
    while (link->state != FREE) link++;
    begin_link(link, client, which);
  }
  accept_more(false);
}

static void take_event(const struct epoll_event *event) {
  if (event->data.u32 >= 2 * MAX_LINKS) {
    enum listener which = event->data.u32 - 2 * MAX_LINKS;
    return is_stream(which) ? accept_links(which) : answer_datagrams(FIRST_LISTENER + (int)which);
  }
  /* An event of a link that ended in this turn may wake the link in its place, which then finds no bytes. */
  struct link *link = &links[event->data.u32 / 2];
  if (link->state == FREE) return;
  struct end *end = &link->ends[event->data.u32 % 2];
  end->readable |= (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  end->writable |= (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
  link->busy = true;
}

/* Returns the milliseconds until the next turn is needed even without an event, or -1. */
int bridge_advance(void) {
  if (events < 0) return -1;
  struct epoll_event ready[EVENTS];
  int count = epoll_wait(events, ready, EVENTS, 0);
  for (int i = 0; i < count; i++) take_event(&ready[i]);
  bool busy = count == EVENTS;
  for (size_t i = 0, seen = 0, all = used; i < MAX_LINKS && seen < all; i++) {
    if (links[i].state == FREE) continue;
    seen++;
    if (links[i].busy) advance_link(&links[i]);
    busy |= links[i].state != FREE && links[i].busy;
  }
  if (busy) return 0;
  if (accepting || used == MAX_LINKS) return -1;
  uint64_t now = now_ms();
  if (paused_until > now) return (int)(paused_until - now);
  accept_more(true);
  return -1;
}
