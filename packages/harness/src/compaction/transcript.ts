/** A conversation as plain text, for whoever sums it up: no image or document bytes, no calls to be answered. */
import type { AssistantBlock, Message, UserBlock } from '@steward/model/model.ts'

const speakers = { user: 'User', system: 'System', assistant: 'Assistant', tool_result: 'Result' }
/** How much of what tools took and gave is written, as much as there is room for. */
const lengths = [Number.POSITIVE_INFINITY, 8_000, 2_000, 500, 120]

/**
 * At most so many characters. What tools said is shortened first; then what lies in the middle is left out, so that
 * the beginning of the conversation and its newest part remain.
 */
export function transcript(messages: readonly Message[], most: number): string {
  let entries: string[] = []
  for (const length of lengths) {
    entries = messages.map((message) => entryOf(message, length)).filter((entry) => entry !== '')
    const whole = entries.join('\n\n')
    if (whole.length <= most) return whole
  }
  return ends(entries, most)
}

/** What is left of a text of which the middle goes. */
export function shortened(text: string, most: number): string {
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
      return length === undefined ? block.text : shortened(block.text, length)
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
  shortened(JSON.stringify(input), length)

/** A quarter of the room for the beginning, the rest for the newest. */
function ends(entries: readonly string[], most: number): string {
  const [first = '', ...others] = entries
  const beginning = shortened(first, Math.floor(most / 4))
  let room = most - beginning.length - 40
  const newest: string[] = []
  for (const entry of others.toReversed()) {
    if (entry.length + 2 > room) {
      if (newest.length === 0 && room > 0) newest.push(shortened(entry, room))
      break
    }
    newest.push(entry)
    room -= entry.length + 2
  }
  const left = others.length - newest.length
  const gap = left > 0 ? [`[… ${left} messages left out …]`] : []
  return [beginning, ...gap, ...newest.toReversed()].join('\n\n')
}
