/** About how many tokens a request has, without asking its provider. */
import { tokensOfBlock, tokensOfText } from '@steward/harness/tokens.ts'
import type { MessagePart, TokenCountParams } from '@steward/protocol/messages.ts'
import { z } from 'zod'

const perMessage = 8
const Base64 = z.looseObject({
  type: z.enum(['image', 'document']),
  source: z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
})
const Unread = z.looseObject({ type: z.enum(['image', 'document']) })
const Holding = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) })

function tokensOfPart(part: MessagePart): number {
  const known = Base64.safeParse(part)
  if (known.success) {
    const { type, source } = known.data
    return tokensOfBlock({ type, media_type: source.media_type, data: source.data })
  }
  const { success: isUnread } = Unread.safeParse(part)
  if (isUnread) return tokensOfBlock({ type: 'image', media_type: '', data: '' })
  const holding = Holding.safeParse(part)
  if (holding.success) return tokensOf(holding.data.content)
  if (typeof part['text'] === 'string') return tokensOfText(part['text'])
  return tokensOfText(JSON.stringify(part))
}

const tokensOf = (content: string | readonly MessagePart[] | null | undefined): number =>
  typeof content === 'string'
    ? tokensOfText(content)
    : (content ?? []).reduce((sum, part) => sum + tokensOfPart(part), 0)

export function estimateRequest({
  system,
  tools,
  messages,
}: Pick<TokenCountParams, 'system' | 'tools' | 'messages'>): number {
  const ofTools = (tools ?? []).reduce((sum, tool) => sum + tokensOfText(JSON.stringify(tool)), 0)
  const ofMessages = messages.reduce((sum, { content }) => sum + tokensOf(content) + perMessage, 0)
  return Math.ceil(tokensOf(system) + ofTools + ofMessages)
}
