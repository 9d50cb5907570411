/** The successful answers of a route in the published description. */
import type { z } from 'zod'
import type { SchemaNode } from './schemas.ts'
import type { FurtherAnswer, Route } from '../route.ts'

type AnswerDescribing = {
  schemaOf: (schema: z.ZodType, way: 'output') => SchemaNode
  /** Describes a stream. */
  stream: string
}
type DescribedAnswer = { description: string; content?: Record<string, { schema: SchemaNode }> }

/** The answers of a route by their statuses. Answers with one status are described together. */
export function describeAnswers(
  route: Route,
  describing: AnswerDescribing,
): Record<string, DescribedAnswer> {
  const found: Record<string, DescribedAnswer> = {
    [String(route.status ?? 200)]: answerOf(route, describing),
  }
  for (const further of route.further ?? []) {
    const status = String(further.status)
    const { content } = answerOf(further, describing)
    const before = found[status]
    found[status] = {
      description: before ? `${before.description} ${further.description}` : further.description,
      ...((before?.content ?? content) && { content: { ...before?.content, ...content } }),
    }
  }
  return found
}

function answerOf(
  {
    answer,
    isStream,
    mediaTypes = ['application/octet-stream'],
  }: Pick<FurtherAnswer, 'answer' | 'mediaTypes'> & Pick<Route, 'isStream'>,
  { schemaOf, stream }: AnswerDescribing,
): DescribedAnswer {
  const streamed = { 'text/event-stream': { schema: { type: 'string' } } }
  if (answer === 'none') return { description: 'Done.' }
  if (answer === 'stream') return { description: stream, content: streamed }
  if (answer === 'bytes') {
    const schema = { type: 'string', format: 'binary' }
    return {
      description: 'The bytes.',
      content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
    }
  }
  if (answer === 'any')
    return {
      description: 'The answer of the upstream, as it came.',
      content: { '*/*': { schema: {} } },
    }
  const content = { 'application/json': { schema: schemaOf(answer, 'output') } }
  return isStream
    ? { description: `JSON, or a stream. ${stream}`, content: { ...content, ...streamed } }
    : { description: 'Done.', content }
}
