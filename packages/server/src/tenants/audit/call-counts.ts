/**
 * Counts posts to sessions. A post writes no audit line: the log of the session is the record, and a line would cost a
 * statement in each turn. A job writes the counts each minute, one line for each session, credential and address.
 */
import { minuteMs } from '@steward/base/settings/kinds.ts'
import type { Clock } from '@steward/base/time.ts'
import type { AuditedCall } from '../../ground/core/security/audited-call.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import { buildAuditLine } from '../../ground/database/audited-database.ts'
import type { Databases } from '../../ground/database/database.ts'
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import { lineStore } from './store.ts'

/** Combinations counted a minute; further ones are not counted. */
const mostCalls = 5_000
const linesAtOnce = 100

type CountedCall = { call: AuditedCall; count: number }

export type CallCounts = {
  note: (call: AuditedCall) => void
  /** Returns the counts since the last `take`, by workspace, and starts anew. */
  take: () => Map<string, CountedCall[]>
}

export function callCounts(): CallCounts {
  let known = new Map<string, CountedCall>()
  return {
    note(call) {
      const { workspace, resource, credential, address } = call
      const key = [workspace, resource.id, credential.type, credential.id, address].join(' ')
      const found = known.get(key)
      if (found) found.count++
      else if (known.size < mostCalls) known.set(key, { call, count: 1 })
    },
    take() {
      const taken = Map.groupBy(known.values(), ({ call }) => call.workspace)
      known = new Map()
      return taken
    },
  }
}

export function callCountsJob({
  databases,
  clock,
  noted,
}: {
  databases: Databases
  clock: Clock
  noted: CallCounts
}): Job {
  async function tell(): Promise<true> {
    const failures: unknown[] = []
    for (const [workspace, calls] of noted.take())
      await collectFailure(failures, async () => {
        const database = await databases.open(workspace)
        const lines = calls.map(({ call, count }) => {
          const { type, id, parent } = call.resource
          return buildAuditLine(call, { type, id, parent, after: { posts: count } }, clock.now())
        })
        for (let at = 0; at < lines.length; at += linesAtOnce)
          await database.write((tx) => lineStore(tx).insertNew(lines.slice(at, at + linesAtOnce)))
      })
    throwFailures(failures)
    return true
  }
  return { name: 'tell who posts to sessions', everyMs: minuteMs, run: tell, start: () => tell }
}
