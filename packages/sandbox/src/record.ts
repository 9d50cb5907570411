/**
 * Records, in a file beside a working folder, which process holds it, so that another server of the machine can end
 * that process.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseObject } from '@steward/base/json-object.ts'
import { findProcessStart } from '@steward/base/process-start.ts'

const recordOf = (workspace: string): string => join(dirname(workspace), 'sandbox.json')

export function writeRecord(workspace: string, pid: number): void {
  writeFileSync(recordOf(workspace), JSON.stringify({ pid, start: findProcessStart(pid) }), {
    mode: 0o600,
  })
}

/** Removes the record only if it names this process: a later sandbox may hold the working folder already. */
export function forgetRecord(workspace: string, pid: number | undefined): void {
  if (readRecord(workspace)?.pid === pid) rmSync(recordOf(workspace), { force: true })
}

const graceMs = 2_000

/**
 * Ends the recorded process and its children, if it is still the same process, and resolves when they are gone.
 * `SIGTERM` gives the process two seconds to end what would outlive it.
 */
export async function killRecorded(
  workspace: string,
  first: 'SIGTERM' | 'SIGKILL' = 'SIGKILL',
): Promise<void> {
  const record = readRecord(workspace)
  if (!record) return
  if (findProcessStart(record.pid) === record.start) {
    // The init of the namespace is a child: its end ends all processes of the namespace.
    const children = first === 'SIGKILL' ? childrenOf(record.pid) : []
    await Promise.all([record, ...children].map((each) => killOne(each, first)))
  }
  forgetRecord(workspace, record.pid)
}

type RecordedProcess = { pid: number; start: string }

function childrenOf(pid: number): RecordedProcess[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return children.flatMap((child) => {
      const start = findProcessStart(Number(child))
      return start === undefined ? [] : [{ pid: Number(child), start }]
    })
  } catch {
    // The process has ended, or the kernel does not list children. They die with it a moment later.
    return []
  }
}

async function killOne({ pid, start }: RecordedProcess, first: NodeJS.Signals): Promise<void> {
  const killAt = performance.now() + graceMs
  while (findProcessStart(pid) === start) {
    kill(pid, performance.now() < killAt ? first : 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readRecord(workspace: string): RecordedProcess | undefined {
  try {
    const { pid, start } = parseObject(readFileSync(recordOf(workspace), 'utf8'))
    return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined
  } catch {
    // The file was never written, or a crash cut it off before the process could do anything.
    return undefined
  }
}
