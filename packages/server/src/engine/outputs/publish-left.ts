/** Publishes outputs that could not be published at the end of their turn, because the store of files was away. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { collectFailure, throwFailures } from '../../ground/core/failures.ts'
import { BlobStoreError } from '../../ground/core/errors.ts'
import type { Job } from '../../ground/core/time/jobs.ts'
import type { Ground } from '../../ground/ground.ts'
import { findHead } from '../../sessions/log/head.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import type { FinishedTurn, OutputPublisher } from './publish.ts'
import { hasFailed } from './publish.ts'

const everyMs = 15_000
/** Folders whose marks are looked at in a row. */
const atOnce = 100

export type LeftOutputsDeps = Ground & {
  outputs: OutputPublisher
  /** The parent of all session folders on this machine. */
  folder: string
}

export function leftOutputsJob(deps: LeftOutputsDeps): Job {
  /** What an earlier process left is looked for once. */
  let hasLooked = false
  return {
    name: 'publish outputs that could not be published',
    everyMs,
    async run() {
      const failures: unknown[] = []
      if (!hasLooked) {
        await collectFailure(failures, async () => {
          for (const turned of await leftBefore(deps)) await publishRested(deps, turned)
        })
        hasLooked = failures.length === 0
      }
      for (const turned of deps.outputs.left()) {
        if (failures.some((error) => error instanceof BlobStoreError)) break
        await collectFailure(failures, () => publishRested(deps, turned))
      }
      throwFailures(failures)
    },
  }
}

/** Does nothing while a turn runs, which publishes at its end. */
async function publishRested(
  { databases, outputs }: LeftOutputsDeps,
  turned: FinishedTurn,
): Promise<void> {
  const { tenant, session } = turned
  const { read } = await databases.open(tenant)
  const head = await findHead(read, tenant, session)
  if (head === undefined) outputs.forget(session)
  else if (head.owner === null) await outputs.again({ ...turned, generation: head.generation })
}

/** The sessions of this folder whose outputs an earlier process has failed to publish. */
async function leftBefore({ databases, folder }: LeftOutputsDeps): Promise<FinishedTurn[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const sessions: string[] = []
  for (let at = 0; at < names.length; at += atOnce) {
    const some = names.slice(at, at + atOnce)
    const marked = await Promise.all(some.map((name) => hasFailed(join(folder, name))))
    sessions.push(...some.filter((_, n) => marked[n]))
  }
  const left: FinishedTurn[] = []
  for (let at = 0; at < sessions.length; at += atOnce)
    for (const { read } of await databases.every()) {
      const rows = await sessionStore(read).ofAnyTenant(sessions.slice(at, at + atOnce))
      for (const { id: session, tenant_id: tenant } of rows)
        left.push({ tenant, session, generation: 0, own: join(folder, session) })
    }
  return left
}
