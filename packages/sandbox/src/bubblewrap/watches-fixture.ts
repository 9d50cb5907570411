/**
 * For tests: a server whose sandbox uses up the epoll watches, which the kernel counts for each user. The server needs
 * a watch for each socket; libuv ends its process when it gets none. Prints `alive` at the end.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { bench, run } from '../fixture.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const calls =
  process.arch === 'x64'
    ? { create: 291, control: 233, event: 290 }
    : { create: 20, control: 21, event: 19 }
/** Numbers for one process, which may have 4,096 descriptors. */
const [epolls, events] = [2_040, 2_040]
const most = Number(readFileSync('/proc/sys/fs/epoll/max_user_watches', 'utf8'))
const processes = Math.ceil(most / (epolls * events)) + 1

/** Adds all events to all epolls and prints the error that ends this: 28 is ENOSPC. */
const attack = `
  my ($i, $event) = (0, pack("LQ", 1, 0));
  my @events = map { syscall(${calls.event}, 0, 0) } 1..${events};
  my @epolls = map { syscall(${calls.create}, 0) } 1..${epolls};
  for my $epoll (@epolls) { for my $fd (@events) {
    next if syscall(${calls.control}, $epoll, 1, $fd, $event) == 0;
    syswrite(STDOUT, ($! + 0) . "\\n"); sleep 120; exit;
  } }
  syswrite(STDOUT, "all\\n"); sleep 120`

await using setup = bench(bubblewrapSandboxes())
const sandbox = await setup.open({ limits: { memory: 4 * 2 ** 30 } })
const begin = `for each in $(seq ${processes}); do perl -e '${attack}' >/tmp/$each & done`
const wait = `until [ $(cat /tmp/[0-9]* | wc -l) = ${processes} ]; do sleep 0.1; done; cat /tmp/[0-9]* | sort -u`
// Millions of calls take about five seconds, and several times as long on a busy machine.
const patienceMs = 100_000
const { output: ends } = await run(sandbox, `(${begin}) >/dev/null 2>&1; ${wait}`, patienceMs)
if (!ends.split('\n').includes('28')) throw new Error(`no watches were used up: ${ends}`)
const server = createServer((socket) => socket.end('alive')).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
process.stdout.write(`${await text(connect(port, '127.0.0.1'))}\n`)
server.close()
