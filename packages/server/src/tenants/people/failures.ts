/**
 * Sign-ins that failed, for the audit: counted in this process, and told by a job. A stranger who tries a million times
 * fills no disk: a minute has few lines, and the last of them counts the rest.
 */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { runAudited, jobCall, auditChange } from '../../ground/core/audited-call.ts'
import type { Job } from '../../ground/core/jobs.ts'
import type { Databases } from '../../ground/database/database.ts'
import { peopleStore } from './store.ts'

const mostLines = 50

type Attempts = { address: string; email: string; count: number }

export type FailedSignIns = {
  note: (failed: { address: string; email: string }) => void
  /** What was noted since it was taken last. */
  take: () => { each: Attempts[]; others: number }
}

export function failedSignIns(): FailedSignIns {
  let known = new Map<string, Attempts>()
  let others = 0
  return {
    note({ address, email }) {
      const key = `${address} ${email}`
      const found = known.get(key)
      if (found) found.count++
      else if (known.size < mostLines) known.set(key, { address, email, count: 1 })
      else others++
    },
    take() {
      const taken = { each: [...known.values()], others }
      known = new Map()
      others = 0
      return taken
    },
  }
}

const call = jobCall('sign_in.fail')

export function failedSignInsJob({
  databases: { control },
  failures,
}: {
  databases: Pick<Databases, 'control'>
  failures: FailedSignIns
}): Job {
  async function tell(): Promise<true> {
    const { each, others } = failures.take()
    if (each.length === 0) return true
    await runAudited(call, () =>
      control.write(async (tx) => {
        for (const { address, email, count } of each) {
          // Of an address that nobody has, nothing is kept: some type their password there.
          const person = await peopleStore(tx).byEmail(email)
          const about = { type: 'sign_in', id: null, parent: person?.id ?? null }
          const after = { attempts: count }
          auditChange({ action: call.action, ...about, address, after })
        }
        if (others > 0)
          auditChange({ action: call.action, type: 'sign_in', after: { attempts: others } })
      }),
    )
    return true
  }
  return { name: 'tell failed sign-ins', everyMs: minuteMs, run: tell, start: () => tell }
}
