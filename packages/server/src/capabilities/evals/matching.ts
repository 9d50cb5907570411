/**
 * Regular expressions of tenants. Matching may take exponential time, which V8 ends when it is told to; so may compiling, which nothing
 * ends. So an expression runs in a process of its own, which is killed when it is late.
 */
import { execFile } from 'node:child_process'

/** Of the processor, for matching. */
const mostMs = 100
/** Of the clock, with the start of the process. A thread could not be ended while it compiles. */
const killedAfterMs = 3_000
/** Processes at once. */
const mostAtOnce = 2
const memoryMb = 128

let running = 0
const waiting: (() => void)[] = []

type Match = { ok: true; isMatch: boolean } | { ok: false; message: string }
type Expression = { source: string; flags: string; text: string }

export async function matchText(source: string, flags: string, text: string): Promise<Match> {
  if (running >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await matchInProcess({ source, flags, text })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

const late = `it takes longer than ${mostMs} ms, or more memory than it may`

/** Prints a `Match`. An expression that is late is tried once more: the machine may have been busy. */
const program = `
const { Script, createContext } = require('node:vm')
const matches = new Script('new RegExp(source, flags).test(text)')
const given = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
function matchOnce() {
  try {
    return { ok: true, isMatch: matches.runInContext(createContext({ ...given }), { timeout: ${mostMs} }) }
  } catch (error) {
    if (error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined
    return { ok: false, message: String(error.message) }
  }
}
const match = matchOnce() ?? matchOnce() ?? { ok: false, message: ${JSON.stringify(late)} }
process.stdout.write(JSON.stringify(match))
`

const matchInProcess = (given: Expression): Promise<Match> =>
  new Promise((resolve, reject) => {
    const failed = (message: string): Match => ({
      ok: false,
      message: `/${given.source}/: ${message}`,
    })
    const child = execFile(
      process.execPath,
      [`--max-old-space-size=${memoryMb}`, '--eval', program],
      { env: {}, timeout: killedAfterMs, killSignal: 'SIGKILL' },
      (error, printed) => {
        if (error && typeof error.code === 'string') return reject(error)
        if (error) return resolve(failed(late))
        const match: Match = JSON.parse(printed)
        resolve(match.ok ? match : failed(match.message))
      },
    )
    // A process that died does not read to the end; its exit says so.
    child.stdin?.on('error', () => {})
    child.stdin?.end(JSON.stringify(given))
  })
