// Programs run through the agent: their deadline, their end, and what is kept of their output.
import { randomUUID } from 'node:crypto'
import { stripVTControlCharacters } from 'node:util'
import type { Connection, Reply } from './connection.ts'
import { failure } from './files.ts'
import { replies, requests } from './frames.ts'
import type { ShellResult } from './sandbox.ts'

const keptBytes = 100 << 10
const spillAboveBytes = 100_000
/** From SIGTERM to SIGKILL. */
const graceMs = 100
/** How long after a kill the agent may take to say so. */
const killedWithinMs = 5_000

export type Program = {
  arguments: readonly string[]
  env: Record<string, string>
  directory: string
  /** Folder for output too long for the result, and the bytes one output may take there. */
  spill: { folder: string; max: number }
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Files of the shell's state: `to` becomes `from` after an ordinary exit. */
  state?: { from: string; to: string }
}

export const aborted: ShellResult = { output: '', bytes: 0, ended: 'aborted' }

/** The shape of a command that could not be started. */
export function refused(message: string): ShellResult {
  const output = `${message}\n`
  return { output, bytes: Buffer.byteLength(output), ended: 'exit', exitCode: 126 }
}

/** A cut may fall into a character, whose rest is left out. */
export function decodeOutput(bytes: Buffer, isCut: boolean): string {
  let start = 0
  while (isCut && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return stripVTControlCharacters(bytes.toString('utf8', start))
}

function decodeExit(reply: Reply, killedBy: 'timeout' | 'aborted', spill: string): ShellResult {
  const exitCode = reply.payload.readUInt32LE(0)
  const bytes = Number(reply.payload.readBigUInt64LE(4))
  const flags = reply.payload.readUInt8(12)
  const kept = Buffer.concat(reply.data)
  const output = decodeOutput(kept, bytes > kept.length)
  const spilled = flags & 1 ? { spilled: spill } : {}
  if (flags & 2) return { output, bytes, ...spilled, ended: killedBy }
  return { output, bytes, ...spilled, ended: 'exit', exitCode }
}

/** Kills the program at its deadline or when aborted, and takes an agent that does not follow for dead. */
function watch(agent: Connection, id: number, { timeoutMs, signal }: Program) {
  let killedBy: 'timeout' | 'aborted' = 'timeout'
  let unanswered: NodeJS.Timeout | undefined
  const kill = (why: typeof killedBy) => {
    if (unanswered !== undefined) return
    killedBy = why
    unanswered = setTimeout(() => agent.end('the agent does not answer'), graceMs + killedWithinMs)
    agent.kill(id, graceMs)
  }
  const abort = () => kill('aborted')
  const timer = setTimeout(() => kill('timeout'), timeoutMs)
  signal?.addEventListener('abort', abort)
  return {
    killedBy: () => killedBy,
    [Symbol.dispose]() {
      clearTimeout(timer)
      clearTimeout(unanswered)
      signal?.removeEventListener('abort', abort)
    },
  }
}

/** Rejects with `SandboxEnded`, and with `FrameError` for arguments larger than the agent takes. */
export async function execute(agent: Connection, program: Program): Promise<ShellResult> {
  if (program.signal?.aborted) return aborted
  const id = agent.nextId()
  const spill = `${program.spill.folder}/output-${randomUUID().slice(0, 13)}.txt`
  const env = Object.entries(program.env).map(([name, value]) => `${name}=${value}`)
  const limits = [keptBytes, BigInt(spillAboveBytes), BigInt(program.spill.max)]
  const state = [program.state?.to ?? '', program.state?.from ?? '']
  const parts = [...limits, spill, ...state, program.directory, program.arguments, env]
  using watched = watch(agent, id, program)
  const reply = await agent.ask(id, {
    ...{ type: requests.exec, parts, expects: replies.exited, size: 13, budget: keptBytes },
    withinMs: program.timeoutMs + graceMs + 2 * killedWithinMs,
  })
  if (reply.type === replies.failed) return refused(failure(reply.payload).message)
  return decodeExit(reply, watched.killedBy(), spill)
}
