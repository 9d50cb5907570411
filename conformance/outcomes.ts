/** Outcomes, the verdicts of a stub grader, and the events that a session shows of them. */
import type { StubAnswer } from '@steward/model/stubs/stub-server.ts'
import { says as saysAtCost } from './priced-model.ts'
import type { PostedEvent, SeenEvent } from './turns.ts'
import { all, types } from './turns.ts'

export const cost = { input: 1_000, output: 1_000 }
/** At `cost`, such an answer costs twenty cents. */
export const usage = { input: 150, output: 50 }
export const says = (text: string): StubAnswer => saysAtCost(text, usage)

export const submits = (input: object): StubAnswer => ({
  blocks: [
    { type: 'tool_call', id: 'toolu_v', name: 'submit_verdict', pieces: [JSON.stringify(input)] },
  ],
  stop: 'tool_use',
  usage,
})
const verdict = (result: string, explanation: string): StubAnswer =>
  submits({ result, explanation, criteria: [{ criterion: 'c', met: result === 'satisfied' }] })
export const revise = verdict('needs_revision', 'make it shorter')
export const satisfied = verdict('satisfied', 'it is good')

export const outcome = (more: object = {}): PostedEvent => ({
  type: 'user.define_outcome',
  description: 'a short poem',
  rubric: { type: 'text', content: 'It has four lines.' },
  ...more,
})
export const rubric = { type: 'text', content: 'It has four lines.' }

/** Types of the events without model requests and usage totals. */
export const steps = (seen: readonly SeenEvent[]): string[] =>
  types(seen).filter((type) => !/^span\.model|^session\.usage/.test(type))

export const results = (seen: readonly SeenEvent[]): unknown[] =>
  all(seen, 'span.outcome_evaluation_end').map(({ result, iteration }) => [result, iteration])

export const works = ['user.define_outcome', 'session.status_running', 'agent.message']
export const evaluation = ['span.outcome_evaluation_start', 'span.outcome_evaluation_end']
