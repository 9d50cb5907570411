/** Last uses of keys: collected in memory and written by a job, so that a request writes nothing for them. */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import { runAudited, jobCall } from '../../ground/core/security/audited-call.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Ground } from '../../ground/ground.ts'
import { apiKeyStore } from './store.ts'

const mostAtOnce = 500
const everyMs = 10 * minuteMs

export type KeyUses = {
  /** `isFirst`: the key was never used before, as far as its row says. Somebody may wait for the news. */
  note: (id: string, isFirst: boolean) => void
  /** Writes first uses at once, and all others every ten minutes. */
  job: Job
}

export function keyUses({ databases, clock }: Ground): KeyUses {
  const first = new Set<string>()
  const further = new Set<string>()
  let writeNow = (): void => {}
  let wroteAllAt = clock.now()
  /** A first use that is written at once takes no others along: they wait for their time. */
  const waiting = (): Set<string>[] => {
    const isDue = clock.now() - wroteAllAt >= everyMs / 2
    return isDue ? [first, further] : [first]
  }
  return {
    note(id, isFirst) {
      if (isFirst) first.add(id)
      else if (!first.has(id)) further.add(id)
      if (isFirst) writeNow()
    },
    job: {
      name: 'note uses of keys',
      everyMs,
      start(runNow) {
        writeNow = runNow
        return () => {}
      },
      async run() {
        const sets = waiting()
        const some = sets.flatMap((each) => [...each]).slice(0, mostAtOnce)
        if (sets.includes(further) && some.length < mostAtOnce) wroteAllAt = clock.now()
        if (some.length === 0) return true
        for (const id of some) for (const each of sets) each.delete(id)
        await runAudited(jobCall('api_key.first_use'), () =>
          databases.control.write((tx) => apiKeyStore(tx).noteUses(some, clock.now())),
        )
        return sets.every(({ size }) => size === 0)
      },
    },
  }
}
