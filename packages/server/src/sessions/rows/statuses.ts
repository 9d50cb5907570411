/** The status filter for lists of sessions and of threads, which use the same words. */
import type { Dialect } from '@steward/protocol/dialects.ts'
import { statusFilter } from '@steward/protocol/dialects.ts'
import { quoteValue } from '@steward/protocol/problems.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { HeadStatus } from '../../ground/database/tables/sessions.ts'

/** The statuses in the interface's words; undefined without a filter. */
export function readStatusFilter(
  query: { status?: string[] | undefined; statuses?: string[] | undefined },
  dialect: Dialect,
): HeadStatus[] | undefined {
  const found = (['status', 'statuses'] as const).flatMap((field) =>
    (query[field] ?? []).flatMap((word) => {
      const words = statusFilter(word, dialect)
      if (!words) throw invalid(`${field}: ${quoteValue(word)} is no status of a session`)
      return words
    }),
  )
  return found.length > 0 ? found : undefined
}
