/** Items for an agent's calls to other agents of its session, and for the messages between agents. */
import type { EventOf } from '@steward/protocol/events.ts'
import type { OpenAIItem } from '@steward/protocol/openai/turns.ts'
import { primaryThreadId } from '../../../ground/core/text/ids.ts'
import type { LogOwner } from './turn.ts'

type CallStatus = Extract<OpenAIItem, { type: 'create_subagent_call' }>['status']
type SubagentItemBase = { id: string; turn_id: string; status: CallStatus }

/** The id of an agent: a subagent has the id of its thread, and the session's agent has its own id. */
const agentOf = ({ session, agent }: LogOwner, thread: string): string =>
  thread === primaryThreadId(session) ? agent : thread

const selfOf = ({ agent, thread }: LogOwner): string => thread ?? agent

const wordsOf = (text: unknown) => [
  { type: 'output_text' as const, text: typeof text === 'string' ? text : '' },
]

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns undefined for a call of any other tool. */
export function subagentCall(
  base: SubagentItemBase,
  {
    event,
    output,
    owner,
  }: { event: EventOf<'agent.tool_use'>; output: string | null; owner: LogOwner },
): OpenAIItem | undefined {
  const { name, input } = event
  const sender_agent_id = selfOf(owner)
  if (name === 'create_agent')
    return {
      ...base,
      type: 'create_subagent_call',
      agent_id: startedThread(output) ?? '',
      content: wordsOf(input['message']),
      model: textOf(input['model']),
      reasoning_effort: null,
    }
  if (name === 'send_to_agent')
    return {
      ...base,
      type: 'send_subagent_input_call',
      sender_agent_id,
      recipient_agent_id: textOf(input['session_thread_id']) ?? '',
      content: wordsOf(input['message']),
    }
  if (name === 'wait_for_agents') {
    const threads = input['session_thread_ids']
    const recipient_agent_ids = Array.isArray(threads) ? threads.filter((id) => textOf(id)) : []
    return { ...base, type: 'wait_for_subagents_call', sender_agent_id, recipient_agent_ids }
  }
  return undefined
}

/** The thread that `create_agent` started, from the text of its result. */
const startedThread = (output: string | null): string | undefined =>
  /"session_thread_id":"(\w+)"/.exec(output ?? '')?.[1]

export const messageBetween = (
  base: Omit<SubagentItemBase, 'status'>,
  event: EventOf<'agent.thread_message_received'>,
  owner: LogOwner,
): OpenAIItem => ({
  ...base,
  type: 'agent_message',
  sender_agent_id: agentOf(owner, event.from_session_thread_id),
  recipient_agent_id: selfOf(owner),
  content: event.content.flatMap(({ text }) => wordsOf(text)),
})
