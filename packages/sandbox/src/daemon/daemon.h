/* Shared declarations of the sandbox daemon. frames.ts describes the protocol; numbers are little endian. */
#ifndef DAEMON_H
#define DAEMON_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  PROTOCOL_VERSION = 3,
  HEADER_BYTES = 5,               /* type and id, after the length */
  MAX_REQUEST_BYTES = 1 << 20,    /* one frame from the server */
  MAX_DATA_BYTES = 64 << 10,      /* payload of one DATA frame to the server */
  HIGH_WATER_BYTES = 256 << 10,   /* above it no output is produced and no request is read */
  MAX_KEEP_BYTES = 1 << 20,       /* largest output in one reply */
  MAX_JOBS = 256,
  MAX_STREAMS = 64,               /* running reads, writes and walks, of each kind */
};

enum request { EXEC = 1, KILL, KILL_ALL, READ, WRITE, WRITE_DATA, WRITE_END, WALK, REMOVE, PEEK };
enum reply { READY = 64, DATA, EXITED, DONE, FAILED };
enum { SPILLED_FLAG = 1, KILLED_FLAG = 2 }; /* flags of EXITED */
enum failure { NOT_FOUND = 1, NOT_A_FILE, NOT_A_DIRECTORY, DENIED, TOO_LARGE, IO };

/* wire.c: outgoing frames (queued, written when the server reads) and the parts of a request. */

struct request_reader {
  const char *at;
  const char *end;
};

uint32_t take_u32(struct request_reader *reader);
uint64_t take_u64(struct request_reader *reader);
const char *take_string(struct request_reader *reader);

void put_u32(unsigned char *to, uint32_t value);
void put_u64(unsigned char *to, uint64_t value);

void send_frame(enum reply type, uint32_t id, const void *payload, size_t size);
void send_failure(uint32_t id, enum failure code, const char *message);
void send_errno(uint32_t id, int error);
bool output_waiting(void);
bool output_full(void);
void flush_output(void);

/* jobs.c: commands, each in its own session and process group. */

void jobs_start(uint32_t id, struct request_reader *request);
void jobs_kill(uint32_t id, uint32_t grace_ms);
void jobs_kill_all(void);
void jobs_peek(uint32_t id, struct request_reader *request);
void jobs_reap(void);
size_t jobs_poll(struct pollfd *fds);
void jobs_read(const struct pollfd *fds, size_t count);
int jobs_advance(bool *held);

/* files.c and walk.c: each call runs in steps, so that no call blocks the loop. */

void files_read(uint32_t id, struct request_reader *request);
void files_write(uint32_t id, struct request_reader *request);
void files_write_data(uint32_t id, struct request_reader *request);
void files_write_end(uint32_t id);
void files_remove(uint32_t id, struct request_reader *request);
bool files_advance(void);
void walk_start(uint32_t id, struct request_reader *request);
bool walk_advance(void);

/* names.c and bridge.c: connect a sandbox to its gate, if it has one. */

enum { MAX_QUERY_BYTES = 512, MAX_ANSWER_BYTES = MAX_QUERY_BYTES + 16 };
enum listener { NAMES_UDP, NAMES_TCP, SECURE, PLAIN, PROXY, LISTENERS };
enum { FIRST_LISTENER = 10 }; /* descriptors of the listeners, which the daemon inherits */

/* Returns the size of the answer; 0 for a query to ignore. */
size_t names_answer(const unsigned char *query, size_t size, unsigned char answer[MAX_ANSWER_BYTES]);
const char *names_find(uint32_t address);
void bridge_open(const char *gate);
int bridge_fd(void);
int bridge_advance(void);

/* launch.c and listen.c: the second role of this program, outside of the sandbox. */
int launch(int count, char **arguments);
void listen_inside(bool own);
void refuse(const char *what, const char *on) __attribute__((noreturn));

/* daemon.c */
void die(const char *why) __attribute__((noreturn));
void *allocate(size_t size);
uint64_t now_ms(void);
extern bool is_init;

#endif
