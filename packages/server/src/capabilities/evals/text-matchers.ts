/**
 * Matches regular expressions of tenants. Attack: matching and compiling can take exponential time; V8 can end the
 * first and not the second. So expressions run in separate processes, one at a time in each. A late process is killed,
 * and the next expression gets another one.
 */
import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { lineCutter } from '@steward/base/line-cutter.ts'
import { expectStarted } from '@steward/base/started-program.ts'
import { z } from 'zod'
import type { Share } from '../../ground/core/fairness/share.ts'

/** CPU time for one match. */
const mostMs = 100
/** Wall-clock limit, including the start of the process. A thread could not be ended while it compiles. */
const killedAfterMs = 3_000
/** An idle process ends after this time. */
const idleMs = 10_000
const memoryMb = 128

/** Nobody leaves the line: a match takes seconds at most. */
const { signal: never } = new AbortController()
const idle: Matcher[] = []

const Match = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), isMatch: z.boolean() }),
  z.object({ ok: z.literal(false), message: z.string() }),
])
type Match = z.infer<typeof Match>
type Expression = { source: string; flags: string; text: string }

/** Matches expressions of one tenant. */
export type MatchText = (given: Expression) => Promise<Match>

/** `slots`: the tenants' shares of the processes. */
export const createMatcher =
  (slots: Share, tenant: string): MatchText =>
  async (given) => {
    const leave = await slots.wait(tenant, never)
    try {
      return await matchInProcess(given)
    } finally {
      leave()
    }
  }

async function matchInProcess(given: Expression): Promise<Match> {
  const rested = idle.pop()
  // An idle process may have been killed from outside, which says nothing about the expression: try a new one.
  const match = (await rested?.match(given)) ?? (await new Matcher().match(given))
  if (match?.ok) return match
  return { ok: false, message: `/${given.source}/: ${match?.message ?? late}` }
}

const late = `it takes longer than ${mostMs} ms, or more memory than it may`

/**
 * Reads an `Expression` a line and prints a `Match` for each. Repeats a late match once: the machine may be busy. Only
 * \n ends a line: JSON holds U+2028 and U+2029 as they are, which node:readline takes for ends of lines.
 */
const program = `
const { Script, createContext } = require('node:vm')
const matches = new Script('new RegExp(source, flags).test(text)')
function matchOnce(given) {
  try {
    return { ok: true, isMatch: matches.runInContext(createContext({ ...given }), { timeout: ${mostMs} }) }
  } catch (error) {
    if (error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    return { ok: false, message: String(error.message) }
  }
}
function answer(line) {
  const given = JSON.parse(line)
  const match = matchOnce(given) ?? matchOnce(given) ?? { ok: false, message: ${JSON.stringify(late)} }
  process.stdout.write(JSON.stringify(match) + '\\n')
}
let pieces = []
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const [end, ...begun] = chunk.split('\\n')
  pieces.push(end)
  for (const piece of begun) {
    answer(pieces.join(''))
    pieces = [piece]
  }
})
`

async function* linesOf(output: Readable): AsyncGenerator<string, void, void> {
  const cutter = lineCutter()
  for await (const chunk of output.setEncoding('utf8')) yield* cutter.read(String(chunk))
}

/** A process that matches expressions. */
class Matcher {
  readonly #child: ChildProcessByStdio<Socket, Socket, null>
  readonly #lines: AsyncIterator<string>
  #failure: Error | undefined
  #isKilled = false
  #rest: NodeJS.Timeout | undefined

  constructor() {
    const args = [`--max-old-space-size=${memoryMb}`, '--eval', program]
    const child = expectStarted(
      spawn(process.execPath, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'] }),
    )
    this.#child = child as ChildProcessByStdio<Socket, Socket, null>
    child.once('error', (error) => (this.#failure = error))
    // A dead process closes its input; `match` notices the missing answer.
    child.stdin.on('error', () => {})
    this.#lines = linesOf(child.stdout)
  }

  /** Undefined when the process ends without an answer: it was late, or used too much memory. */
  async match(given: Expression): Promise<Match | undefined> {
    clearTimeout(this.#rest)
    this.#each((part) => part.ref())
    const end = setTimeout(() => this.#kill(), killedAfterMs)
    this.#child.stdin.write(`${JSON.stringify(given)}\n`)
    const line = await this.#lines.next()
    clearTimeout(end)
    if (this.#failure) throw this.#failure
    if (line.done) return this.#isKilled ? { ok: false, message: late } : undefined
    // An idle process does not keep this process alive.
    this.#each((part) => part.unref())
    this.#rest = setTimeout(() => this.#end(), idleMs).unref()
    idle.push(this)
    return Match.parse(JSON.parse(line.value))
  }

  #end(): void {
    idle.splice(idle.indexOf(this), 1)
    this.#kill()
  }

  #kill(): void {
    this.#isKilled = true
    this.#child.kill('SIGKILL')
  }

  #each(change: (part: { ref: () => void; unref: () => void }) => void): void {
    for (const part of [this.#child, this.#child.stdin, this.#child.stdout]) change(part)
  }
}
