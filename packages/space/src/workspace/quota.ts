/**
 * Keeps sessions within their share of the disk, and the disk from filling up, by measuring: no file system that this
 * runs on can be asked to do it. What is free is looked at each second; folders are gone through when much less is free
 * than when they were last, and each minute. A sandbox that has taken more than it may is ended, and starts again to
 * delete something. It may overshoot by what it writes in between: its filter of system calls lets nothing but writing take space.
 */
import { basename, join } from 'node:path'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import { freeOn as freeOnDisk, lackOf, megabytes, spaceBelow } from '@steward/sandbox/disk.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { MountedKind } from '../mounted-kinds.ts'

/** Told when the sandbox of a session has started, and when it has ended. */
export type DiskWatch = Required<Pick<MountedKind, 'started' | 'ended'>>

export type QuotaOptions = {
  /** Folder of all sessions' folders. */
  folder: string
  /** Others whose disks are looked at before a sandbox starts. */
  beside: readonly string[]
  /** What a session may take. */
  session: DiskSpace
  /** What must be free. */
  floor: DiskSpace
  report: (message: string, details: Record<string, unknown>) => void
  everyMs?: number
  /** What is free on the disk of a folder. */
  free?: (folder: string) => Promise<DiskSpace>
}

const nothing: DiskSpace = { bytes: 0, files: 0 }
/** What a session writes to, in its folder. */
const parts = ['workspace', 'outputs', 'user', 'memory']
/** Of so much less that is free, some session may have taken enough to matter: of its share the eighth part, at most this. */
const longestStep: DiskSpace = { bytes: 256 << 20, files: 20_000 }
const longestMs = 60_000
/** A session that has come to this is started no more, so that ends and starts do not add up. */
const mostTimes = 1.5

/** What a session writes to, and whether an earlier sandbox may have left something in it. */
export type WrittenFolders = { session: string; folders: readonly string[]; isKnown: boolean }

type Watched = {
  session: string
  folders: readonly string[]
  sandbox: Sandbox
  /** Undefined until it was first measured. */
  seen?: DiskSpace
  allowed: DiskSpace
}

const exceeds = (one: DiskSpace, other: DiskSpace): boolean =>
  one.bytes > other.bytes || one.files > other.files

const each = (
  choose: (...numbers: number[]) => number,
  one: DiskSpace,
  other: DiskSpace,
): DiskSpace => ({
  bytes: choose(one.bytes, other.bytes),
  files: choose(one.files, other.files),
})

const times = ({ bytes, files }: DiskSpace, factor: number): DiskSpace => ({
  bytes: bytes * factor,
  files: files * factor,
})

const shown = ({ bytes, files }: DiskSpace): string => `${megabytes(bytes)} in ${files} files`

export type DiskQuota = ReturnType<typeof diskQuota>

export function diskQuota({
  folder,
  beside,
  session,
  floor,
  report,
  everyMs,
  free: freeOn = freeOnDisk,
}: QuotaOptions) {
  const running = new Set<Watched>()
  const step = each(Math.min, longestStep, times(session, 1 / 8))
  let last: { at: number; free: DiskSpace } | undefined
  let passing: Promise<void> | undefined

  async function end(watched: Watched, why: string): Promise<void> {
    running.delete(watched)
    report('a sandbox was ended for the disk it takes', { session_id: watched.session, why })
    await watched.sandbox.close(why)
  }

  /** Bytes that it has taken since it was last looked at. */
  async function look(watched: Watched): Promise<number> {
    const before = watched.seen
    const now = await spaceBelow(watched.folders)
    watched.seen = now
    if (before === undefined) watched.allowed = each(Math.max, session, now)
    const limit = before === undefined ? times(session, mostTimes) : watched.allowed
    if (running.has(watched) && exceeds(now, limit))
      await end(
        watched,
        `the files of this session take ${shown(now)}, and may take ${shown(session)}: delete some`,
      )
    return before === undefined ? 0 : now.bytes - before.bytes
  }

  async function pass(): Promise<void> {
    if (running.size === 0) return
    const free = await freeOn(folder)
    const isLow = exceeds(floor, free)
    last ??= { at: performance.now(), free }
    const isDue =
      performance.now() - last.at >= longestMs ||
      last.free.bytes - free.bytes >= step.bytes ||
      last.free.files - free.files >= step.files ||
      (isLow && exceeds(last.free, free))
    if (isDue) last = { at: performance.now(), free }
    // New ones hold nothing yet, and nobody waits for a look at them.
    const chosen = [...running].filter(({ seen }) => isDue || seen === undefined)
    const taken: { watched: Watched; bytes: number }[] = []
    for (const watched of chosen) {
      // One session's failure keeps no other from being measured.
      const bytes = await look(watched).catch((error: unknown) => {
        report('the files of a session could not be measured', {
          session_id: watched.session,
          error,
        })
        return 0
      })
      taken.push({ watched, bytes })
    }
    const [first] = taken.toSorted((a, b) => b.bytes - a.bytes)
    if (isLow && first && first.bytes > 0 && running.has(first.watched))
      await end(
        first.watched,
        'the disk of the sandboxes is nearly full: delete what is not needed',
      )
  }

  const timer = setInterval(() => {
    passing ??= pass()
      .catch((error: unknown) => report('the disk could not be looked at', { error }))
      .finally(() => (passing = undefined))
  }, everyMs ?? 1_000)
  timer.unref()

  /** Rejects with `SandboxEnded` where the disk has no room for another. */
  async function watch({ session: id, folders, isKnown }: WrittenFolders): Promise<DiskWatch> {
    for (const disk of [folder, ...beside]) {
      const lack = await lackOf(disk, floor, freeOn)
      if (lack !== undefined) throw new SandboxEnded(lack)
    }
    let watched: Watched | undefined
    return {
      async started(sandbox) {
        watched = {
          session: id,
          folders,
          sandbox,
          allowed: session,
          ...(!isKnown && { seen: nothing }),
        }
        running.add(watched)
      },
      async ended() {
        if (watched) running.delete(watched)
      },
    }
  }

  return {
    watch,
    /** The same of a session's folder as the server lays it out. */
    kind: ({ folder: own, isKnown }: { folder: string; isKnown: boolean }): Promise<DiskWatch> =>
      watch({ session: basename(own), folders: parts.map((part) => join(own, part)), isKnown }),
    async close(): Promise<void> {
      clearInterval(timer)
      await passing
    },
  }
}
