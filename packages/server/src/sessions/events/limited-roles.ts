/** What of a session a role may start and answer that may change nothing else. */
import type { ClientEvent } from '@steward/protocol/events.ts'
import type { SessionCreate } from '@steward/protocol/sessions.ts'
import { forbidden } from '../../ground/core/errors.ts'
import { permissions } from '../../ground/http/permissions.ts'
import type { Principal } from '../../ground/http/principal.ts'
import { roleOf } from '../../ground/http/principal.ts'

/** True for a caller that reaches sessions by an operation alone, as a reviewer does. */
export function isLimited(principal: Principal): boolean {
  const role = roleOf(principal)
  return role !== null && !permissions[role].changes.includes('workspace')
}

const answers: readonly ClientEvent['type'][] = [
  'user.message',
  'user.tool_confirmation',
  'user.custom_tool_result',
  'user.interrupt',
]

/** `field`: the list in the request. */
export function checkAnswers(
  principal: Principal,
  events: readonly Pick<ClientEvent, 'type'>[],
  field: string,
): void {
  if (!isLimited(principal)) return
  for (const [index, { type }] of events.entries())
    if (!answers.includes(type))
      throw forbidden(
        `${field}.${index}.type: a reviewer posts ${answers.join(', ')}; ${type} needs the role member`,
      )
}

/** An agent with overrides would be another agent than the one that people have approved. */
export function checkStart(principal: Principal, { agent, initial_events }: SessionCreate): void {
  if (!isLimited(principal)) return
  if (typeof agent !== 'string' && agent.type !== 'agent')
    throw forbidden(
      'agent: a reviewer starts sessions of stored agents as they are: name one by its id; overrides need the role member',
    )
  checkAnswers(principal, initial_events ?? [], 'initial_events')
}
