/** Which process holds a workspace, in a file beside it: so that another server of the machine can end it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const recordOf = (workspace: string): string => join(dirname(workspace), 'sandbox.json')

/** Ticks since boot at which the process started: with its number it names a process for good. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    // There is no such process.
    return undefined
  }
}

export function writeRecord(workspace: string, pid: number): void {
  writeFileSync(recordOf(workspace), JSON.stringify({ pid, start: startOf(pid) }), { mode: 0o600 })
}

/** Of this process alone: a sandbox that follows may have taken the workspace already. */
export function forgetRecord(workspace: string, pid: number | undefined): void {
  if (readRecord(workspace)?.pid === pid) rmSync(recordOf(workspace), { force: true })
}

const graceMs = 2_000

/**
 * Ends the recorded process, with everything that dies with it, if it is still the same one. `SIGTERM` lets it end
 * what would outlive it, for two seconds.
 */
export async function killRecorded(
  workspace: string,
  first: 'SIGTERM' | 'SIGKILL' = 'SIGKILL',
): Promise<void> {
  const record = readRecord(workspace)
  if (!record) return
  const killAt = performance.now() + graceMs
  while (startOf(record.pid) === record.start) {
    kill(record.pid, performance.now() < killAt ? first : 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  forgetRecord(workspace, record.pid)
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readRecord(workspace: string): { pid: number; start: string } | undefined {
  try {
    const { pid, start } = JSON.parse(readFileSync(recordOf(workspace), 'utf8')) as Record<
      string,
      unknown
    >
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined
  } catch {
    // Never written, or cut off by a crash before its process could do anything.
    return undefined
  }
}
