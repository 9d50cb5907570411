/** Notices of the steps of a session, which wait until the model was asked. */
import type { Notice } from '../../ground/core/notice.ts'
import { publishNotice } from '../../ground/bus/bus.ts'
import type { Database } from '../../ground/database/database.ts'
import { withNotices } from '../../ground/database/notices.ts'
import type { DrainDeps } from './turn-deps.ts'

/** `database`: writes a step. `publish`: publishes the notices of all steps that were written since the last call. */
export type LateNotices = { database: Database; publish: () => void }

export function lateNotices({ database, bus, log }: DrainDeps): LateNotices {
  const waiting: Notice[] = []
  return {
    database: withNotices(database, { publish: (notice) => void waiting.push(notice), log }),
    publish() {
      for (const notice of waiting.splice(0)) publishNotice(bus, notice)
    },
  }
}
