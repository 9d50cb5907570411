/** Limits on all processes of one sandbox together: control groups where this process may make them, else rlimits. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Isolation, SandboxLimits } from '../sandbox.ts'

export type Group = {
  /** Files into which a process writes itself to join. */
  joins: string[]
  /** Removes the groups, once no process is left in them. */
  remove(): void
}

export interface Limiter {
  readonly kind: Isolation['limits']
  group(id: string, limits: SandboxLimits): Group
}

const root = '/sys/fs/cgroup'
const controllers = ['memory', 'pids', 'cpu'] as const
const cpuPeriod = 100_000

/** The best that this machine lets this process use, found by trying. */
export function findLimiter(): Limiter {
  for (const make of [version2, version1]) {
    const limiter = make()
    if (limiter && works(limiter)) return limiter
  }
  return { kind: 'rlimit', group: () => ({ joins: [], remove() {} }) }
}

function works(limiter: Limiter): boolean {
  try {
    limiter.group('probe', { memory: 64 << 20, processes: 16, cpus: 1, scratch: 0 }).remove()
    return true
  } catch {
    // Not ours to make: the next kind is tried, and the kind found is reported.
    return false
  }
}

const own = (line: RegExp): string | undefined =>
  line.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]?.replace(/\/$/, '')

function version2(): Limiter | undefined {
  const path = own(/^0::(.*)$/m)
  if (path === undefined || !existsSync(join(root, 'cgroup.controllers'))) return undefined
  const base = join(root, path, `steward-${process.pid}`)
  return {
    kind: 'cgroup2',
    group(id, { memory, processes, cpus }) {
      if (!existsSync(base)) {
        mkdirSync(base)
        writeFileSync(join(base, 'cgroup.subtree_control'), '+memory +pids +cpu')
      }
      const folder = join(base, id)
      mkdirSync(folder)
      writeFileSync(join(folder, 'memory.max'), String(memory))
      if (existsSync(join(folder, 'memory.swap.max')))
        writeFileSync(join(folder, 'memory.swap.max'), '0')
      writeFileSync(join(folder, 'pids.max'), String(processes))
      writeFileSync(join(folder, 'cpu.max'), `${Math.round(cpus * cpuPeriod)} ${cpuPeriod}`)
      return { joins: [join(folder, 'cgroup.procs')], remove: () => removeAll([folder]) }
    },
  }
}

function version1(): Limiter | undefined {
  const bases = controllers.map((name) => {
    const path = own(new RegExp(`^\\d+:(?:[^:]*,)?${name}(?:,[^:]*)?:(.*)$`, 'm'))
    return path === undefined ? undefined : join(root, name, path)
  })
  const [memoryBase, pidsBase, cpuBase] = bases
  if (!memoryBase || !pidsBase || !cpuBase) return undefined
  return {
    kind: 'cgroup1',
    group(id, { memory, processes, cpus }) {
      const name = `steward-${process.pid}-${id}`
      const folders = [memoryBase, pidsBase, cpuBase].map((base) => join(base, name))
      const [memoryFolder = '', pidsFolder = '', cpuFolder = ''] = folders
      for (const folder of folders) mkdirSync(folder)
      writeFileSync(join(memoryFolder, 'memory.limit_in_bytes'), String(memory))
      writeFileSync(join(pidsFolder, 'pids.max'), String(processes))
      writeFileSync(join(cpuFolder, 'cpu.cfs_period_us'), String(cpuPeriod))
      writeFileSync(join(cpuFolder, 'cpu.cfs_quota_us'), String(Math.round(cpus * cpuPeriod)))
      return {
        joins: folders.map((folder) => join(folder, 'cgroup.procs')),
        remove: () => removeAll(folders),
      }
    },
  }
}

/** A group is busy for a moment after its last process has ended. */
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
