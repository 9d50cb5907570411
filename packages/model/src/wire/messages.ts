import type {
  AssistantBlock,
  Message as OurMessage,
  MessageOrigin,
  ToolSpec,
  UserBlock,
} from '../model.ts'
import type { Documents } from './documents.ts'
import type { AssistantMessage, Message, Model, Api, Tool } from './pi.ts'

type ResultBlocks = Extract<Message, { role: 'toolResult' }>['content']
type AssistantContent = AssistantMessage['content']

/** Fields that the library requires and the wire does not send. */
const unused = {
  timestamp: 0,
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
} as const

/** The result for a message depends on no later message, so that a longer history begins with the shorter one. */
export function libraryMessages(
  messages: readonly OurMessage[],
  model: Model<Api>,
  documents: Documents,
): Message[] {
  const out: Message[] = []
  const takesSystem = compatFlag(model, 'supportsMidConvoSystemMessages')
  const keepsBareThinking =
    model.api !== 'anthropic-messages' || compatFlag(model, 'allowEmptySignature')
  for (const message of inCallOrder(messages)) {
    switch (message.role) {
      case 'user':
        out.push({ role: 'user', content: spoken(message.content, documents), timestamp: 0 })
        break
      case 'system':
        out.push(
          systemMessage(message.content.map((block) => block.text).join('\n\n'), takesSystem),
        )
        break
      case 'tool_result':
        out.push({
          role: 'toolResult',
          toolCallId: message.tool_call_id,
          toolName: message.tool_name,
          content: userContent(message.content, documents),
          isError: message.is_error,
          timestamp: 0,
        })
        break
      case 'assistant':
        out.push(...assistantMessage(message.content, message.origin, model, keepsBareThinking))
        break
      default:
        message satisfies never
    }
  }
  return out
}

/** Providers want results directly after their calls. Messages in between are moved behind the results. */
function inCallOrder(messages: readonly OurMessage[]): OurMessage[] {
  const out: OurMessage[] = []
  const open = new Set<string>()
  const held: OurMessage[] = []
  const release = () => out.push(...held.splice(0))
  for (const message of messages) {
    if (message.role === 'assistant') {
      release()
      open.clear()
      for (const block of message.content) if (block.type === 'tool_call') open.add(block.id)
      out.push(message)
    } else if (message.role === 'tool_result') {
      open.delete(message.tool_call_id)
      out.push(message)
      if (open.size === 0) release()
    } else if (open.size > 0) held.push(message)
    else out.push(message)
  }
  release()
  return out
}

function systemMessage(text: string, takesSystem: boolean): Message {
  if (takesSystem) return { role: 'system', content: text, timestamp: 0 }
  const marked = `<system>\n${text}\n</system>`
  return { role: 'user', content: [{ type: 'text', text: marked }], timestamp: 0 }
}

/**
 * Adds a text to an empty message: the library drops it or providers refuse it, and two answers would become
 * neighbours.
 */
function spoken(blocks: readonly UserBlock[], documents: Documents): ResultBlocks {
  const content = userContent(blocks, documents).filter(
    (block) => block.type !== 'text' || block.text.trim() !== '',
  )
  return content.length > 0 ? content : [{ type: 'text', text: '(empty message)' }]
}

function userContent(blocks: readonly UserBlock[], documents: Documents): ResultBlocks {
  return blocks.flatMap((block): ResultBlocks => {
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text }]
      case 'image':
        return [{ type: 'image', data: block.data, mimeType: block.media_type }]
      case 'document':
        return documents.place(block).map((text) => ({ type: 'text', text }))
    }
  })
}

function assistantMessage(
  blocks: readonly AssistantBlock[],
  origin: MessageOrigin,
  model: Model<Api>,
  keepsBareThinking: boolean,
): Message[] {
  const own =
    origin.provider === model.provider && origin.api === model.api && origin.model === model.id
  const content = blocks.flatMap((block) => assistantBlock(block, own, keepsBareThinking))
  // The Messages wire refuses a message that ends in thinking, even its own.
  if (model.api === 'anthropic-messages') while (content.at(-1)?.type === 'thinking') content.pop()
  if (content.length === 0) return []
  return [{ role: 'assistant', content, ...origin, ...unused, stopReason: 'stop' }]
}

function assistantBlock(
  block: AssistantBlock,
  own: boolean,
  keepsBareThinking: boolean,
): AssistantContent {
  const state = own ? block.state : undefined
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text, ...(state && { textSignature: state }) }]
    case 'thinking':
      if (!own || (state === undefined && (block.redacted === true || !keepsBareThinking)))
        return []
      return [
        {
          type: 'thinking',
          thinking: block.text,
          ...(state !== undefined && { thinkingSignature: state }),
          ...(block.redacted === true && { redacted: true }),
        },
      ]
    case 'tool_call':
      return [
        {
          type: 'toolCall',
          id: block.id,
          name: block.name,
          arguments: block.input as Extract<
            AssistantContent[number],
            { type: 'toolCall' }
          >['arguments'],
          ...(state && { thoughtSignature: state }),
        },
      ]
  }
}

export function libraryTools(tools: readonly ToolSpec[]): Tool[] {
  return tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    parameters: input_schema,
  }))
}

function compatFlag(model: Model<Api>, name: string): boolean {
  return new Map(Object.entries(model.compat ?? {})).get(name) === true
}
