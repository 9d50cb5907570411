/**
 * Processes that become sandboxes. Such a process has joined its control groups and has its network before it knows
 * which sandbox it becomes.
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { expectStarted } from '@steward/base/started-program.ts'
import { daemonBinary } from '../daemon/binary.ts'
import type { SandboxLimits } from '../sandbox.ts'
import type { LimitGroup, Limiter } from './limits.ts'

/**
 * Descriptors that the launcher reads: bubblewrap's arguments, its filter of system calls, and the launcher's own
 * arguments.
 */
export const givenDescriptors = { arguments: 3, filter: 4, launcher: 5 } as const

const maxErrorChars = 2_000

/** Properties of a launcher that are fixed at its creation. */
export type LauncherKind = { limits: SandboxLimits; isBridged: boolean }

export type Launcher = {
  kind: LauncherKind
  child: ChildProcess
  group: LimitGroup
  /** The stderr of the process, and the reason when it did not start. */
  errors: () => string
  /** Writes the whole input of a descriptor. Nothing is written twice. */
  give: (descriptor: number, bytes: string | Uint8Array) => void
}

/** The process waits for its arguments, and ends when this process ends. */
export function createLauncher(limiter: Limiter, kind: LauncherKind): Launcher {
  const group = limiter.group(kind.limits)
  const prelude = [
    ...group.joins.flatMap((file) => ['--group', file]),
    ...(kind.isBridged ? ['--network', 'bridge'] : []),
    ...['--await', String(givenDescriptors.launcher)],
  ]
  let child: ChildProcess
  try {
    child = expectStarted(
      spawn(daemonBinary(), ['launch', ...prelude], {
        env: {},
        stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
      }),
    )
  } catch (error) {
    group.remove()
    throw error
  }
  let errors = ''
  child.once('error', (error) => (errors += error.message))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (errors.length < maxErrorChars) errors += text
  })
  return {
    kind,
    child,
    group,
    errors: () => errors.trim(),
    give(descriptor, bytes) {
      const pipe = child.stdio[descriptor] as Socket
      pipe.on('error', () => {})
      pipe.end(bytes)
    },
  }
}

export type SpareLaunchers = {
  /** A spare launcher of this kind, or a new one. */
  take: (limiter: Limiter, kind: LauncherKind) => Launcher
  /** Ends the spare launchers, and makes no more. */
  close: () => Promise<void>
}

/**
 * Keeps up to `most` launchers of the kind that was taken last. To create one takes longer than everything after it:
 * forking a process of the server's size, and joining control groups, which waits for every processor. A spare launcher
 * belongs to no session.
 */
export function spareLaunchers(most: number): SpareLaunchers {
  const spares: Launcher[] = []
  const ending = new Set<Promise<void>>()
  let isClosed = false
  let refilling: NodeJS.Immediate | undefined

  function drop(spare: Launcher): void {
    const at = spares.indexOf(spare)
    if (at === -1) return
    spares.splice(at, 1)
    const ended = endLauncher(spare).finally(() => ending.delete(ended))
    ending.add(ended)
  }

  /** Creates launchers one after the other, while the sandbox that took one prepares itself in other processes. */
  function refill(limiter: Limiter, kind: LauncherKind): void {
    clearImmediate(refilling)
    if (isClosed || spares.length >= most) return
    refilling = setImmediate(() => {
      if (add(limiter, kind)) refill(limiter, kind)
    })
  }

  /** False when none can be created: the next sandbox then creates its own, and reports why that fails. */
  function add(limiter: Limiter, kind: LauncherKind): boolean {
    let spare: Launcher
    try {
      spare = createLauncher(limiter, kind)
    } catch {
      return false
    }
    if (spare.child.pid === undefined) {
      spare.group.remove()
      return false
    }
    spares.push(spare)
    setReferenced(spare, false)
    spare.child.once('exit', () => drop(spare))
    return true
  }

  return {
    take(limiter, kind) {
      for (const spare of [...spares]) if (!isDeepStrictEqual(spare.kind, kind)) drop(spare)
      const spare = spares.shift()
      refill(limiter, kind)
      if (!spare) return createLauncher(limiter, kind)
      setReferenced(spare, true)
      return spare
    },
    async close() {
      isClosed = true
      clearImmediate(refilling)
      for (const spare of [...spares]) drop(spare)
      await Promise.all(ending)
    },
  }
}

/** A spare launcher does not keep this process alive. */
function setReferenced({ child }: Launcher, isReferenced: boolean): void {
  const change = isReferenced ? 'ref' : 'unref'
  child[change]()
  for (const pipe of child.stdio) (pipe as Socket | null)?.[change]()
}

async function endLauncher({ child, group }: Launcher): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.ref()
    child.kill('SIGKILL')
    await gone
  }
  group.remove()
}
