import assert from 'node:assert/strict'
import { limitsFor } from '../../tenants/limits/limits.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { blobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { diskBlobs } from '../../ground/blobs/disk.ts'
import type { Queries } from '../../ground/database/database.ts'
import { openForRaces } from '../../ground/database/race-fixture.ts'
import type { SkillDeps } from './store-skill.ts'
import { saveSkill } from './store-skill.ts'
import { heldBySkill, skillStore } from './store.ts'
import { rows } from '../../ground/database/rows.ts'

const [tenant, id] = ['wrkspc_a', 'greeting']
const path = 'SKILL.md'
const files = [{ path, bytes: Buffer.from('# Greet'), executable: false }]
const bundle = { name: id, description: 'says hello', directory: id, files }

describe('a skill', () => {
  it('is saved also while the skill of its id is being deleted', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'steward-skills-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const { database, race } = stack.use(await openForRaces())
    const ground = testGround(database, { log: jsonLog((line) => assert.fail(line)) })
    const { databases, clock } = ground
    const blobs = await diskBlobs(folder)
    const deps: SkillDeps = {
      ...ground,
      keeping: blobKeeping({ databases, blobs, clock, holders: [heldBySkill] }),
      limits: limitsFor('off', ground),
    }
    const save = (db = database) => saveSkill(deps, { db, tenant }, { fields: { id }, bundle })
    await save()
    const remove = async (tx: Queries) => {
      for (const version of await skillStore(tx).allVersions(tenant, id))
        await skillStore(tx).removeVersion(tenant, id, version.id)
      await rows(tx, 'skills').remove(tenant, id)
    }
    const [, saved] = await race(
      (tx) => rows(tx, 'skills').getForUpdate(tenant, id),
      (tx) => save({ ...database, write: (unit) => unit(tx) }),
      remove,
    )
    assert.equal(saved.status, 'fulfilled', JSON.stringify(saved))
    assert.equal((await skillStore(database.read).allVersions(tenant, id)).length, 1)
  })
})
