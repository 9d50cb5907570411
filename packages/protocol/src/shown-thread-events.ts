/** Events of the threads of a session, as answers show them. */
import { z } from 'zod'
import { TextBlock } from './content.ts'
import type { EventFields, EventType } from './events.ts'

export type EventDescription<T extends EventType> = {
  says: string
  fields: () => z.ZodType<EventFields[T]> & z.ZodObject
}

export const stop_reason = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('end_turn') }).describe('The agent has finished.'),
    z
      .object({
        type: z.literal('requires_action'),
        event_ids: z.array(z.string()).describe('The ids of the calls that wait.'),
      })
      .describe('The named calls wait for an answer or a confirmation.'),
    z.object({ type: z.literal('retries_exhausted') }).describe('The model could not be reached.'),
    z.object({ type: z.literal('budget_reached') }).describe('The session has spent its budget.'),
    z.object({ type: z.literal('refusal') }).describe('The model declined.'),
  ])
  .meta({ id: 'StopReason', description: 'Why the turn has ended.' })

const id = z.string()
const content = z.array(TextBlock).describe('What the message says.')
const threadName = {
  session_thread_id: id.describe('The id of the thread.'),
  agent_name: z.string().describe('The name of the agent that runs the thread.'),
}

type ThreadEventType = Extract<
  EventType,
  `agent.thread_message_${string}` | `session.thread_${string}`
>

export const threadEvents: { [T in ThreadEventType]: EventDescription<T> } = {
  'agent.thread_message_received': {
    says: 'Another thread has sent a message to this one. Without a name it is the primary thread.',
    fields: () =>
      z.object({
        from_session_thread_id: id.describe('The thread that has sent the message.'),
        from_agent_name: z.string().optional().describe('The name of the agent of that thread.'),
        content,
      }),
  },
  'agent.thread_message_sent': {
    says: 'This thread has sent a message to another one. Without a name it is the primary thread.',
    fields: () =>
      z.object({
        to_session_thread_id: id.describe('The thread that gets the message.'),
        to_agent_name: z.string().optional().describe('The name of the agent of that thread.'),
        content,
      }),
  },
  'session.thread_created': {
    says: 'The agent has started a thread.',
    fields: () =>
      z.object({
        ...threadName,
        workflow_run_id: z.null().describe('Always null: there are no workflows.'),
      }),
  },
  'session.thread_status_running': {
    says: 'A thread works.',
    fields: () => z.object(threadName),
  },
  'session.thread_status_rescheduled': {
    says: 'The model of a thread will be asked again.',
    fields: () => z.object(threadName),
  },
  'session.thread_status_terminated': {
    says: 'A thread has ended for good.',
    fields: () => z.object(threadName),
  },
  'session.thread_status_idle': {
    says: 'The turn of a thread has ended.',
    fields: () =>
      z.object({ ...threadName, stop_reason, stop_details: z.null().describe('Always null.') }),
  },
}
