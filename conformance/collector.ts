/** An OpenTelemetry collector for JSON over HTTP that stores the spans it receives. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const Value = z.union([
  z.object({ stringValue: z.string() }).transform((value) => value.stringValue),
  z.object({ intValue: z.coerce.number() }).transform((value) => value.intValue),
  z.object({ doubleValue: z.number() }).transform((value) => value.doubleValue),
  z.object({ boolValue: z.boolean() }).transform((value) => value.boolValue),
])
const Attributes = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])))
const SentSpan = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().default(''),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: Attributes,
  status: z.object({ code: z.number().default(0) }),
})
const Sent = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(SentSpan) })),
    }),
  ),
})
export type SentSpan = z.infer<typeof SentSpan>

export async function startCollector() {
  const bodies: string[] = []
  const spans: SentSpan[] = []
  const resources: z.infer<typeof Attributes>[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body)
      for (const { resource, scopeSpans } of Sent.parse(JSON.parse(body)).resourceSpans) {
        resources.push(resource.attributes)
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bodies, spans, resources, close: () => server.close() }
}
