/** Refuses blocks that mean something at one provider alone, wherever they stand in a request. */
import type { MessagePart, TokenCountParams } from '@steward/protocol/messages.ts'
import { z } from 'zod'
import { invalid } from '../../../ground/core/errors.ts'

/** Results and calls of tools that a provider runs. */
const ofServerTools =
  /^(server_tool_use|mcp_tool_use|mcp_tool_result|container_upload)$|_tool_result$/

const Sourced = z.looseObject({ source: z.looseObject({ type: z.literal('file') }) })
const Holding = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) })

function checkPart(field: string, part: MessagePart): void {
  if (ofServerTools.test(part.type))
    throw invalid(
      `${field}.type: ${part.type} belongs to a tool that the provider runs, which is not counted here: leave it out`,
    )
  if (Sourced.safeParse(part).success)
    throw invalid(
      `${field}.source: files are not known to the provider: give the bytes, with type base64`,
    )
  const holding = Holding.safeParse(part)
  if (holding.success) checkAll(`${field}.content`, holding.data.content)
}

const checkAll = (field: string, content: string | readonly MessagePart[] | null | undefined) => {
  if (typeof content !== 'string')
    for (const [at, part] of (content ?? []).entries()) checkPart(`${field}.${at}`, part)
}

export function checkParts({ messages, system }: Pick<TokenCountParams, 'messages' | 'system'>) {
  checkAll('system', system)
  for (const [at, { content }] of messages.entries()) checkAll(`messages.${at}.content`, content)
}
