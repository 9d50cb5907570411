/** Converts a request of the earlier interface: its tasks become samples. */
import { callTypes } from '@steward/protocol/call-events.ts'
import type { EvalTask, Reward, Scorer } from '@steward/protocol/eval-tasks.ts'
import type { EvalBody, EvalCreate } from '@steward/protocol/evals.ts'
import type { Grader } from '@steward/protocol/graders.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import { invalid } from '../../ground/core/errors.ts'

export function toEvalCreate({ agent_id, tasks, agent, ...body }: EvalBody): EvalCreate {
  const chosen = agent ?? agent_id
  if (!chosen) throw invalid('agent: is required')
  if (!tasks) return { ...body, agent: chosen }
  return { ...body, agent: chosen, samples: tasks.map(sampleOf) }
}

const sampleOf = ({ id, messages, setup_files, setup_script, reward }: EvalTask): Sample => ({
  id,
  input: messages,
  files: setup_files,
  setup_script,
  graders: gradersOf(reward),
})

const commandMs = 60_000

const noError = (name: string): Grader => ({
  name,
  type: 'events',
  expect: [{ type: 'session.error', min: 0, max: 0 }],
})

function gradersOf(reward: Reward | null | undefined): Grader[] {
  switch (reward?.type) {
    case undefined:
      return [noError('idle_no_error')]
    case 'script':
      return [{ name: 'script', type: 'script', command: reward.script, timeout_ms: commandMs }]
    case 'llm_judge':
      return [{ name: 'llm_judge', type: 'rubric', content: reward.rubric }]
    case 'verifiable':
      return reward.scorers.map((scorer, index) => graderOf(scorer, `${scorer.type}_${index + 1}`))
    default:
      return reward satisfies never
  }
}

function graderOf(scorer: Scorer, name: string): Grader {
  switch (scorer.type) {
    case 'includes':
      return { name, type: 'text', op: 'includes', value: scorer.value, ignore_case: false }
    case 'regex':
      return { name, type: 'text', op: 'regex', value: scorer.pattern, ignore_case: false }
    case 'tool_used': {
      const { tool } = scorer
      const of = callTypes.map((type) => ({
        name: type,
        type: 'events' as const,
        expect: [{ type, name: tool, min: 1 }],
      }))
      return { name, type: 'any', of }
    }
    case 'tool_not_used': {
      const { tool } = scorer
      const expect = callTypes.map((type) => ({ type, name: tool, min: 0, max: 0 }))
      return { name, type: 'events', expect }
    }
    case 'bash_exit':
      return { name, type: 'script', command: scorer.command, timeout_ms: commandMs }
    case 'file_written':
      return { name, type: 'file', path: scorer.path }
    case 'idle_no_error':
      return noError(name)
    default:
      return scorer satisfies never
  }
}
