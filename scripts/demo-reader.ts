/** The model of the demo's reader: it answers from what stands around the request, and from nothing else. */
import type { StubModel, StubRequest } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import { z } from 'zod'

const Said = z
  .array(z.looseObject({ author: z.string().nullable(), text: z.string() }).or(z.looseObject({})))
  .default([])
const Context = z.looseObject({
  line: z.looseObject({ path: z.string(), line: z.number(), diff_hunk: z.string() }).optional(),
  line_thread: Said,
  thread: Said,
})

/** The words of a list of what people have said, each with its author. */
const wordsOf = (said: z.infer<typeof Said>) =>
  said.flatMap((each) =>
    'text' in each ? [{ author: String(each.author), text: String(each.text) }] : [],
  )

/** The context of the newest request: the line of JSON in its fence. */
function contextOf({ body }: StubRequest): z.infer<typeof Context> {
  const Messages = z.array(z.looseObject({ role: z.string(), content: z.unknown() }))
  const asked = Messages.parse(body['messages']).findLast(({ role }) => role === 'user')
  const Texts = z.array(z.looseObject({ text: z.string().optional() }))
  const texts = Texts.parse(asked?.content).flatMap(({ text }) => text ?? [])
  const line = texts
    .flatMap((text) => text.split('\n'))
    .find((each) => each.startsWith('{') && each.endsWith('}'))
  return Context.parse(line === undefined ? {} : JSON.parse(line))
}

function answerFrom({ line: place, line_thread, thread }: z.infer<typeof Context>): string {
  if (place) {
    const { path, line, diff_hunk } = place
    const now = diff_hunk.split('\n').findLast((each) => each.startsWith('+')) ?? ''
    const before = wordsOf(line_thread).map(({ author, text }) => `${author} said "${text}"`)
    return `Line ${line} of ${path} is now \`${now.slice(1)}\`. Before that ${before.join(', ')}.`
  }
  const said = wordsOf(thread)
  const people = [...new Set(said.map(({ author }) => author))].join(' and ')
  const points = said.map(({ author, text }) => `- ${text} (${author})`)
  return [`${people} wrote ${said.length} messages:`, ...points].join('\n')
}

export async function startReader(): Promise<StubModel> {
  const model = await startStub(anthropicDialect)
  model.replies({ blocks: [{ type: 'text', pieces: ['OK'] }], stop: 'end_turn' })
  model.repliesBy((request) => {
    const text = JSON.stringify(request.body).includes('--- context')
      ? answerFrom(contextOf(request))
      : undefined
    return text === undefined
      ? undefined
      : { blocks: [{ type: 'text', pieces: [text] }], stop: 'end_turn' }
  })
  return model
}
