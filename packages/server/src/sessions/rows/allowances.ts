import type { Allowance } from '@steward/protocol/allowances.ts'
import { fromJson } from '../../ground/core/text/json-text.ts'
import type { SessionRow } from './show-session.ts'

/** The tools that a session uses without asking, in the order in which they were allowed. */
export const allowancesOf = ({ allowances }: SessionRow): Allowance[] => fromJson(allowances) ?? []
