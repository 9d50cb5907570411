/** Bounds of the messages of MCP servers, which the library parses as one piece of work. */
import { JsonStructureError, jsonStructureCheck } from '@steward/base/json-structure.ts'

const mostBytes = 32 * 1024 * 1024
/**
 * An empty list costs ten times its text, so values are bounded apart from bytes. A message may be deeper than what code
 * walks: it may list tools, of which only those with a deep schema are left out.
 */
const limits = { values: 500_000, depth: 4_096, around: 8 * 1024 * 1024 }

export class MessageRefused extends Error {}

/** Takes one message piece by piece. Throws as soon as the message exceeds a bound. */
export function messageCheck(): (piece: Uint8Array) => void {
  const checkStructure = jsonStructureCheck(limits)
  let size = 0
  return (piece) => {
    size += piece.length
    if (size > mostBytes) throw new MessageRefused(`the answer is larger than ${mostBytes} bytes`)
    try {
      checkStructure(piece)
    } catch (error) {
      throw error instanceof JsonStructureError
        ? new MessageRefused(`the answer ${error.message}`)
        : error
    }
  }
}
