import { readFileSync } from 'node:fs'

const bootOf = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()

/**
 * Boot id and start time of a process in ticks. Together with the pid they name a process for good. Undefined for a
 * process that has ended.
 */
export function findProcessStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie has ended, even if its parent hangs and does not collect it.
    return fields[0] === 'Z' ? undefined : `${bootOf()} ${fields[19]}`
  } catch {
    // The process does not exist.
    return undefined
  }
}
