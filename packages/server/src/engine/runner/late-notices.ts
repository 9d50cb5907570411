/** Notices of the steps of a session, which wait until the model was asked. */
import type { Log } from '@steward/base/log.ts'
import type { Notice } from '../../ground/core/notice.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import { publishNotice } from '../../ground/bus/publish-notice.ts'
import type { Database } from '../../ground/database/database.ts'
import { withNotices } from '../../ground/database/notices.ts'

/** `database`: writes a step. `publish`: publishes the notices of all steps that were written since the last call. */
export type LateNotices = { database: Database; publish: () => void }

type LateNoticesDeps = { database: Database; bus: Bus; log: Log }

export function lateNotices({ database, bus, log }: LateNoticesDeps): LateNotices {
  const waiting: Notice[] = []
  return {
    database: withNotices(database, { publish: (notice) => void waiting.push(notice), log }),
    publish() {
      for (const notice of waiting.splice(0)) publishNotice(bus, notice)
    },
  }
}
