/** Who or what makes a thing, as columns of its row. */
import type { CreatedBy } from '@steward/protocol/created-by.ts'
import type { ActingThing } from './security/audited-call.ts'
import { openCall } from './security/audited-call.ts'

/** Characters of the name of a creator. */
const longestName = 200

/** All null: the row is of before this was kept. */
export type CreatorColumns = {
  creator_type: string | null
  creator_id: string | null
  creator_name: string | null
}

/** Of the thing, or of the caller under way. */
export function creatorOf(thing?: ActingThing): CreatorColumns {
  const { type = null, id = null, name = null } = thing ?? openCall()?.call.actor ?? {}
  return { creator_type: type, creator_id: id, creator_name: name?.slice(0, longestName) ?? null }
}

export const creatorColumns = ['creator_type', 'creator_id', 'creator_name'] as const

export const showCreator = (row: CreatorColumns): CreatedBy =>
  row.creator_type === null
    ? null
    : { type: row.creator_type, id: row.creator_id, name: row.creator_name }
