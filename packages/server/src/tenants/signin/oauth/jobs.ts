import { dayMs, minuteMs } from '@steward/base/settings/kinds.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import type { Ground } from '../../../ground/ground.ts'
import { loginStore } from '../../api-keys/logins.ts'
import { oauthStore } from './store.ts'

/** An ended login is kept for so long, as the list of the administration shows it. */
const endedMs = 30 * dayMs

/** Removes expired tokens and requests, and logins that ended long ago. */
export const expiredLoginsJob = ({ databases, clock }: Ground): Job => ({
  name: 'remove ended logins of clients',
  everyMs: 10 * minuteMs,
  async run() {
    await databases.control.write(async (tx) => {
      await oauthStore(tx).removeExpired(clock.now())
      await loginStore(tx).removeEnded(clock.now() - endedMs)
    })
  },
})
