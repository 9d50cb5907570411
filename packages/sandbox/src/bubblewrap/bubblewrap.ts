/** Sandboxes by bubblewrap: namespaces, a system-call filter, no network, and on a root server a user for each. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { agentBinary } from '../agent/binary.ts'
import { forgetRecord, killRecorded, writeRecord } from '../record.ts'
import { remoteSandbox } from '../remote.ts'
import type { Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'
import type { Group, Limiter } from './limits.ts'
import { findLimiter } from './limits.ts'
import {
  agentPath,
  makeEtc,
  nodeFolder,
  ripgrepFile,
  ripgrepPath,
  rootArguments,
  searchPath,
  user,
} from './rootfs.ts'
import { seccompFilter } from './seccomp.ts'

const endWithinMs = 2_000
const openFiles = 4_096

/** Prepared once for all sandboxes of this process. */
type Prepared = {
  bwrap: string
  folder: string
  filter: string
  etc: string
  limiter: Limiter
  asRoot: boolean
}

export function bubblewrapSandboxes(): SandboxProvider {
  let prepared: Prepared | undefined
  const prepare = () => (prepared ??= prepareOnce())
  return {
    name: 'bubblewrap',
    async check() {
      if (!findBwrap()) {
        return {
          ok: false,
          why: 'bubblewrap is not installed',
          remedy: 'apt-get install bubblewrap',
        }
      }
      try {
        await tryOut(prepare())
      } catch (error) {
        return {
          ok: false,
          why: (error as Error).message,
          remedy: remedyFor((error as Error).message),
        }
      }
      return {
        ok: true,
        isolation: { level: 'kernel', network: 'none', limits: prepare().limiter.kind },
      }
    },
    acquire: (spec) => start(prepare(), spec),
    reap: async ({ workspace }) => killRecorded(workspace),
  }
}

const findBwrap = (): string | undefined =>
  ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap'].find((path) => existsSync(path))

function prepareOnce(): Prepared {
  const bwrap = findBwrap()
  if (!bwrap) throw new SandboxEnded('bubblewrap is not installed: apt-get install bubblewrap')
  const folder = mkdtempSync(join(tmpdir(), 'steward-sandbox-'))
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const filter = join(folder, 'filter.bpf')
  writeFileSync(filter, seccompFilter())
  const etc = makeEtc(join(folder, 'etc'))
  return { bwrap, folder, filter, etc, limiter: findLimiter(), asRoot: process.getuid?.() === 0 }
}

function remedyFor(message: string): string {
  if (/user namespace|uid map|No permissions to create/i.test(message)) {
    return 'allow user namespaces: on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap; elsewhere `sysctl kernel.unprivileged_userns_clone=1`'
  }
  if (/mount proc|pivot_root|Operation not permitted/i.test(message)) {
    return 'inside a container, run it with seccomp=unconfined and systempaths=unconfined as an ordinary user; or set SANDBOX_PROVIDER=local for a trial without isolation'
  }
  return 'see docs/operations.md, or set SANDBOX_PROVIDER=local for a trial without isolation'
}

