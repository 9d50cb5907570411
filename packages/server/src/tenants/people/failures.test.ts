import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { auditedDatabase } from '../../ground/database/audited-database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { failedSignIns, failedSignInsJob } from './failures.ts'
import { peopleStore } from './store.ts'
import { testGround } from '../../ground/ground-fixture.ts'

describe('sign-ins that fail', () => {
  it('have few lines, however often a stranger tries, and no address that nobody has', async () => {
    await using opened = await databases.sqlite()
    const control = auditedDatabase(opened.database, systemClock)
    const ada = { email: 'ada@example.com', name: 'Ada', passwordHash: 'x' }
    const rights = { isEmailVerified: true, isOperator: false }
    const id = await control.write((tx) => peopleStore(tx).create({ ...ada, ...rights }, 0))
    const failures = failedSignIns()
    for (let n = 0; n < 3; n++) failures.note({ address: '192.0.2.1', email: ada.email })
    for (let n = 0; n < 5_000; n++) failures.note({ address: '192.0.2.2', email: `hunter${n}` })
    const job = failedSignInsJob({ ...testGround(control), failures })
    const run = () => job.run(new AbortController().signal)
    await run()
    await run()
    const lines = await control.read.selectFrom('audit_lines').selectAll().orderBy('id').execute()
    assert.equal(lines.length, 51)
    const [known] = lines
    assert.deepEqual(
      [known?.action, known?.address, known?.parent_id, known?.after_fields, known?.tenant_id],
      ['sign_in.fail', '192.0.2.1', id, '{"attempts":3}', ''],
    )
    assert.equal(lines.at(-1)?.after_fields, '{"attempts":4951}')
    assert.doesNotMatch(JSON.stringify(lines), /hunter/)
  })
})
