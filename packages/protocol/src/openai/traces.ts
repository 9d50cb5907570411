/** What a turn did when, as OpenTelemetry has it in JSON. */
import { z } from 'zod'
import { UnixSeconds } from './lists.ts'

const Attribute = z.object({
  key: z.string(),
  value: z.union([
    z.object({ stringValue: z.string() }),
    z.object({ intValue: z.string().describe('A number in decimal, as OTLP writes it.') }),
  ]),
})
export type OtlpAttribute = z.infer<typeof Attribute>

const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(Attribute),
  status: z.object({ code: z.int().optional().describe('2 for an error.') }),
})
export type OtlpSpan = z.infer<typeof Span>

export const OpenAITraceShown = z
  .object({
    id: z.string().describe('That of the turn.'),
    object: z.literal('agent.session.trace'),
    session_id: z.string(),
    created_at: UnixSeconds,
    otlp: z.object({
      resourceSpans: z.array(
        z.object({
          resource: z.object({ attributes: z.array(Attribute) }),
          scopeSpans: z.array(
            z.object({ scope: z.object({ name: z.string() }), spans: z.array(Span) }),
          ),
        }),
      ),
    }),
  })
  .meta({
    id: 'OpenAITrace',
    description: 'Requests to the model and calls of a turn that is over, without their content.',
  })
export type OpenAITrace = z.infer<typeof OpenAITraceShown>
