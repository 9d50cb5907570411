/** What is laid out in a sandbox besides its workspace, and looked after while it runs. */
import type { Sandbox, SandboxMount } from '@steward/sandbox/sandbox.ts'

export type Furnished = {
  mounts?: readonly SandboxMount[]
  /** Variables of every command; those that the gate gives win. */
  env?: Readonly<Record<string, string>>
  /** Folders inside whose programs are found first. */
  path?: readonly string[]
  /** Host folder that stands over the sandbox's system; of one kind alone. */
  layer?: string
  /** Before the first command. */
  started?(sandbox: Sandbox): Promise<void>
  /** Before each call of a tool that uses the sandbox: brings what came since. */
  before?(sandbox: Sandbox): Promise<void>
  /** After each call that may have changed something, before its result is kept; lines for the model. */
  changed?(sandbox: Sandbox): Promise<readonly string[]>
  /** After each call of any tool, before its result is kept: lines for the model on what came meanwhile. */
  announced?(sandbox: Sandbox): Promise<readonly string[]>
  /** At the end of a turn, before its idle event is kept. */
  rested?(sandbox: Sandbox): Promise<void>
  /** After the sandbox has ended, or has not started. */
  ended?(): Promise<void>
}

/** `layer` is there where some kind has one. */
export type FurnishedAll = Required<Omit<Furnished, 'layer'>> & Pick<Furnished, 'layer'>

/** All kinds as one: laid out at once, then called in the order given. */
export async function furnish<Place>(
  kinds: readonly ((place: Place) => Promise<Furnished>)[],
  place: Place,
): Promise<FurnishedAll> {
  const laid = await Promise.allSettled(kinds.map((kind) => kind(place)))
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
  return {
    mounts: all.flatMap(({ mounts }) => mounts ?? []),
    env: Object.assign({}, ...all.map(({ env }) => env)),
    path: all.flatMap(({ path }) => path ?? []),
    ...(layer !== undefined && { layer }),
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
