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

export const forgetRecord = (workspace: string): void =>
  rmSync(recordOf(workspace), { force: true })

/** Ends the recorded process, with everything that dies with it, if it is still the same one. */
export async function killRecorded(workspace: string): Promise<void> {
  const record = readRecord(workspace)
  if (!record) return
  while (startOf(record.pid) === record.start) {
    process.kill(record.pid, 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  forgetRecord(workspace)
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
