/** Google's wire, as gateways speak it. */
import type { JsonObject } from '../documents.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import {
  type StopWord,
  isRecord,
  toRecord,
  toRecords,
  toStopWord,
  toText,
  toUsage,
} from './loose.ts'

const finishReasons: Partial<Record<StopWord, string>> = {
  stop: 'STOP',
  tool: 'STOP',
  length: 'MAX_TOKENS',
}
/** Words that the library knows for failures and refusals. */
const ownReasons = new Set(
  `BLOCKLIST PROHIBITED_CONTENT SPII SAFETY IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION IMAGE_OTHER RECITATION
  FINISH_REASON_UNSPECIFIED OTHER LANGUAGE MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS NO_IMAGE`.split(
    /\s+/,
  ),
)

export function googleFitter(): EventFitter {
  return {
    fit(data) {
      if (data.error !== undefined && data.error !== null) return [{ data }]
      const candidate = toRecords(data.candidates)[0] ?? {}
      const content = toRecord(candidate.content)
      const parts = toRecords(content.parts).flatMap(fitPart)
      const finishReason = finishReasonOf(candidate.finishReason)
      const usage = toUsage(data.usageMetadata)
      const responseId = toText(data.responseId)
      const fitted: JsonObject = {
        candidates: [
          {
            content: { role: 'model', parts },
            ...(finishReason !== undefined && { finishReason }),
          },
        ],
        ...(responseId !== '' && { responseId }),
        ...(usage && { usageMetadata: usage }),
        ...(isRecord(data.promptFeedback) && { promptFeedback: data.promptFeedback }),
      }
      return [{ data: fitted, ...growingPart(parts, finishReason, usage) }]
    },
    done: () => [],
  }
}

/** Only a bare text can be joined: the library reads marks of thinking and signatures from each part. */
function growingPart(
  parts: JsonObject[],
  finishReason: string | undefined,
  usage: JsonObject | undefined,
): Pick<FittedEvent, 'growing'> {
  const [part] = parts
  if (part === undefined || parts.length > 1 || finishReason !== undefined || usage) return {}
  const names = Object.keys(part)
  if (!('text' in part) || names.some((name) => name !== 'text' && name !== 'thought')) return {}
  return { growing: { slot: `text ${String(part.thought)}`, holder: part, field: 'text' } }
}

function fitPart({ text, functionCall, thought, ...part }: JsonObject): JsonObject[] {
  const signature = toText(part.thoughtSignature)
  const fitted: JsonObject = {
    ...part,
    ...(text !== undefined && text !== null && { text: toText(text) }),
    ...(isRecord(functionCall) && { functionCall: fitCall(functionCall) }),
    ...(thought === true && { thought }),
  }
  delete fitted.thoughtSignature
  if (signature !== '') fitted.thoughtSignature = signature
  return Object.keys(fitted).length === 0 ? [] : [fitted]
}

function fitCall({ id, name, args, ...call }: JsonObject): JsonObject {
  const said = toText(id)
  return { ...call, ...(said !== '' && { id: said }), name: toText(name), args: args ?? {} }
}

function finishReasonOf(value: unknown): string | undefined {
  const said = toText(value)
  const stop = toStopWord(said)
  if (stop === undefined || ownReasons.has(said)) return stop && said
  return finishReasons[stop] ?? (stop === 'filter' ? 'SAFETY' : 'OTHER')
}
