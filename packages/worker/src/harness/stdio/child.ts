/**
 * The process of one stdio server, started in the session's sandbox. It listens on the sandbox's loopback and ends with
 * the sandbox.
 */
import { awaitLater } from '@steward/base/await-later.ts'
import type { AsideCommand, Sandbox, ShellResult } from '@steward/sandbox/sandbox.ts'

export type StdioProgram = {
  command: string
  args?: string[] | undefined
  env?: Record<string, string> | undefined
  port: number
  ready_timeout_ms: number
}

export type Child = {
  /**
   * Starts the server if needed and resolves with its sandbox. Rejects with the reason when the server does not start.
   */
  up(): Promise<Sandbox>
}

/** A timer's longest delay. */
const forEverMs = 2_000_000_000
const askMs = 5_000
const shownCharacters = 1_000

const listens = '(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null'
const untilItListens = `until ${listens}; do sleep 0.05; done`

export function createChild(
  open: () => Promise<Sandbox>,
  declared: StdioProgram,
  closed: AbortSignal,
): Child {
  const { command, args = [], env = {}, port, ready_timeout_ms: readyMs } = declared
  let up: Promise<Sandbox> | undefined

  async function start(ends: () => void): Promise<Sandbox> {
    const sandbox = await open()
    const ask = (script: string, timeoutMs: number, signal: AbortSignal): AsideCommand => ({
      script,
      arguments: [String(port)],
      timeoutMs,
      signal,
    })
    const before = await sandbox.aside(ask(listens, askMs, closed))
    if (before.exitCode === 0) throw new Error(`port ${port} is taken in its sandbox`)
    const [stop, looked] = [new AbortController(), new AbortController()]
    const ended = awaitLater(
      sandbox.aside({
        script: 'exec -- "$@"',
        arguments: [command, ...args],
        env: { PORT: String(port), ...env },
        timeoutMs: forEverMs,
        signal: AbortSignal.any([closed, stop.signal]),
      }),
    )
    ended.then(ends, ends)
    const look = AbortSignal.any([closed, looked.signal])
    const ready = sandbox.aside(ask(untilItListens, readyMs, look))
    const first = await Promise.race([ended.then(() => 'ended' as const), ready])
    looked.abort()
    if (first !== 'ended' && first.exitCode === 0) return sandbox
    stop.abort()
    const why = first === 'ended' ? 'it ended' : `${readyMs} ms went by`
    throw new Error(`${why} before it listened on 127.0.0.1:${port}${said(await ended)}`)
  }

  return {
    up() {
      if (up) return up
      const ends = () => {
        if (up === begun) up = undefined
      }
      const begun = start(ends)
      begun.catch(ends)
      up = begun
      return begun
    },
  }
}

function said({ output, exitCode }: ShellResult): string {
  const code = exitCode === undefined ? '' : ` (exit ${exitCode})`
  const end = output.trim().slice(-shownCharacters).toWellFormed()
  return code + (end === '' ? '' : `: ${end}`)
}
