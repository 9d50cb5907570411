/**
 * Failed sign-ins for the audit: counted in this process and written by a job. An attacker with a million attempts
 * fills no disk: a minute has at most `mostLines` lines and one that counts the rest.
 */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { runAudited, jobCall, auditChange } from '../../ground/core/security/audited-call.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { peopleStore } from './store.ts'
import type { Ground } from '../../ground/ground.ts'

const mostLines = 50

type Attempts = { address: string; email: string; count: number }

export type FailedSignIns = {
  note: (failed: { address: string; email: string }) => void
  /** Returns the counts since the last `take`, and starts anew. */
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
}: Ground & { failures: FailedSignIns }): Job {
  async function tell(): Promise<true> {
    const { each, others } = failures.take()
    if (each.length === 0) return true
    await runAudited(call, () =>
      control.write(async (tx) => {
        for (const { address, email, count } of each) {
          // An unknown address is not stored: some people type their password there.
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
