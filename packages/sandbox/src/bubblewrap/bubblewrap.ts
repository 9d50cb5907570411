/**
 * Sandboxes by bubblewrap: namespaces, a system-call filter and no network. On a root server each sandbox also has its
 * own user.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { egressVariables } from '../egress/variables.ts'
import { chownFolders, chownSocket, sessionUser } from '../ownership.ts'
import { forgetRecord, killRecorded, writeRecord } from '../record.ts'
import { remoteSandbox } from '../daemon-sandbox.ts'
import type { Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'
import { tryProvider } from '../trial.ts'
import type { Launcher, LauncherKind } from './launcher.ts'
import { createLauncher, givenDescriptors, spareLaunchers } from './launcher.ts'
import type { Limiter } from './limits.ts'
import { findLimiter } from './limits.ts'
import {
  daemonPath,
  certificatesPath,
  gatePath,
  ripgrepPath,
  rootArguments,
  searchPath,
  sandboxUser,
} from './rootfs.ts'
import { seccompFilter } from './seccomp.ts'

const endWithinMs = 2_000
const openFiles = 4_096
/** Address space that a process such as Node reserves and never uses, but that an rlimit counts. */
const reservedBytes = 640 << 20

const paths = {
  bash: '/bin/bash',
  ripgrep: ripgrepPath,
  state: '/run/shell',
  spill: '/tmp',
  workspace: '/workspace',
}
const environment = {
  HOME: sandboxUser.home,
  USER: sandboxUser.name,
  LANG: 'C.UTF-8',
  TERM: 'dumb',
}

const egressEnv = egressVariables('http://127.0.0.1:3128', certificatesPath)

export type BubblewrapOptions = {
  /** Called once, at the first sandbox or check. */
  findLimits?: () => Limiter
  /** Host folders of unpacked root file systems, by image name. */
  roots?: ReadonlyMap<string, string>
  /** Number of launchers that wait for sandboxes with a gate, from the first such sandbox on. */
  spares?: number
}

export function bubblewrapSandboxes({
  findLimits = findLimiter,
  roots = new Map(),
  spares = 0,
}: BubblewrapOptions = {}): SandboxProvider {
  let found: Limiter | undefined
  const launchers = spareLaunchers(spares)
  const limiter = () => (found ??= findLimits())
  const systemOf = (image: string | undefined) => (image === undefined ? '/' : roots.get(image))
  function begin(spec: SandboxSpec, take: TakeLauncher = createLauncher): Promise<Sandbox> {
    return start(spec, systemOf(spec.image), { limiter: limiter(), take })
  }
  return {
    name: 'bubblewrap',
    refuseImage: (reference) => refuseRoot(reference, roots),
    systemOf,
    imageOf: async () => undefined,
    async check() {
      try {
        await tryProvider((spec) => begin(spec))
      } catch (error) {
        if (!(error instanceof SandboxEnded)) throw error
        return { ok: false, why: error.message, remedy: remedyFor(error.message) }
      }
      const isolation = { level: 'kernel', network: 'none', gate: true } as const
      const users = sessionUser('') === undefined ? 'shared' : 'own'
      return { ok: true, isolation: { ...isolation, limits: limiter().kind, users } }
    },
    acquire: (spec) => begin(spec, spec.egress ? launchers.take : createLauncher),
    close: launchers.close,
    reap: async ({ workspace }) => killRecorded(workspace),
  }
}

function refuseRoot(name: string, roots: ReadonlyMap<string, string>): string | undefined {
  const root = roots.get(name)
  if (root !== undefined)
    return existsSync(join(root, 'usr')) ? undefined : `the root folder ${name} is not there`
  const names = [...roots.keys()].join(', ')
  const none = 'the sandboxes of this server (bubblewrap) start from no image'
  return names
    ? `${none}, and ${name} is none of its root folders: ${names}`
    : `${none}, and it has no root folders`
}

const remedies: readonly [RegExp, string][] = [
  [
    /user namespace with a network/,
    'allow user namespaces to more than bwrap, `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or run the server as root',
  ],
  [
    /cannot (raise|listen)/,
    'give its container CAP_NET_ADMIN and CAP_NET_BIND_SERVICE, or run the server in it as an ordinary user',
  ],
  [/not installed/, 'apt-get install bubblewrap'],
  [
    /user namespace|uid map|No permissions to create/i,
    'allow user namespaces: on Ubuntu an AppArmor profile for bwrap or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, elsewhere `sysctl kernel.unprivileged_userns_clone=1`',
  ],
  [
    /become user/,
    'this container maps too few users to give each session its own: run the server as an ordinary user in it',
  ],
  [
    /mount proc|pivot_root|hostname|Operation not permitted|cannot (stage|mount)/i,
    'inside a container, let it make user namespaces (docs/containers.md has the flags for Docker, Podman and Kubernetes, and a system-call filter for them), or leave the sandboxes to workers by SANDBOX_PROVIDER=none',
  ],
]

