/** The spans of a turn, in the JSON of OpenTelemetry. */
import { z } from 'zod'
import { UnixSeconds } from './lists.ts'

const Attribute = z.object({
  key: z.string().describe('The name of the attribute.'),
  value: z
    .union([
      z.object({ stringValue: z.string().describe('A text.') }),
      z.object({ intValue: z.string().describe('A number in decimal, as OTLP writes it.') }),
    ])
    .describe('A text or a number.'),
})
export type OtlpAttribute = z.infer<typeof Attribute>

const Span = z.object({
  traceId: z.string().describe('32 hexadecimal digits, the same for all spans of the trace.'),
  spanId: z.string().describe('16 hexadecimal digits.'),
  parentSpanId: z
    .string()
    .optional()
    .describe('The span that this one is a part of; absent for the turn.'),
  name: z.string(),
  kind: z.int().describe('The kind of span, as OTLP counts it.'),
  startTimeUnixNano: z.string().describe('When it began, in nanoseconds since 1970.'),
  endTimeUnixNano: z.string().describe('When it ended, in nanoseconds since 1970.'),
  attributes: z.array(Attribute).describe('Names, and counts of tokens.'),
  status: z
    .object({ code: z.int().optional().describe('2 for an error.') })
    .describe('Whether it has failed.'),
})
export type OtlpSpan = z.infer<typeof Span>

export const OpenAITraceShown = z
  .object({
    id: z.string().describe('That of the turn.'),
    object: z.literal('agent.session.trace'),
    session_id: z.string(),
    created_at: UnixSeconds,
    otlp: z
      .object({
        resourceSpans: z
          .array(
            z.object({
              resource: z
                .object({ attributes: z.array(Attribute).describe('Names of the service.') })
                .describe('The service that has made the spans.'),
              scopeSpans: z
                .array(
                  z.object({
                    scope: z.object({ name: z.string() }).describe('The part of the service.'),
                    spans: z.array(Span).describe('The spans, at most 1,000.'),
                  }),
                )
                .describe('The spans of one part of the service.'),
            }),
          )
          .describe('The spans of one resource: this service.'),
      })
      .describe('The trace as OTLP has it in JSON.'),
  })
  .meta({
    id: 'OpenAITrace',
    description: 'Requests to the model and calls of a turn that is over, without their content.',
  })
export type OpenAITrace = z.infer<typeof OpenAITraceShown>
