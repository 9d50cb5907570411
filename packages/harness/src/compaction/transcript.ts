/**
 * Writes a conversation as plain text for a summary: without bytes of images and documents, and without calls to
 * answer.
 */
import type { AssistantBlock, Message, UserBlock } from '@steward/model/model.ts'

const speakers = { user: 'User', system: 'System', assistant: 'Assistant', tool_result: 'Result' }
/** Length limits for inputs and results of tools; the largest one that fits is used. */
const lengths = [Number.POSITIVE_INFINITY, 8_000, 2_000, 500, 120]

/**
 * At most `most` characters. Results of tools are shortened first. Then the middle is left out, so that the beginning
 * and the newest part of the conversation stay.
 */
export function buildTranscript(messages: readonly Message[], most: number): string {
  let entries: string[] = []
  for (const length of lengths) {
    entries = messages.map((message) => entryOf(message, length)).filter((entry) => entry !== '')
    const whole = entries.join('\n\n')
    if (whole.length <= most) return whole
  }
  return ends(entries, most)
}

/** Leaves out the middle of a long text. */
export function shortenTexts(text: string, most: number): string {
  if (text.length <= most) return text
  const note = `\n[… ${text.length - most} characters left out …]\n`
  const room = Math.max(0, most - note.length)
  const head = Math.ceil(room / 2)
  const tail = text.length - Math.floor(room / 2)
  return (text.slice(0, head) + note + text.slice(tail)).toWellFormed()
}

function entryOf({ role, content, ...more }: Message, length: number): string {
  const lines = content.map((block) => lineOf(block, role === 'tool_result' ? length : undefined))
  const calls = content.flatMap((block) =>
    block.type === 'tool_call' ? [`[calls ${block.name} ${inputOf(block, length)}]`] : [],
  )
  const said = [...lines.filter((line) => line !== ''), ...calls].join('\n')
  if (said === '') return ''
  const of = 'tool_name' in more ? ` of ${more.tool_name}${more.is_error ? ' (failed)' : ''}` : ''
  return `${speakers[role]}${of}: ${said}`
}

function lineOf(block: UserBlock | AssistantBlock, length: number | undefined): string {
  switch (block.type) {
    case 'text':
      return length === undefined ? block.text : shortenTexts(block.text, length)
    case 'image':
      return `[image ${block.media_type}]`
    case 'document':
      return `[document ${block.title ?? block.media_type}]`
    case 'thinking':
    case 'tool_call':
      return ''
  }
}

const inputOf = ({ input }: { input: Record<string, unknown> }, length: number): string =>
  shortenTexts(JSON.stringify(input), length)

/** A quarter of the space is for the beginning, the rest for the newest entries. */
function ends(entries: readonly string[], most: number): string {
  const [first = '', ...others] = entries
  const beginning = shortenTexts(first, Math.floor(most / 4))
  let room = most - beginning.length - 40
  const newest: string[] = []
  for (const entry of others.toReversed()) {
    if (entry.length + 2 > room) {
      if (newest.length === 0 && room > 0) newest.push(shortenTexts(entry, room))
      break
    }
    newest.push(entry)
    room -= entry.length + 2
  }
  const left = others.length - newest.length
  const gap = left > 0 ? [`[… ${left} messages left out …]`] : []
  return [beginning, ...gap, ...newest.toReversed()].join('\n\n')
}