async function tryOut(prepared: Prepared): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'steward-check-'))
  const limits = { memory: 128 << 20, processes: 32, cpus: 1, scratch: 1 << 20 }
  const spec = {
    id: 'check',
    workspace: join(folder, 'w'),
    outputs: join(folder, 'o'),
    env: {},
    limits,
  }
  try {
    mkdirSync(spec.workspace)
    mkdirSync(spec.outputs)
    const sandbox = await start(prepared, spec)
    await sandbox.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same host user for a session on every machine: far above people and services, and hardly ever shared. */
const userOf = (id: string): number =>
  (1 << 28) + (createHash('sha256').update(id).digest().readUInt32LE() >>> 4)

async function start(prepared: Prepared, spec: SandboxSpec): Promise<Sandbox> {
  const uid = prepared.asRoot ? userOf(spec.id) : undefined
  if (uid !== undefined) for (const folder of [spec.workspace, spec.outputs]) giveTo(folder, uid)
  const group = prepared.limiter.group(spec.limits)
  const child = launch(prepared, spec, uid, group)
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < 2_000) errors += text
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.once('error', (error) => (errors += error.message))
  if (child.pid) writeRecord(spec.workspace, child.pid)
  try {
    return await remoteSandbox({
      id: spec.id,
      stream: { input: child.stdin as Writable, output: child.stdout as Readable },
      places: {
        bash: '/bin/bash',
        ripgrep: ripgrepPath,
        state: '/run/shell',
        spill: '/tmp',
        workspace: '/workspace',
      },
      env: {
        PATH: searchPath,
        HOME: user.home,
        USER: user.name,
        LANG: 'C.UTF-8',
        TERM: 'dumb',
        ...spec.env,
      },
      spillMax: spec.limits.scratch,
      async stop() {
        const timer = setTimeout(() => child.kill('SIGKILL'), endWithinMs)
        await gone
        clearTimeout(timer)
        forgetRecord(spec.workspace, child.pid)
        group.remove()
      },
    })
  } catch (cause) {
    const said = errors.trim()
    throw new SandboxEnded(`the sandbox did not start: ${said || (cause as Error).message}`, {
      cause,
    })
  }
}

/** Made by the server and owned by it until now; what a session put inside is its own already. */
function giveTo(folder: string, uid: number): void {
  if (statSync(folder).uid !== uid) chownSync(folder, uid, uid)
}

function launch(
  prepared: Prepared,
  spec: SandboxSpec,
  uid: number | undefined,
  group: Group,
): ChildProcess {
  const sources = [prepared.etc, agentBinary(), ripgrepFile, spec.workspace, spec.outputs]
  const node = nodeFolder()
  if (node) sources.push(node)
  // Staged paths are reachable for the session's user whatever the folders above them permit.
  const seen = (index: number) => (uid === undefined ? (sources[index] ?? '') : `/mnt/${index}`)
  const root = rootArguments({
    etc: seen(0),
    agent: seen(1),
    ripgrep: seen(2),
    node: node && seen(5),
  })
  const size = String(spec.limits.scratch)
  const bwrap = [
    ...[
      '--unshare-all',
      '--die-with-parent',
      '--as-pid-1',
      '--new-session',
      '--clearenv',
      '--cap-drop',
      'ALL',
    ],
    ...['--uid', String(user.id), '--gid', String(user.id), '--hostname', 'sandbox'],
    ...root,
    ...['--perms', '1777', '--size', size, '--tmpfs', '/tmp', '--size', size, '--tmpfs', '/run'],
    ...[
      '--perms',
      '0755',
      '--size',
      size,
      '--tmpfs',
      user.home,
      '--perms',
      '0700',
      '--dir',
      '/run/shell',
    ],
    ...['--bind', seen(3), '/workspace', '--bind', seen(4), '/mnt/session/outputs'],
    ...['--remount-ro', '/', '--chdir', '/workspace', '--seccomp', '4'],
  ]
  const limits = ['--processes', String(spec.limits.processes), '--files', String(openFiles)]
  const command = [prepared.bwrap, '--args', '3', '--', agentPath, ...limits]
  const staged =
    uid === undefined ? [] : [...sources.flatMap((path) => ['--stage', path]), '--uid', String(uid)]
  const joined = group.joins.flatMap((file) => ['--group', file])
  const filter = openSync(prepared.filter, 'r')
  try {
    const child = spawn(agentBinary(), ['launch', ...joined, ...staged, '--', ...command], {
      env: {},
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', filter],
    })
    const given = child.stdio[3] as Duplex
    given.on('error', () => {})
    given.end(`${bwrap.join('\0')}\0`)
    return child
  } finally {
    closeSync(filter)
  }
}
