/**
 * Keeps sessions within their share of the disk, and keeps the disk from filling up, by measurement: no file system here can enforce
 * a share. It reads the free space each second. It measures folders each minute, and when much less space is free than at the last
 * measurement. A sandbox beyond its share is ended, and starts again so that the session can delete files. A session may write
 * more than its share between two measurements: its filter of system calls lets only writes take space.
 */
import { basename, join } from 'node:path'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import { freeSpaceOf as freeOnDisk, lackOf, megabytes, spaceBelow } from '@steward/sandbox/disk.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { MountedKind } from '../mounted-kinds.ts'

/** Called when the sandbox of a session has started, and when it has ended. */
export type DiskWatch = Required<Pick<MountedKind, 'started' | 'ended'>>

export type QuotaOptions = {
  /** The folder that holds the folders of all sessions. */
  folder: string
  /** Other folders whose disks must have room before a sandbox starts. */
  beside: readonly string[]
  /** Bytes that a session may take. */
  session: DiskSpace
  /** Bytes that must stay free. */
  floor: DiskSpace
  report: (message: string, details: Record<string, unknown>) => void
  everyMs?: number
  /** Free bytes on the disk of a folder. */
  free?: (folder: string) => Promise<DiskSpace>
}

const nothing: DiskSpace = { bytes: 0, files: 0 }
/** Folders that a session writes to, below its own. */
const parts = ['workspace', 'outputs', 'user', 'memory']
/** Of so much less that is free, some session may have taken enough to matter: of its share the eighth part, at most this. */
const longestStep: DiskSpace = { bytes: 256 << 20, files: 20_000 }
const longestMs = 60_000
/** A session beyond this size is not started again, so that repeated starts do not add up. */
const mostTimes = 1.5

/** The folders that a session writes to, and whether an earlier sandbox may have left files in them. */
export type WrittenFolders = {
  session: string
  folders: readonly string[]
  isKnown: boolean
  /** What this session may take now, where that is not what all may. */
  may?: () => DiskSpace
}

type WrittenFolder = { folder: string } & Pick<WrittenFolders, 'isKnown' | 'may'>

const foldersOf = ({ folder, isKnown, may }: WrittenFolder): WrittenFolders => ({
  session: basename(folder),
  folders: parts.map((part) => join(folder, part)),
  isKnown,
  ...(may && { may }),
})

type WatchedSession = {
  session: string
  folders: readonly string[]
  sandbox: Sandbox
  /** Undefined before the first measurement. */
  seen?: DiskSpace
  may: () => DiskSpace
  /** What it takes already, where that is more than it may. */
  least: DiskSpace
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

/** Says by free space when folders are to be measured: where less is free by `step`, or by anything while it is low. */
function watchRoom(step: DiskSpace) {
  let at = -Infinity
  /** The most since the last measurement: room that others make hides nothing that a session takes after it. */
  let most = nothing
  function begin(free: DiskSpace): void {
    at = performance.now()
    most = free
  }
  return {
    begin,
    isDue(free: DiskSpace, isLow: boolean): boolean {
      most = each(Math.max, most, free)
      const isDue =
        performance.now() - at >= longestMs ||
        most.bytes - free.bytes >= step.bytes ||
        most.files - free.files >= step.files ||
        (isLow && exceeds(most, free))
      if (isDue) begin(free)
      return isDue
    },
  }
}

export type DiskQuota = ReturnType<typeof diskQuota>

export function diskQuota({
  folder,
  beside,
  session,
  floor,
  report,
  everyMs,
  free: freeSpaceOf = freeOnDisk,
}: QuotaOptions) {
  const running = new Set<WatchedSession>()
  const room = watchRoom(each(Math.min, longestStep, times(session, 1 / 8)))
  let passing: Promise<void> | undefined

  async function end(watched: WatchedSession, why: string): Promise<void> {
    running.delete(watched)
    report('a sandbox was ended for the disk it takes', { session_id: watched.session, why })
    await watched.sandbox.close(why)
  }

  /** Bytes that the session has taken since its last measurement. */
  async function look(watched: WatchedSession): Promise<number> {
    const before = watched.seen
    const now = await spaceBelow(watched.folders)
    watched.seen = now
    const may = watched.may()
    if (before === undefined) watched.least = now
    const limit = before === undefined ? times(may, mostTimes) : each(Math.max, may, watched.least)
    if (running.has(watched) && exceeds(now, limit))
      await end(
        watched,
        `the files of this session take ${shown(now)}, and may take ${shown(may)}: delete some`,
      )
    return before === undefined ? 0 : now.bytes - before.bytes
  }

  async function pass(): Promise<void> {
    if (running.size === 0) return
    const free = await freeSpaceOf(folder)
    const isLow = exceeds(floor, free)
    const isDue = room.isDue(free, isLow)
    // New folders hold nothing yet, and nobody waits for their measurement.
    const chosen = [...running].filter(({ seen }) => isDue || seen === undefined)
    const taken: { watched: WatchedSession; bytes: number }[] = []
    for (const watched of chosen) {
      // The failure of one session must not keep the others from being measured.
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
  async function watch({
    session: id,
    folders,
    isKnown,
    may = () => session,
  }: WrittenFolders): Promise<DiskWatch> {
    for (const disk of [folder, ...beside]) {
      const lack = await lackOf(disk, floor, freeSpaceOf)
      if (lack !== undefined) throw new SandboxEnded(lack)
    }
    // From before its first write: a session may take its share in less than the time to the next measurement.
    if (running.size === 0) room.begin(await freeSpaceOf(folder))
    let watched: WatchedSession | undefined
    return {
      async started(sandbox) {
        const seen = isKnown ? {} : { seen: nothing }
        watched = { session: id, folders, sandbox, may, least: nothing, ...seen }
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
    kind: (written: WrittenFolder): Promise<DiskWatch> => watch(foldersOf(written)),
    async close(): Promise<void> {
      clearInterval(timer)
      await passing
    },
  }
}
