/**
 * Users for sandboxes of a server that is not root. The server enters a user namespace where it is root over itself and
 * over the subordinate ids of its account (/etc/subuid, /etc/subgid), and gives each session one of these ids. The
 * kernel counts some resources for each user (epoll watches, pipe pages, locked memory). With a shared user a sandbox
 * could use them up and end the server's process.
 */
import { spawnSync } from 'node:child_process'
import { daemonBinary } from './daemon/binary.ts'

/** The command, from util-linux, that enters the namespace. newuidmap and newgidmap map the ids. */
export const userMapping = [
  ...['/usr/bin/unshare', '--user', '--map-user=0', '--map-group=0'],
  ...['--map-users=auto', '--map-groups=auto', '--'],
] as const
const [program, ...options] = userMapping
const trialMs = 5_000

/** True when the launcher of sandboxes works inside such a namespace. */
function isPossible(): boolean {
  const launch = ['launch', '--stage', '/', '--uid', '1', '--', '/bin/true']
  const { status } = spawnSync(program, [...options, daemonBinary(), ...launch], {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    stdio: 'ignore',
    timeout: trialMs,
  })
  return status === 0
}

/**
 * Restarts this program inside the namespace, as the same process. Returns when it is inside already, is root, or
 * cannot enter.
 */
export function enterOwnUsers(): void {
  if (process.getuid?.() === 0 || !isPossible()) return
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(program, [program, ...options, ...command])
}
