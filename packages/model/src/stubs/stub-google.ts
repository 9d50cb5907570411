import type { StubAnswer, StubDialect, StubBlock } from './stub-server.ts'
import { formatSse } from './stub-server.ts'

/** Google's generateContent. */
export const googleDialect: StubDialect = {
  frames(answer) {
    const usage = { input: 10, output: 5, cacheRead: 0, ...answer.usage }
    const usageMetadata = {
      promptTokenCount: usage.input + usage.cacheRead,
      candidatesTokenCount: usage.output,
      cachedContentTokenCount: usage.cacheRead,
    }
    return [
      ...answer.blocks.flatMap((block) =>
        partsOf(block).map((part) =>
          formatSse({ candidates: [{ content: { role: 'model', parts: [part] } }] }),
        ),
      ),
      formatSse({ candidates: [{ finishReason: reasons[answer.stop] }], usageMetadata }),
    ]
  },
  error: (code, status, message) => JSON.stringify({ error: { code, message, status } }),
}

const reasons: Record<StubAnswer['stop'], string> = {
  end_turn: 'STOP',
  tool_use: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refusal: 'SAFETY',
}

function partsOf(block: StubBlock): Record<string, unknown>[] {
  switch (block.type) {
    case 'text':
      return block.pieces.map((text) => ({ text }))
    case 'thinking':
      return block.pieces.map((text, i) => ({
        text,
        thought: true,
        ...(i === block.pieces.length - 1 && { thoughtSignature: block.signature }),
      }))
    case 'tool_call': {
      const args: unknown = JSON.parse(block.pieces.join(''))
      return [{ functionCall: { id: block.id, name: block.name, args } }]
    }
  }
}