function remedyFor(why: string): string {
  const remedy = remedies.find(([pattern]) => pattern.test(why))?.[1]
  const trial = 'set SANDBOX_PROVIDER=local for a trial without isolation'
  return remedy === undefined ? `see docs/sandboxes.md, or ${trial}` : `${remedy}; or ${trial}`
}

type TakeLauncher = (limiter: Limiter, kind: LauncherKind) => Launcher

/** Rejects only with `SandboxEnded`, and leaves nothing behind then. */
async function start(
  spec: SandboxSpec,
  root: string | undefined,
  { limiter, take }: { limiter: Limiter; take: TakeLauncher },
): Promise<Sandbox> {
  let launcher: Launcher | undefined
  try {
    if (root === undefined) throw new Error(`there is no root folder named ${spec.image}`)
    const bwrap = findBwrap()
    const uid = sessionUser(spec.id)
    await chownFolders(spec, uid)
    if (spec.egress && uid !== undefined) chownSocket(spec.egress.socket, uid)
    launcher = take(limiter, { limits: spec.limits, isBridged: spec.egress !== null })
    launch(launcher, spec, { bwrap, uid, root, isLimited: limiter.kind !== 'rlimit' })
    return await connectTo(launcher, spec)
  } catch (cause) {
    launcher?.group.remove()
    const why = launcher?.errors() || (cause as Error).message
    throw new SandboxEnded(`the sandbox did not start: ${why}`, { cause })
  }
}

function connectTo({ child, group }: Launcher, spec: SandboxSpec): Promise<Sandbox> {
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  if (child.pid) writeRecord(spec.workspace, child.pid)
  return remoteSandbox({
    id: spec.id,
    stream: { input: child.stdin as Writable, output: child.stdout as Readable },
    paths,
    env: {
      PATH: [...(spec.path ?? []), searchPath].join(':'),
      ...environment,
      ...spec.env,
      ...(spec.egress && egressEnv),
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
}

/** Paths of the bubblewrap program, tried in this order. `PATH` is not used. */
export const bwrapPaths: readonly string[] = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
]

function findBwrap(): string {
  const found = bwrapPaths.find((path) => existsSync(path))
  if (found === undefined) throw new SandboxEnded('bubblewrap is not installed')
  return found
}

const isolation = [
  ...['--unshare-all', '--die-with-parent', '--as-pid-1', '--new-session', '--clearenv'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
  ...[
    '--uid',
    String(sandboxUser.id),
    '--gid',
    String(sandboxUser.id),
    '--seccomp',
    String(givenDescriptors.filter),
  ],
]

type LaunchSetup = {
  bwrap: string
  uid: number | undefined
  root: string
  /** False when no control group limits the memory of all processes together. */
  isLimited: boolean
}

function launch(
  launcher: Launcher,
  spec: SandboxSpec,
  { bwrap, uid, root, isLimited }: LaunchSetup,
): void {
  const { layer } = spec
  const staged: string[] = []
  // Staged paths can be reached by the session's user whatever the permissions of the folders above them are.
  const stage = (path: string) => `/mnt/${staged.push(path) - 1}`
  const find = uid === undefined && layer === undefined ? (path: string) => path : stage
  const usr = join(root, 'usr')
  const lower = layer === undefined ? [] : [stage(join(layer, 'usr')), stage(usr)]
  const system = { root, usr: layer === undefined ? find(usr) : '/mnt/system', layer }
  const view = rootArguments(find, system, spec)
  const { processes, memory, file } = spec.limits
  const each = isLimited ? {} : { data: memory + reservedBytes }
  const limits = { processes, files: openFiles, 'file-bytes': file, ...each }
  const daemon = [
    ...(spec.egress ? ['--gate', gatePath] : []),
    ...Object.entries(limits).flatMap(([name, value]) => [`--${name}`, String(value)]),
  ]
  const steps = [
    ...staged.flatMap((path) => ['--stage', path]),
    ...(layer === undefined ? [] : ['--lower', lower.join(':')]),
    ...(uid === undefined ? [] : ['--uid', String(uid)]),
    ...['--', bwrap, '--args', String(givenDescriptors.arguments), '--', daemonPath, ...daemon],
  ]
  // `--share-net` shares the network namespace that the launcher has made.
  const network = spec.egress ? ['--share-net'] : []
  // Arguments on the command line of bubblewrap would be visible to other processes.
  launcher.give(givenDescriptors.arguments, listOf([...isolation, ...network, ...view]))
  launcher.give(givenDescriptors.filter, seccompFilter())
  launcher.give(givenDescriptors.launcher, listOf(steps))
}

const listOf = (words: readonly string[]): string => words.map((word) => `${word}\0`).join('')
