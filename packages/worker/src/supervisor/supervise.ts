/** Starts a harness as a process and speaks `openma-harness-supervisor-v1` with it until it exits. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expectStarted } from '@steward/base/started-program.ts'
import { streamLines } from './lines.ts'
import type { Start, ToHarness, ToSupervisor } from './protocol.ts'
import { exitCodes, parseMessage, protocol, ToSupervisor as Schema } from './protocol.ts'

/** How a harness ended. Only a harness that was ready can have changed the session. */
export type HarnessEnd = {
  how: 'done' | 'failed' | 'refused' | 'aborted'
  wasReady: boolean
  why: string
  /** True when the session's log has the error already. */
  isTold: boolean
  /**
   * True when the lease was lost, or when the harness heard of no lease. Nothing may be done under the claim any more.
   */
  isLeaseLost: boolean
}

export type SupervisedProcess = {
  /** Never rejects. Resolves when the harness's process group has ended. */
  ended: Promise<HarnessEnd>
  /** Lets the harness finish or abort its calls, and kills it after `withinMs`. */
  stop(reason: 'shutdown' | 'stopping', withinMs: number): void
  /**
   * Tells the harness that the lease holds for `forMs` from now on. A harness that hears of no lease for longer ends by
   * itself.
   */
  lease(forMs: number): void
  /** The harness may do nothing any more, from now on. */
  abort(reason: 'lease_lost' | 'broken' | 'overdue'): void
}

export type SuperviseOptions = {
  /** The program and its arguments. */
  command: readonly [string, ...string[]]
  /** All environment variables of the harness. */
  env: Record<string, string>
  start: Omit<Start, 'type' | 'protocol'>
  heard: (message: ToSupervisor) => void
  /** Called for each line that the harness writes for people. */
  said: (line: string) => void
  patience?: HarnessPatience
}
export type HarnessPatience = { readyMs: number; abortMs: number }

const usualPatience: HarnessPatience = { readyMs: 60_000, abortMs: 2_000 }
/** Longest time that a harness may prepare. */
const longestPreparationMs = 15 * 60_000
const types = ['ready', 'preparing', 'event', 'done', 'failed']

export function superviseHarness(options: SuperviseOptions): SupervisedProcess {
  const { command, env, start, heard, said, patience = usualPatience } = options
  const [program, ...rest] = command
  const child = expectStarted(spawn(program, rest, { env, stdio: 'pipe', detached: true }))
  const timers = new Set<NodeJS.Timeout>()
  const later = (ms: number, act: () => void) => void timers.add(setTimeout(act, ms))
  const state = { isReady: false, isAborted: false, isTold: false, failure: '', isLeaseLost: false }

  const tell = (message: ToHarness): void => {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`)
  }
  function abort(reason: 'lease_lost' | 'broken' | 'overdue'): void {
    if (state.isAborted) return
    state.isAborted = true
    state.failure ||= `aborted: ${reason}`
    state.isLeaseLost = reason === 'lease_lost'
    tell({ type: 'abort', reason })
    child.stdin.end()
    later(patience.abortMs, () => killGroup(child))
  }
  function broken(why: string): void {
    if (state.isAborted) return
    state.failure = why
    abort('broken')
  }
  let patient: NodeJS.Timeout | undefined
  const begun = performance.now()
  function expectReady(): void {
    clearTimeout(patient)
    patient = setTimeout(() => {
      if (!state.isReady) broken(`the harness was not ready within ${patience.readyMs} ms`)
    }, patience.readyMs)
    timers.add(patient)
  }
  function take(message: ToSupervisor): void {
    if (state.isAborted) return
    if (message.type === 'preparing') {
      if (performance.now() - begun < longestPreparationMs) expectReady()
      return
    }
    if (message.type === 'ready') {
      if (message.protocol !== protocol) return broken(`the harness speaks ${message.protocol}`)
      state.isReady = true
    } else if (!state.isReady && message.type !== 'failed') {
      return broken(`the harness said ${message.type} before it was ready`)
    }
    if (message.type === 'failed')
      Object.assign(state, { failure: message.message, isTold: message.is_told ?? false })
    heard(message)
  }
  async function listen(): Promise<void> {
    try {
      for await (const line of streamLines(child.stdout)) {
        const found = parseMessage(Schema, types, line)
        if ('broken' in found) return broken(`the harness wrote ${found.broken}`)
        if ('message' in found) take(found.message)
      }
    } catch (error) {
      broken(`the harness wrote ${(error as Error).message}`)
    }
  }

  const exited = new Promise<number | undefined>((resolve) => {
    child.once('error', (error) => {
      state.failure ||= `the harness did not start: ${error.message}`
      resolve(undefined)
    })
    child.once('exit', (code) => resolve(code ?? undefined))
  })
  child.stdin.on('error', () => {})
  readFor(child.stderr, said)
  const listened = listen()
  tell({ type: 'start', protocol, ...start })
  expectReady()

  async function end(): Promise<HarnessEnd> {
    const code = await exited
    // The harness exits with this code by itself when it hears of no lease, because this process hung.
    if (code === exitCodes.aborted) abort('lease_lost')
    for (const timer of timers) clearTimeout(timer)
    killGroup(child)
    await listened
    const { isReady, isAborted, isTold, failure, isLeaseLost } = state
    const how = howOf(code, isAborted)
    const why = failure || (code === undefined ? 'killed' : `exit ${code}`)
    return {
      how: how === 'done' && !isReady ? 'failed' : how,
      wasReady: isReady,
      why,
      isTold,
      isLeaseLost,
    }
  }
  return {
    ended: end(),
    abort,
    lease: (forMs) => tell({ type: 'lease', for_ms: Math.floor(forMs) }),
    stop(reason, withinMs) {
      tell({ type: 'stop', reason, within_ms: withinMs })
      later(withinMs, () => abort('overdue'))
    },
  }
}

function howOf(code: number | undefined, isAborted: boolean): HarnessEnd['how'] {
  if (isAborted || code === exitCodes.aborted) return 'aborted'
  if (code === exitCodes.done) return 'done'
  return code === exitCodes.refused ? 'refused' : 'failed'
}

function readFor(stream: Readable, said: (line: string) => void): void {
  createInterface({ input: stream }).on('line', said)
}

/** The harness leads its own process group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
