/**
 * Limits the disk space of sessions by measurement, because the file systems in use cannot enforce a share, and keeps
 * the disk from filling up. Reads the free space each second. Measures folders each minute, and earlier when the free
 * space has dropped much since the last measurement. Ends a sandbox beyond its share; the sandbox can start again so
 * that the session can delete files. Between two measurements a session may exceed its share, but only by writing: the
 * filter of system calls refuses other ways to take space.
 */
import { basename, join } from 'node:path'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import {
  readFreeSpace as freeOnDisk,
  spaceProblem,
  formatMegabytes,
  spaceBelow,
} from '@steward/sandbox/disk.ts'
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
  /** The share of a session. */
  session: DiskSpace
  /** Space that must stay free. */
  floor: DiskSpace
  report: (message: string, details: Record<string, unknown>) => void
  everyMs?: number
  /** Returns the free space on the disk of a folder. */
  free?: (folder: string) => Promise<DiskSpace>
}

const nothing: DiskSpace = { bytes: 0, files: 0 }
/** Folders that a session writes to, in the session's folder. */
const parts = ['workspace', 'outputs', 'user', 'memory']
/** Folders are measured when the free space has dropped by an eighth of a session's share, or by this if it is less. */
const longestStep: DiskSpace = { bytes: 256 << 20, files: 20_000 }
const longestMs = 60_000
/** A sandbox ends at its first measurement beyond this multiple of its share, so that repeated starts do not add up. */
const mostTimes = 1.5

/** The folders that a session writes to, and whether an earlier sandbox may have left files in them. */
export type WrittenFolders = {
  session: string
  folders: readonly string[]
  isKnown: boolean
  /** The share of this session, if it differs from the share of all. */
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
  /** The space that the session took at the first measurement. It may exceed the share, and must not grow then. */
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

const shown = ({ bytes, files }: DiskSpace): string => `${formatMegabytes(bytes)} in ${files} files`

/**
 * Decides when to measure folders: after `longestMs`, when the free space dropped by `step`, or by any amount while
 * space is low.
 */
function watchRoom(step: DiskSpace) {
  let at = -Infinity
  /**
   * The most free space since the last measurement: space that others free must not hide what a session takes
   * afterwards.
   */
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
    // Sandboxes with files from before are measured once without waiting until a measurement is due.
    const chosen = [...running].filter(({ seen }) => isDue || seen === undefined)
    const taken: { watched: WatchedSession; bytes: number }[] = []
    for (const watched of chosen) {
      // A failure for one session must not stop the measurement of the others.
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
      .catch((error: unknown) => report('the free disk space could not be read', { error }))
      .finally(() => (passing = undefined))
  }, everyMs ?? 1_000)
  timer.unref()

  /** Rejects with `SandboxEnded` when a disk has no room for another sandbox. */
  async function watch({
    session: id,
    folders,
    isKnown,
    may = () => session,
  }: WrittenFolders): Promise<DiskWatch> {
    for (const disk of [folder, ...beside]) {
      const lack = await spaceProblem(disk, floor, freeSpaceOf)
      if (lack !== undefined) throw new SandboxEnded(lack)
    }
    // Begin before the session's first write: it may exceed its share before the next measurement.
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
    /** Like `watch`, for a session's folder with the usual parts. */
    kind: (written: WrittenFolder): Promise<DiskWatch> => watch(foldersOf(written)),
    async close(): Promise<void> {
      clearInterval(timer)
      await passing
    },
  }
}
