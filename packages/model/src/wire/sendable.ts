/**
 * The last gate before a request: messages as every provider takes them. One block that a provider refuses would end its
 * session, because it stands in each later request too. The log keeps what was said.
 */
import type { AssistantBlock, ImageBlock, Message, UserBlock } from '../model.ts'
import type { ModelWire } from '../spec.ts'
import { imageKind } from './image-kind.ts'

/** What stands for a result of nothing. */
const noOutput = { type: 'text', text: '(no output)' } as const

/** The result for a message depends on no later message, so that a longer history begins with the shorter one. */
export function sendableMessages(
  messages: readonly Message[],
  wire: ModelWire,
  toolNames: ReadonlySet<string>,
): Message[] {
  const nameOf = (name: string): string => (toolNames.has(name) ? name : fitName(name))
  const given = new Set<string>()
  /** Ids of the newest answer, as the log has them. */
  let ids = new Map<string, string>()

  function fitBlock(block: AssistantBlock): AssistantBlock {
    if (block.type !== 'tool_call') return block
    const id = uniqueId(fitId(block.id, wire), given)
    given.add(id)
    ids.set(block.id, id)
    return { ...block, id, name: nameOf(block.name) }
  }

  return messages.map((message): Message => {
    switch (message.role) {
      case 'assistant':
        ids = new Map()
        return { ...message, content: message.content.map(fitBlock) }
      case 'tool_result': {
        const said = message.content.filter(
          (block) => block.type !== 'text' || block.text.trim() !== '',
        )
        return {
          ...message,
          tool_call_id: ids.get(message.tool_call_id) ?? fitId(message.tool_call_id, wire),
          tool_name: nameOf(message.tool_name),
          content: said.length > 0 ? said.map(fitMedia) : [noOutput],
        }
      }
      case 'user':
        return { ...message, content: message.content.map(fitMedia) }
      case 'system':
        return message
    }
  })
}

const longestName = 64

/** A made-up name may hold anything; providers take letters, digits, `_` and `-`, and some no digit in front. */
function fitName(name: string): string {
  const fitted = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, longestName)
  if (fitted === '') return 'unnamed'
  return /^[a-zA-Z_]/.test(fitted) ? fitted : `_${fitted}`.slice(0, longestName)
}

const longestId = 64

/**
 * Ids of the Responses wire have two parts, which the library tells apart. Some chat servers know calls by ids with a
 * colon or dot.
 */
function fitId(id: string, wire: ModelWire): string {
  if (wire === 'anthropic-messages')
    return id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, longestId) || 'call'
  if (wire === 'openai-responses' && id.includes('|')) return id
  // oxlint-disable-next-line no-control-regex -- these are the characters that no provider takes
  return id.replace(/[\u0000-\u001f\u007f]/g, '_').slice(0, longestId) || 'call'
}

/** A gateway that numbers the calls of each answer from 0 gives one id to many calls. */
function uniqueId(id: string, given: ReadonlySet<string>): string {
  if (!given.has(id)) return id
  const [call = '', ...item] = id.split('|')
  for (let count = 2; ; count++) {
    const end = `_${count}`
    const parts = [call, ...item].map((part) => `${part.slice(0, longestId - end.length)}${end}`)
    const unique = parts.join('|')
    if (!given.has(unique)) return unique
  }
}

/** Images are checked once: the same block stands in each later request. */
const checked = new WeakMap<ImageBlock, UserBlock>()

function fitMedia(block: UserBlock): UserBlock {
  if (block.type !== 'image') return block
  const known = checked.get(block)
  if (known) return known
  const fitted = fitImage(block)
  checked.set(block, fitted)
  return fitted
}

function fitImage(block: ImageBlock): UserBlock {
  const kind = imageKind(block.data)
  if (kind === block.media_type) return block
  if (kind !== undefined) return { ...block, media_type: kind }
  return {
    type: 'text',
    text: '[an image that is left out: its bytes are no PNG, JPEG, GIF or WebP]',
  }
}
