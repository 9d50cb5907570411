import type { Agent } from '@steward/protocol/agents.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'

/** An agent as a session keeps it. */
export function sessionAgent(agent: Agent): SessionAgent {
  const {
    archived: _archived,
    archived_at: _at,
    created_at: _made,
    updated_at: _changed,
    ...pinned
  } = agent
  return pinned
}
