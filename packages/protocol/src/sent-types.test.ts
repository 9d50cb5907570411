import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { z } from 'zod'
import { InitialEvent, PostEvents } from './events.ts'
import { OpenAIEnvironmentParam } from './openai/environments.ts'
import { OpenAIEventsCreate } from './openai/inputs.ts'
import { OpenAITool } from './openai/tools.ts'
import { parsedBy } from './problems.ts'

const problems = (schema: z.ZodType, value: unknown): string => {
  const parsed = parsedBy(schema, value)
  return parsed.ok ? 'none' : parsed.problems
}

describe('the type of a value', () => {
  const schemas = { InitialEvent, OpenAIEnvironmentParam, OpenAITool }
  for (const [name, schema] of Object.entries(schemas))
    it(`of ${name} is required, and named when it is not known`, () => {
      assert.match(problems(schema, {}), /^type: is required: one of /)
      assert.equal(problems(schema, 'a'), 'the input must be an object')
      assert.match(problems(schema, { type: null }), /^type: (null is no |must be )/)
    })

  it('of an event is required, and named when it is not known', () => {
    for (const schema of [PostEvents, OpenAIEventsCreate]) {
      const first = (event: unknown) => problems(schema, { events: [event] })
      assert.match(first({}), /^events\.0\.type: is required: one of /)
      assert.equal(first('a'), 'events.0: must be an object')
      const wrong = 'is no event that may be sent here'
      assert.equal(first({ type: 'a' }), `events.0.type: "a" ${wrong}`)
      assert.equal(first({ type: 7 }), `events.0.type: 7 ${wrong}`)
      assert.equal(
        first({ type: 'a'.repeat(200) }),
        `events.0.type: "${'a'.repeat(100)}…" ${wrong}`,
      )
    }
  })
})
