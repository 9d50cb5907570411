/** Short texts of what events hold. */
import type { SessionEvent } from '../../lib/api/types.ts'

type ContentBlock = { type: string; text?: string }

/** The texts of a content; what is no text is named. */
export const textOfContent = (content: readonly ContentBlock[]): string =>
  content.map((block) => block.text ?? `[${block.type}]`).join('\n')

/** The size of what stands cut in an event of a light page, or 0. */
export const bytesOf = ({ cut }: Pick<SessionEvent, 'cut'>): number =>
  (cut ?? []).reduce((sum, { bytes = 1 }) => sum + bytes, 0)

/** A result as a light page has it: where it is cut, its end stands behind a mark. */
export const cutTextOf = (
  event: Pick<SessionEvent, 'cut'> & { content?: readonly ContentBlock[] | null },
): string => {
  const tail = event.cut?.findLast((each) => each.tail !== undefined)?.tail
  const text = textOfContent(event.content ?? [])
  return tail === undefined ? text : `${text}\n…\n${tail}`
}

/** Formats of pictures that browsers show and that hold no scripts. */
const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A picture as the log has it: its bytes in base64. */
export type LoggedPicture = { format: string; data: string }

export const imagesOf = (content: readonly object[]): LoggedPicture[] =>
  content.flatMap((block) => {
    const { source }: { source?: unknown } = block
    if (typeof source !== 'object' || source === null) return []
    const { media_type: format, data }: { media_type?: unknown; data?: unknown } = source
    if (typeof format !== 'string' || typeof data !== 'string') return []
    const isShown = pictures.has(format) && /^[A-Za-z0-9+/=]+$/.test(data)
    return isShown ? [{ format, data }] : []
  })

/** The input of a call as people read it: one text alone, or JSON. */
export function inputText(input: Record<string, unknown>): string {
  const [first, ...others] = Object.entries(input)
  if (first && others.length === 0 && typeof first[1] === 'string') return first[1]
  return JSON.stringify(input, null, 2)
}

/** The input of a call that somebody decides about: two inputs that differ never look the same. */
export const askedText = (name: string, input: Record<string, unknown>): string => {
  const { command, ...others } = input
  const isCommand = name === 'bash' && typeof command === 'string'
  return isCommand && Object.keys(others).length === 0 ? command : JSON.stringify(input, null, 2)
}

const telling = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'name', 'description']

/** What a tool call is about, in one line. */
export function summaryOf(input: Record<string, unknown>): string {
  for (const field of telling) {
    const value = input[field]
    if (typeof value === 'string' && value !== '') return oneLine(value)
  }
  const text = JSON.stringify(input)
  return text === '{}' ? '' : oneLine(text)
}

const longest = 400

const oneLine = (text: string): string => text.slice(0, longest).replaceAll(/\s+/g, ' ').trim()

/** An event in one line, of any kind: kinds that this console does not know are shown by what they hold. */
export function lineOf(event: SessionEvent): string {
  if ('content' in event && Array.isArray(event.content))
    return oneLine(textOfContent(event.content))
  if (event.type === 'agent.thinking') return oneLine(event.thinking)
  if (event.type === 'agent.tool_use' || event.type === 'agent.mcp_tool_use')
    return `${event.name} ${summaryOf(event.input)}`
  if (event.type === 'session.error') return oneLine(event.error.message)
  if (event.type === 'session.status_idle') return event.stop_reason.type
  if (event.type === 'span.model_request_end')
    return `${event.model_usage.input_tokens} → ${event.model_usage.output_tokens} tokens`
  return ''
}
