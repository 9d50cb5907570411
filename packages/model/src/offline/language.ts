/** The commands of the offline model, described in docs/offline-model.md. */
import type { ModelFailure } from '../model.ts'

export type OfflineStep =
  | { do: 'call'; tool: string; input: Record<string, unknown> }
  | { do: 'run'; command: string }
  | { do: 'write'; path: string; content: string }
  | { do: 'read'; path: string }
  | { do: 'think'; text: string }
  | { do: 'say'; text: string }
  | { do: 'fail'; failure: ModelFailure }
  | { do: 'wait'; ms: number }
  | { do: 'stop'; stop: 'max_tokens' | 'refusal' }

export type OfflinePlan = { steps: OfflineStep[] } | { mistake: string }

/** Limit of a message's lines: the whole message is parsed for each request. */
const mostLines = 10_000

/** Lines without a command are ignored if there is at least one command. Undefined when there is none. */
export function parsePlan(text: string): OfflinePlan | undefined {
  const lines = text.split('\n', mostLines + 1)
  if (lines.length > mostLines)
    return { mistake: `a message has at most ${mostLines} lines for this model` }
  const steps: OfflineStep[] = []
  for (let at = 0; at < lines.length;) {
    const found = parseLine(lines, at)
    at = found.next
    if (found.step === undefined) continue
    if ('mistake' in found.step) return found.step
    steps.push(found.step)
  }
  return steps.length === 0 ? undefined : { steps }
}

type ParsedLine = { step?: OfflineStep | { mistake: string }; next: number }

function parseLine(lines: string[], at: number): ParsedLine {
  const line = lines[at] ?? ''
  const next = at + 1
  const call = /^\s*call\s+([\w.-]+)(?:\s*|\s+(\{.*))$/.exec(line)
  if (call !== null) return { step: callOf(call[1] ?? '', call[2] ?? '{}'), next }
  const read = /^\s*read\s+(\S+)\s*$/.exec(line)
  if (read !== null) return { step: { do: 'read', path: read[1] ?? '' }, next }
  const [, name = '', argument = '', rest = ''] =
    /^\s*([a-z]+)(?:\s+(\S+))?\s*:\s?(.*)$/.exec(line) ?? []
  const command = commands.get(name)
  if (command === undefined || (argument !== '' && name !== 'write')) return { next }
  const body = takeBody(lines, next, rest, name === 'write')
  return { step: command(body.text, argument), next: body.next }
}

type PlanCommand = (text: string, argument: string) => OfflineStep | { mistake: string }

const commands = new Map<string, PlanCommand>(
  Object.entries({
    run: (command) => ({ do: 'run', command }),
    write: (content, path) =>
      path === ''
        ? { mistake: 'write needs a path: write hello.txt: text' }
        : { do: 'write', path, content },
    read: (path) => ({ do: 'read', path: path.trim() }),
    think: (text) => ({ do: 'think', text }),
    say: (text) => ({ do: 'say', text }),
    wait: (text) => {
      const ms = Number(text.trim())
      return Number.isFinite(ms) && ms >= 0 && ms <= 600_000
        ? { do: 'wait', ms }
        : { mistake: `wait takes milliseconds, up to 600000, not '${text}'` }
    },
    stop: (text) => {
      const stop = text.trim()
      return stop === 'max_tokens' || stop === 'refusal'
        ? { do: 'stop', stop }
        : { mistake: `stop takes max_tokens or refusal, not '${stop}'` }
    },
    fail: (text) => {
      const failure = failures.get(text.trim())
      return failure === undefined
        ? { mistake: `fail takes one of ${[...failures.keys()].join(', ')}, not '${text.trim()}'` }
        : { do: 'fail', failure }
    },
  }),
)

function callOf(tool: string, json: string): OfflineStep | { mistake: string } {
  try {
    const input: unknown = JSON.parse(json)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
      return { do: 'call', tool, input: input as Record<string, unknown> }
    }
    return { mistake: `the input of ${tool} must be a JSON object` }
  } catch (error) {
    if (error instanceof SyntaxError)
      return { mistake: `the input of ${tool} is not JSON: ${json}` }
    throw error
  }
}

/**
 * The body of a command: the rest of the line; after `<<WORD` the lines up to that word; for a text that begins on the
 * next line, the lines up to an empty one.
 */
function takeBody(
  lines: string[],
  next: number,
  rest: string,
  mayBeBelow: boolean,
): { text: string; next: number } {
  const heredoc = /^\s*<<\s*'?(\w+)'?\s*$/.exec(rest)
  const ends =
    heredoc === null
      ? (line: string) => line.trim() === ''
      : (line: string) => line.trim() === heredoc[1]
  if (heredoc === null && (rest.trim() !== '' || !mayBeBelow)) return { text: rest, next }
  let end = next
  while (end < lines.length && !ends(lines[end] ?? '')) end += 1
  const text = lines
    .slice(next, end)
    .map((line) => `${line}\n`)
    .join('')
  return { text, next: end + 1 }
}

const failed = (failure: Omit<ModelFailure, 'message'>): ModelFailure => ({
  ...failure,
  message: `The offline model was asked to fail: ${failure.kind}`,
})

const failures = new Map<string, ModelFailure>(
  Object.entries({
    overloaded: failed({ kind: 'overloaded', retryable: true, status: 529 }),
    rate_limited: failed({ kind: 'rate_limited', retryable: true, status: 429, retryAfterMs: 100 }),
    billing: failed({ kind: 'billing', retryable: false, status: 402 }),
    authentication: failed({ kind: 'authentication', retryable: false, status: 401 }),
    overflow: failed({ kind: 'context_overflow', retryable: false, status: 400 }),
    unreachable: failed({ kind: 'unreachable', retryable: true }),
    refused_address: failed({ kind: 'refused_address', retryable: false }),
    request: failed({ kind: 'request_failed', retryable: false, status: 400 }),
  }),
)

export const offlineLesson = `I am the offline model: no provider's key is set, so I only follow commands, one to a line:

run: python3 -c 'print(6 * 7)'
write hello.py: print('hello')
read hello.py
call glob {"pattern": "**/*.py"}
think: what a reader may see of my reasoning
say: some words
fail: overloaded

A longer text goes below "write path:" up to an empty line, or between "write path: <<END" and "END". I do the steps \
in order, one request each, and then tell what came out.`
