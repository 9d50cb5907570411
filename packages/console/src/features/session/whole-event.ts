/** Events whose long texts were cut, fetched whole where somebody looks at them. */
import { useQuery } from '@tanstack/react-query'
import type { ToolCall } from './conversation.ts'
import { wholeEventQuery } from './session.ts'
import type { LoggedPicture } from './texts.ts'
import { imagesOf, textOfContent } from './texts.ts'

type WholeInput = { input: Record<string, unknown>; isWhole: boolean }

/** The input of a call as it is; until the whole has come, its beginning. */
export function useWholeInput(
  session: string,
  { id, input, isCut }: ToolCall,
  isWanted = true,
): WholeInput {
  const { data } = useQuery({ ...wholeEventQuery(session, id), enabled: isCut && isWanted })
  if (!isCut) return { input, isWhole: true }
  const whole = data && 'input' in data ? data.input : undefined
  return typeof whole === 'object' && whole !== null
    ? { input: { ...whole }, isWhole: true }
    : { input, isWhole: false }
}

export type WholeResult = { text: string; images: readonly LoggedPicture[] } | undefined

/** The result of a call; while a cut one is fetched, its beginning and its end. */
export function useWholeResult(
  session: string,
  { result }: ToolCall,
  isWanted: boolean,
): WholeResult {
  const isFetched = result?.isCut === true && isWanted
  const { data } = useQuery({ ...wholeEventQuery(session, result?.id ?? ''), enabled: isFetched })
  if (!isFetched || !data || !('content' in data) || !Array.isArray(data.content)) return result
  return { text: textOfContent(data.content), images: imagesOf(data.content) }
}
