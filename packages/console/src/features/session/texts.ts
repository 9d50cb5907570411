/** Short texts of what events hold. */
import type { SessionEvent } from '../../lib/api/types.ts'

type ContentBlock = { type: string; text?: string }

/** The texts of a content; what is no text is named. */
export const textOfContent = (content: readonly ContentBlock[]): string =>
  content.map((block) => block.text ?? `[${block.type}]`).join('\n')

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
