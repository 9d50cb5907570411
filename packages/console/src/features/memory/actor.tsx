import { Id } from '../../components/figures.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import type { MemoryActor } from '../../lib/api/types.ts'
import { memoryWords as own } from './words.ts'

/** Who has changed a memory. */
export function Actor({ of }: { of: MemoryActor }) {
  if (of.type === 'session_actor') return <SessionLink id={of.session_id} title={own.by.session} />
  return (
    <span>
      {of.type === 'api_actor' ? own.by.api : own.by.user}{' '}
      <Id of={of.type === 'api_actor' ? of.api_key_id : of.user_id} />
    </span>
  )
}
