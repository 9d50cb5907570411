/** Custom tools that the service runs: a request to an endpoint, or a command in the sandbox. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { CustomTool } from '@steward/protocol/tools.ts'
import { runShell } from './bash.ts'
import type { GuardedFetch } from './fetch.ts'
import { readBodyBytes, reasonOf } from './egress.ts'
import type { SandboxTool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'
import { decodeText } from './web-fetch/charset.ts'
import { toPicture, detectShape } from './web-fetch/shape.ts'

export type ToolExecution = NonNullable<CustomTool['execution']>
export type HttpExecution = Extract<ToolExecution, { type: 'http' }>

const timeLimitMs = 120_000
const mostBytes = 10 * 1024 * 1024

type ToolInput = Record<string, unknown>

/** Methods that change nothing: their input goes into the query, and a call may be repeated. */
export const isReading = ({ method }: HttpExecution): boolean =>
  ['GET', 'HEAD'].includes(method?.toUpperCase() ?? 'POST')

/** The body of the answer is the result; an error result for statuses from 300 on. Redirects are not followed. */
export function callEndpoint(execution: HttpExecution, outbound: GuardedFetch) {
  return async (input: ToolInput, { signal }: { signal: AbortSignal }): Promise<ToolResult> => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
    try {
      const response = await outbound(...requestOf(execution, input, until))
      return resultOf(response, await readBodyBytes(response, mostBytes))
    } catch (error) {
      if (signal.aborted) return textResult('interrupted; the request may have been received', true)
      const why = until.aborted ? `no answer within ${timeLimitMs} ms` : reasonOf(error)
      return textResult(`the endpoint could not be called: ${why}`, true)
    }
  }
}

function requestOf(
  execution: HttpExecution,
  input: ToolInput,
  signal: AbortSignal,
): [URL, RequestInit] {
  const url = new URL(execution.endpoint)
  const method = execution.method?.toUpperCase() ?? 'POST'
  const accept = 'application/json, text/*;q=0.9, */*;q=0.8'
  const common = { method, redirect: 'manual' as const, signal }
  if (!isReading(execution)) {
    const headers = { accept, 'content-type': 'application/json' }
    return [url, { ...common, headers, body: JSON.stringify(input) }]
  }
  for (const [name, value] of Object.entries(input))
    url.searchParams.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  return [url, { ...common, headers: { accept } }]
}

type ReadBody = { bytes: Buffer; isWhole: boolean }

function resultOf({ status, headers }: Response, read: ReadBody): ToolResult {
  const type = headers.get('content-type') ?? ''
  const isError = status >= 300
  const shape = detectShape({ type, bytes: read.bytes })
  const picture = shape?.kind === 'image' && !isError && toPicture(shape.media_type, read)
  if (picture) return { content: [picture], is_error: false }
  const said = shape?.kind === 'html' || shape?.kind === 'text' ? textOf(type, read) : ''
  const body = said || (read.bytes.length > 0 ? sizeOf(type, read) : '')
  const head = isError ? `HTTP ${status}${redirectNote(status, headers)}` : ''
  return textResult([head, body].filter(Boolean).join('\n') || '(no content)', isError)
}

const textOf = (type: string, { bytes, isWhole }: ReadBody): string =>
  decodeText(bytes, type) + (isWhole ? '' : `\n[cut after ${mostBytes} bytes]`)
const sizeOf = (type: string, { bytes, isWhole }: ReadBody): string =>
  `[${type || 'unknown type'}, ${isWhole ? '' : 'more than '}${bytes.length} bytes]`

const redirectNote = (status: number, headers: Headers): string => {
  const location = status < 400 ? headers.get('location') : null
  return location === null ? '' : ` to ${location}; redirects of an endpoint are not followed`
}

/**
 * The command runs in a shell of its own, in the directory of the session's shell, and changes nothing there. Its
 * standard input is the tool's input as JSON, which no shell parses.
 */
export const commandTool = (tool: CustomTool, command: string): SandboxTool => ({
  name: tool.name,
  description: tool.description,
  input_schema: tool.input_schema,
  repeat: 'never',
  run: (sandbox, input, signal, output) =>
    runShell(sandbox, {
      command: `printf %s ${quoteWord(JSON.stringify(input))} | bash -c ${quoteWord(command)}`,
      timeoutMs: timeLimitMs,
      signal,
      output,
    }),
})
