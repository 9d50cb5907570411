/** The operator's command that prints what is held about a person. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { allWorkspaces, exportPerson } from '../../capabilities/people-data/export.ts'
import type { Config } from '../../ground/config/config.ts'
import { auditChange } from '../../ground/core/security/audited-call.ts'
import { personId } from './administration.ts'
import { byOperator } from './audit.ts'
import { databasesBeside } from './beside.ts'

/** `named`: an email or an id. The line of the audit is written before the first line is. */
export async function exportPersonTo(config: Config, named: string, out: Writable): Promise<void> {
  const beside = await databasesBeside(config)
  try {
    const id = await byOperator(beside.databases, 'export-person', ({ control }) =>
      control.write(async (tx) => {
        const person = await personId(tx, named)
        auditChange({ type: 'user', id: person, after: { exported: 'all' } })
        return person
      }),
    )
    for await (const line of await exportPerson(beside.databases, id, allWorkspaces))
      if (!out.write(line)) await once(out, 'drain')
  } finally {
    await beside.close()
  }
}
