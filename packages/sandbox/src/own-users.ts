/**
 * Users for sandboxes of a server that is not root: the server goes into a user namespace in which it is root over
 * itself and over the subordinate ids of its account (/etc/subuid, /etc/subgid), and gives each session one of those.
 * What the kernel counts for each user (watches of epoll, pages of pipes, memory that is locked) is then not the
 * server's own count: where it is, a sandbox can use it up, and the server's process ends when it is.
 */
import { spawnSync } from 'node:child_process'
import { agentBinary } from './agent/binary.ts'

/** Of util-linux, which has the ids mapped by newuidmap and newgidmap. */
export const mapping = [
  ...['/usr/bin/unshare', '--user', '--map-user=0', '--map-group=0'],
  ...['--map-users=auto', '--map-groups=auto', '--'],
] as const
const [program, ...options] = mapping
const trialMs = 5_000

/** Whether the launcher of sandboxes can do there what it must. */
function isPossible(): boolean {
  const launch = ['launch', '--stage', '/', '--uid', '1', '--', '/bin/true']
  const { status } = spawnSync(program, [...options, agentBinary(), ...launch], {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    stdio: 'ignore',
    timeout: trialMs,
  })
  return status === 0
}

/** The same program begins anew there, as the same process. Returns where it is there already, is root, or cannot. */
export function enterOwnUsers(): void {
  if (process.getuid?.() === 0 || !isPossible()) return
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(program, [program, ...options, ...command])
}
