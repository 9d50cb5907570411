/** Google's wire, as gateways speak it. */
import type { JsonObject } from '../documents.ts'
import type { EventFitter, FittedEvent } from './fitter.ts'
import {
  type StopWord,
  isRecord,
  recordOf,
  recordsOf,
  stopWordOf,
  textOf,
  usageOf,
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
      const candidate = recordsOf(data.candidates)[0] ?? {}
      const content = recordOf(candidate.content)
      const parts = recordsOf(content.parts).flatMap(fitPart)
      const finishReason = finishReasonOf(candidate.finishReason)
      const usage = usageOf(data.usageMetadata)
      const responseId = textOf(data.responseId)
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
  const signature = textOf(part.thoughtSignature)
  const fitted: JsonObject = {
    ...part,
    ...(text !== undefined && text !== null && { text: textOf(text) }),
    ...(isRecord(functionCall) && { functionCall: fitCall(functionCall) }),
    ...(thought === true && { thought }),
  }
  delete fitted.thoughtSignature
  if (signature !== '') fitted.thoughtSignature = signature
  return Object.keys(fitted).length === 0 ? [] : [fitted]
}

function fitCall({ id, name, args, ...call }: JsonObject): JsonObject {
  const said = textOf(id)
  return { ...call, ...(said !== '' && { id: said }), name: textOf(name), args: args ?? {} }
}

function finishReasonOf(value: unknown): string | undefined {
  const said = textOf(value)
  const stop = stopWordOf(said)
  if (stop === undefined || ownReasons.has(said)) return stop && said
  return finishReasons[stop] ?? (stop === 'filter' ? 'SAFETY' : 'OTHER')
}
