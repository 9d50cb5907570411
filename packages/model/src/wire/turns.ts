/**
 * Joins neighbouring turns of the same role in the finished request body. Some providers and many chat templates refuse
 * two user messages in a row, which a given-up turn leaves behind. Blocks keep their order and bytes: a longer
 * conversation still begins with the blocks of the shorter one, and a cache breakpoint stays on its block.
 */
import type { ModelWire } from '../spec.ts'
import { type JsonObject, toItems } from './documents.ts'

/** The fields in which a wire stores its turns, and the blocks of a turn. */
const fields: Record<ModelWire, { turns: string; blocks: string }> = {
  'anthropic-messages': { turns: 'messages', blocks: 'content' },
  'openai-completions': { turns: 'messages', blocks: 'content' },
  'openai-responses': { turns: 'input', blocks: 'content' },
  'google-generative-ai': { turns: 'contents', blocks: 'parts' },
}

export function joinTurns(wire: ModelWire, body: JsonObject): void {
  const { turns, blocks } = fields[wire]
  const joined: JsonObject[] = []
  for (const turn of toItems(body[turns])) {
    const before = joined.at(-1)
    if (before?.role === 'user' && turn.role === 'user') {
      before[blocks] = toItems(before[blocks])
      for (const block of toItems(turn[blocks])) (before[blocks] as JsonObject[]).push(block)
    } else joined.push(turn)
  }
  body[turns] = wire === 'google-generative-ai' ? joined.flatMap(responsesApart) : joined
}

/** Google counts the responses in the turn after a call: that turn must hold all of them and nothing else. */
function responsesApart(turn: JsonObject): JsonObject[] {
  const responses = toItems(turn.parts).filter((part) => part.functionResponse !== undefined)
  const others = toItems(turn.parts).filter((part) => part.functionResponse === undefined)
  return [responses, others]
    .filter((parts) => parts.length > 0)
    .map((parts) => ({ ...turn, parts }))
}
