/** Estimates the tokens of messages. A provider's count is better and takes precedence. */
import type { AssistantBlock, Message, UserBlock } from '@steward/model/model.ts'

/** Slightly lower than for English text, so that the estimate is rather too high. */
const bytesPerToken = 3.5
export const estimateMethod = `bytes of the text in UTF-8, divided by ${bytesPerToken}`
const image = 1_600
/** For documents that are no text. A page of a PDF takes some thousand tokens. */
const bytesPerDocumentToken = 30
const perMessage = 8

export const tokensOfText = (text: string): number =>
  Math.ceil(Buffer.byteLength(text) / bytesPerToken)

export function tokensOfBlock(block: UserBlock | AssistantBlock): number {
  switch (block.type) {
    case 'text':
      return tokensOfText(block.text)
    case 'thinking':
      return tokensOfText(block.text) + tokensOfText(block.state ?? '') / 4
    case 'tool_call':
      return tokensOfText(block.name) + tokensOfText(JSON.stringify(block.input))
    case 'image':
      return image
    case 'document': {
      const bytes = block.data.length * 0.75
      return bytes / (block.media_type.startsWith('text/') ? bytesPerToken : bytesPerDocumentToken)
    }
  }
}

export const estimateMessageTokens = ({ content }: Message): number =>
  Math.ceil(content.reduce((sum, block) => sum + tokensOfBlock(block), perMessage))
