/**
 * Kinds of mounts, for example files, stores and skills. Each mounts its folders into a sandbox and follows the sandbox
 * while it runs.
 */
import type { Sandbox, SandboxMount } from '@steward/sandbox/sandbox.ts'

export type MountedKind = {
  mounts?: readonly SandboxMount[]
  /** Variables of every command; the variables of the gate win over them. */
  env?: Readonly<Record<string, string>>
  /** Folders inside the sandbox that come first in `PATH`. */
  path?: readonly string[]
  /** A host folder that is laid over the sandbox's system. Only one kind may have one. */
  layer?: string
  /** See `SandboxSpec`. Only one kind may have it. */
  outputsAt?: string
  /** Called before the first command. */
  started?(sandbox: Sandbox): Promise<void>
  /** Called before each call of a tool that uses the sandbox; mounts whatever is new. */
  before?(sandbox: Sandbox): Promise<void>
  /** Called after each call that may have changed files, before its result is kept. Returns lines for the model. */
  changed?(sandbox: Sandbox): Promise<readonly string[]>
  /** Called after each call of any tool, before its result is kept. Returns lines for the model about new files. */
  announced?(sandbox: Sandbox): Promise<readonly string[]>
  /** Called at the end of a turn, before its idle event is kept. */
  rested?(sandbox: Sandbox): Promise<void>
  /** Called after the sandbox has ended, or has failed to start. */
  ended?(): Promise<void>
}

/** All kinds of one sandbox. `layer` and `outputsAt` are absent when no kind has one. */
export type MountedKinds = Required<Omit<MountedKind, 'layer' | 'outputsAt'>> &
  Pick<MountedKind, 'layer' | 'outputsAt'>

/** Mounts all kinds at the same time. Their hooks are called one after the other, in the given order. */
export async function mountKinds<Target>(
  kinds: readonly ((target: Target) => Promise<MountedKind>)[],
  target: Target,
): Promise<MountedKinds> {
  const laid = await Promise.allSettled(kinds.map((kind) => kind(target)))
  const all = laid.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const ended = async () => {
    const done = await Promise.allSettled(all.map(async (each) => each.ended?.()))
    for (const each of done) if (each.status === 'rejected') throw each.reason
  }
  const failed = laid.find((each) => each.status === 'rejected')
  if (failed) {
    await ended()
    throw failed.reason
  }
  const layer = all.find((each) => each.layer !== undefined)?.layer
  const outputsAt = all.find((each) => each.outputsAt !== undefined)?.outputsAt
  return {
    mounts: all.flatMap(({ mounts }) => mounts ?? []),
    env: Object.assign({}, ...all.map(({ env }) => env)),
    path: all.flatMap(({ path }) => path ?? []),
    ...(layer !== undefined && { layer }),
    ...(outputsAt !== undefined && { outputsAt }),
    async started(sandbox) {
      for (const each of all) await each.started?.(sandbox)
    },
    async before(sandbox) {
      for (const each of all) await each.before?.(sandbox)
    },
    async changed(sandbox) {
      const lines: string[] = []
      for (const each of all) lines.push(...((await each.changed?.(sandbox)) ?? []))
      return lines
    },
    async announced(sandbox) {
      const lines: string[] = []
      for (const each of all) lines.push(...((await each.announced?.(sandbox)) ?? []))
      return lines
    },
    async rested(sandbox) {
      for (const each of all) await each.rested?.(sandbox)
    },
    ended,
  }
}
