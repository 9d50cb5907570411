/** What the form of a new key says, and the request that it becomes. */
import type { ApiKeyCreateBody } from '../../lib/api/types.ts'

export const keyRights = ['member', 'reads', 'admin', 'work'] as const
type KeyRights = (typeof keyRights)[number]
export const keyEnds = ['never', '7', '30', '90', '365', 'day'] as const
type KeyEnd = (typeof keyEnds)[number]

export type KeyDraft = {
  name: string
  rights: KeyRights
  /** Of a key of workers. */
  environment: string
  reach: 'work' | 'sessions'
  ends: KeyEnd
  /** The last day on which the key works, as `2027-02-24`. */
  day: string
}

export const newKey: KeyDraft = {
  name: '',
  rights: 'member',
  environment: '',
  reach: 'work',
  ends: '90',
  day: '',
}

export const keyFields = ['name', 'environment_id', 'admin', 'read_only', 'reach', 'expires_at']

const dayMs = 86_400_000

/** `from`: when the form was opened, so that its request stands still. */
function endOf({ ends, day }: KeyDraft, from: number): string | undefined {
  if (ends === 'never' || (ends === 'day' && day === '')) return undefined
  if (ends === 'day') return new Date(`${day}T23:59:59`).toISOString()
  return new Date(from + Number(ends) * dayMs).toISOString()
}

export function bodyOf(draft: KeyDraft, from: number): ApiKeyCreateBody {
  const { name, rights, environment, reach } = draft
  const end = endOf(draft, from)
  return {
    name: name.trim(),
    ...(rights === 'admin' && { admin: true }),
    ...(rights === 'reads' && { read_only: true }),
    ...(rights === 'work' && { environment_id: environment, reach }),
    ...(end !== undefined && { expires_at: end }),
  }
}

/** What has to be chosen before the form can be sent. */
export function missingOf(draft: KeyDraft): 'name' | 'environment' | 'day' | undefined {
  if (draft.name.trim() === '') return 'name'
  if (draft.rights === 'work' && draft.environment === '') return 'environment'
  return draft.ends === 'day' && draft.day === '' ? 'day' : undefined
}
