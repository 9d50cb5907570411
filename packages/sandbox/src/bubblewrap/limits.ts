/** Limits on all processes of one sandbox together: control groups where this process may create them, else rlimits. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Isolation, SandboxLimits } from '../sandbox.ts'

export type LimitGroup = {
  /** Files into which a process writes its pid to join the groups. */
  joins: string[]
  /** Removes the groups once they hold no process. */
  remove(): void
}

export interface Limiter {
  readonly kind: Isolation['limits']
  group(limits: SandboxLimits): LimitGroup
}

const root = '/sys/fs/cgroup'
const controllers = ['memory', 'pids', 'cpu'] as const
const cpuPeriod = 100_000
/**
 * In cgroup v2 a group with controllers for its children may hold no process itself, so the server moves into this
 * group.
 */
const serverGroup = 'steward-server'
/** Absent on a kernel that does not account for swap. */
const swapLimit = 'memory.swap.max'
let serial = 0

/** The strongest limits that this process may set, found by trying. */
export function findLimiter(): Limiter {
  for (const make of [version2, version1]) {
    try {
      const limiter = make()
      limiter?.group({ memory: 64 << 20, processes: 16, cpus: 1, scratch: 0, file: 0 }).remove()
      if (limiter) return limiter
    } catch {
      // This process may not create these groups; the next kind is tried.
    }
  }
  return { kind: 'rlimit', group: () => ({ joins: [], remove() {} }) }
}

const own = (line: RegExp): string | undefined =>
  line.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]?.replace(/\/$/, '')

const groupName = /^steward-(\d+)-\d+$/

/** Removes groups of servers that were killed. The kernel does not remove a group with its last process. */
function removeDeadGroups(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = groupName.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeAll([join(base, name)])
  }
}

/** Creates a folder of the same name in each base, with these settings. When one fails, all are removed. */
function makeGroup(
  settings: readonly { base: string; files: Record<string, string> }[],
): LimitGroup {
  const name = `steward-${process.pid}-${serial++}`
  const folders: string[] = []
  try {
    for (const { base, files } of settings) {
      const folder = join(base, name)
      mkdirSync(folder)
      folders.push(folder)
      for (const [file, value] of Object.entries(files)) {
        if (file === swapLimit && !existsSync(join(folder, file))) continue
        writeFileSync(join(folder, file), value)
      }
    }
  } catch (error) {
    removeAll(folders)
    throw error
  }
  const joins = folders.map((folder) => join(folder, 'cgroup.procs'))
  return { joins, remove: () => removeAll(folders) }
}

function version2(): Limiter | undefined {
  const path = own(/^0::(.*)$/m)
  if (path === undefined || !existsSync(join(root, 'cgroup.controllers'))) return undefined
  const base = join(root, path.replace(new RegExp(`/${serverGroup}$`), ''))
  share(base)
  removeDeadGroups(base)
  return {
    kind: 'cgroup2',
    group({ memory, processes, cpus }) {
      const files = {
        'memory.max': String(memory),
        [swapLimit]: '0',
        'pids.max': String(processes),
        'cpu.max': `${Math.round(cpus * cpuPeriod)} ${cpuPeriod}`,
      }
      return makeGroup([{ base, files }])
    },
  }
}

/**
 * Enables the controllers for the children of this process's own group. Fails when other processes live in the group,
 * or when it belongs to another user.
 */
function share(base: string): void {
  const shared = readFileSync(join(base, 'cgroup.subtree_control'), 'utf8').trim().split(' ')
  if (controllers.every((name) => shared.includes(name))) return
  mkdirSync(join(base, serverGroup), { recursive: true })
  writeFileSync(join(base, serverGroup, 'cgroup.procs'), String(process.pid))
  try {
    const wanted = controllers.map((name) => `+${name}`).join(' ')
    writeFileSync(join(base, 'cgroup.subtree_control'), wanted)
  } catch (error) {
    writeFileSync(join(base, 'cgroup.procs'), String(process.pid))
    removeAll([join(base, serverGroup)])
    throw error
  }
}

function version1(): Limiter | undefined {
  const bases = controllers.map((name) => {
    const path = own(new RegExp(`^\\d+:(?:[^:]*,)?${name}(?:,[^:]*)?:(.*)$`, 'm'))
    return path === undefined ? undefined : join(root, name, path)
  })
  const [memoryBase, pidsBase, cpuBase] = bases
  if (!memoryBase || !pidsBase || !cpuBase) return undefined
  for (const base of [memoryBase, pidsBase, cpuBase]) removeDeadGroups(base)
  return {
    kind: 'cgroup1',
    group({ memory, processes, cpus }) {
      const quota = String(Math.round(cpus * cpuPeriod))
      return makeGroup([
        { base: memoryBase, files: { 'memory.limit_in_bytes': String(memory) } },
        { base: pidsBase, files: { 'pids.max': String(processes) } },
        {
          base: cpuBase,
          files: { 'cpu.cfs_period_us': String(cpuPeriod), 'cpu.cfs_quota_us': quota },
        },
      ])
    },
  }
}

/** A group stays busy for a moment after its last process has ended. */
function removeAll(folders: string[], tries = 20): void {
  const left = folders.filter((folder) => {
    try {
      rmdirSync(folder)
      return false
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EBUSY'
    }
  })
  if (left.length > 0 && tries > 0) setTimeout(() => removeAll(left, tries - 1), 50).unref()
}
