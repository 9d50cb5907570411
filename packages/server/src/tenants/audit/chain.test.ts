import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { AuditedCall } from '../../ground/core/security/audited-call.ts'
import { runAudited, auditChange } from '../../ground/core/security/audited-call.ts'
import { auditedDatabase } from '../../ground/database/audited-database.ts'
import type { Database } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { insertRows } from '../../ground/database/statement.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { chainAll } from './chain.ts'
import type { AuditKeys } from './heads.ts'
import { signHeadsAnew } from './heads.ts'
import { exportLines } from './lines.ts'
import { removeOldAudit } from './retention.ts'
import { hashCanonical } from './trails/trails.ts'
import type { Anchor } from './verify.ts'
import { verifyChains } from './verify.ts'

const tenant = 'wrkspc_test'
const trail = 'audit_lines'
const keys: AuditKeys = [Buffer.alloc(32, 1)]
const now = () => 1_000_000

const call: AuditedCall = {
  workspace: tenant,
  action: 'agent.update',
  resource: { type: 'agent', id: 'agent_1', parent: null },
  actor: { type: 'api_key', id: 'apikey_1', name: 'a key' },
  credential: { type: 'api_key', id: 'apikey_1' },
  address: '127.0.0.1',
  userAgent: 'a client',
  request: { id: 'req_1', method: 'POST', route: '/v1/agents/:id' },
  isAutomatic: true,
}

/** Makes this number of audited changes, each in its own unit. */
async function changed(database: Database, many: number, at = now): Promise<void> {
  const audited = auditedDatabase(database, { ...systemClock, now: at })
  for (let n = 0; n < many; n++)
    await runAudited(call, () =>
      audited.write(async () =>
        auditChange({ type: 'agent', before: { name: `${n}` }, after: { name: `${n + 1}` } }),
      ),
    )
}

async function chained(database: Database, many: number): Promise<void> {
  await changed(database, many)
  await chainAll({ database, keys, now })
}

/** The result of verifying the tenant's lines. */
async function verified(database: Database, anchors: readonly Anchor[] = [], by = keys) {
  for await (const each of verifyChains(oneDatabase(database), { keys: by, tenant, anchors }))
    if (each.trail === trail) return each
  throw new Error('the trail was not verified')
}

async function damageOf(database: Database, anchors?: readonly Anchor[]) {
  const { damage, ok } = await verified(database, anchors)
  assert.equal(ok, damage === null)
  return damage && `${damage.kind} ${damage.seq}`
}

const set = (database: Database, seq: number, columns: { seq?: number; actor_id?: string }) =>
  database.write((tx) =>
    tx.updateTable(trail).set(columns).where('seq', '=', seq).executeTakeFirst(),
  )

const remove = (database: Database, seq: number) =>
  database.write((tx) => tx.deleteFrom(trail).where('seq', '=', seq).execute())

const lines = (database: Database) =>
  database.read.selectFrom(trail).selectAll().orderBy('seq').execute()

/** Rewrites the hashes as an intruder would who knows the hash function and not the key. */
async function rewriteFrom(database: Database, from: number): Promise<void> {
  await database.write(async (tx) => {
    let previous = ''
    for (const line of await tx.selectFrom(trail).selectAll().orderBy('seq').execute()) {
      const seq = Number(line.seq)
      const hash =
        seq < from ? (line.hash ?? '') : hashCanonical(trail, tenant, line, { seq, previous })
      await tx.updateTable(trail).set({ hash }).where('id', '=', line.id).execute()
      previous = hash
    }
    await tx.updateTable('audit_heads').set({ hash: previous }).execute()
  })
}

type Tampering = [name: string, tamper: (database: Database) => Promise<unknown>, said: string]

/** The expected result of verifying a chain of twelve lines after each kind of tampering. */
const tampering: Tampering[] = [
  ['a changed line', (database) => set(database, 5, { actor_id: 'apikey_2' }), 'changed 5'],
  ['a line removed in the middle', (database) => remove(database, 5), 'removed 5'],
  ['the first line removed', (database) => remove(database, 1), 'removed 1'],
  ['the end cut off', (database) => remove(database, 12), 'cut 12'],
  [
    'two lines that changed places',
    async (database) => {
      await set(database, 5, { seq: 1_000 })
      await set(database, 6, { seq: 5 })
      await set(database, 1_000, { seq: 6 })
    },
    'moved 5',
  ],
  [
    'a line put between two',
    async (database) => {
      for (let seq = 12; seq >= 5; seq--) await set(database, seq, { seq: seq + 1 })
      await forge(database, 5)
    },
    'inserted 5',
  ],
  ['a line behind the last', (database) => forge(database, 13), 'inserted 13'],
  ['a line that says to be older than the chain', (database) => forge(database, -1), 'inserted -1'],
  [
    'a line changed, and all hashes behind it made anew',
    async (database) => {
      await set(database, 5, { actor_id: 'apikey_2' })
      await rewriteFrom(database, 5)
    },
    'forged 12',
  ],
  [
    'the head removed',
    (database) => database.write((tx) => tx.deleteFrom('audit_heads').execute()),
    'headless 1',
  ],
]

/** Inserts a copy of a line under another number. */
async function forge(database: Database, seq: number): Promise<void> {
  await database.write(async (tx) => {
    const line = await tx.selectFrom(trail).selectAll().executeTakeFirstOrThrow()
    await tx
      .insertInto(trail)
      .values({ ...line, id: `audit_forged_${seq}`, seq })
      .execute()
  })
}

for (const [dialect, open] of Object.entries(databases))
  describe(`the chain of the audit on ${dialect}`, () => {
    it('is whole while lines come, and says where it is not', async () => {
      await using opened = await open()
      const { database } = opened
      await chained(database, 12)
      assert.deepEqual(await damageOf(database), null)
      const rows = await lines(database)
      const heads = await database.read.selectFrom('audit_heads').selectAll().execute()
      assert.deepEqual(
        rows.map(({ seq }) => Number(seq)),
        Array.from({ length: 12 }, (_, n) => n + 1),
      )
      for (const [name, tamper, said] of tampering) {
        await tamper(database)
        assert.equal(await damageOf(database), said, name)
        await database.write(async (tx) => {
          await tx.deleteFrom(trail).execute()
          await tx.deleteFrom('audit_heads').execute()
          await tx.insertInto(trail).values(rows).execute()
          await tx.insertInto('audit_heads').values(heads).execute()
        })
      }
    })

    it('shows against an anchor that the end and its head were put back', async () => {
      await using opened = await open()
      const { database } = opened
      await chained(database, 3)
      const heads = await database.read.selectFrom('audit_heads').selectAll().execute()
      await chained(database, 2)
      const { last_seq, hash } = await verified(database)
      assert.ok(last_seq && hash)
      const anchors = [{ workspace_id: tenant, trail, last_seq, hash }]
      assert.equal(await damageOf(database, anchors), null)
      for (const seq of [4, 5]) await remove(database, seq)
      await database.write(async (tx) => {
        await tx.deleteFrom('audit_heads').execute()
        await tx.insertInto('audit_heads').values(heads).execute()
      })
      assert.equal(await damageOf(database), null)
      assert.equal(await damageOf(database, anchors), 'unanchored 5')
    })

    it('is not carried on from a head that another key has signed', async () => {
      await using opened = await open()
      const { database } = opened
      await chained(database, 2)
      await changed(database, 1)
      const others: AuditKeys = [Buffer.alloc(32, 2)]
      await assert.rejects(chainAll({ database, keys: others, now }), /not signed by this server/)
      assert.equal((await verified(database)).unchained, 1)
      // The root secret was changed: the heads are signed anew, and the old key can go.
      assert.equal(await database.write((tx) => signHeadsAnew(tx, [...others, ...keys])), 1)
      await chainAll({ database, keys: others, now })
      const { ok, lines: count, unchained } = await verified(database, [], others)
      assert.deepEqual({ ok, count, unchained }, { ok: true, count: 3, unchained: 0 })
    })

    it('goes on over what a process that died has committed, though two chain at once', async () => {
      await using opened = await open()
      const { database } = opened
      await changed(database, 300)
      assert.equal((await verified(database)).unchained, 300)
      const deps = { database, keys, now }
      await Promise.all([chainAll(deps), chainAll(deps), chainAll(deps)])
      const { ok, lines: count, unchained } = await verified(database)
      assert.deepEqual({ ok, count, unchained }, { ok: true, count: 300, unchained: 0 })
    })

    it('begins later once its oldest lines were kept for long enough', async () => {
      await using opened = await open()
      const { database } = opened
      await database.write((tx) =>
        tx
          .insertInto('workspaces')
          .values({ id: tenant, name: 'a', created_at: '', archived_at: null, deleted_at: null })
          .execute(),
      )
      await chained(database, 10)
      await changed(database, 5, () => 5_000_000)
      await chainAll({ database, keys, now })
      const clock = { ...systemClock, now: () => 6_000_000 }
      const kept = { ...testGround(database, { clock }), auditMs: 2_000_000, keys }
      assert.equal(await removeOldAudit(kept, 0)(), true)
      const { ok, first_seq, last_seq } = await verified(database)
      assert.deepEqual({ ok, first_seq, last_seq }, { ok: true, first_seq: 11, last_seq: 15 })
      await remove(database, 11)
      assert.equal(await damageOf(database), 'removed 11')
    })

    it('is exported as lines from which anybody can compute the hashes', async () => {
      await using opened = await open()
      const { database } = opened
      await chained(database, 3)
      await changed(database, 1)
      let text = ''
      for await (const page of exportLines(database.read, tenant, { trail })) text += page
      const exported = text.trimEnd().split('\n')
      const hashes = exported.slice(0, 3).map((line) => {
        const { hash, ...covered } = JSON.parse(line) as Record<string, unknown>
        const sorted = Object.keys(covered).toSorted()
        const canonical = JSON.stringify(Object.fromEntries(sorted.map((n) => [n, covered[n]])))
        assert.equal(createHash('sha256').update(canonical).digest('hex'), hash)
        return { hash, previous: covered['previous'] }
      })
      assert.equal(hashes[1]?.previous, hashes[0]?.hash)
      assert.equal(hashes[2]?.previous, hashes[1]?.hash)
      assert.match(exported[3] ?? '', /"seq":null/)
    })

    it('is exported with the lines that are chained between two pages, each once', async () => {
      await using opened = await open()
      const { database } = opened
      await chained(database, 2)
      await changed(database, 2)
      const pages = exportLines(database.read, tenant, { trail })
      let text: string = (await pages.next()).value ?? ''
      await chainAll({ database, keys, now })
      for await (const page of pages) text += page
      const seqs = text
        .trimEnd()
        .split('\n')
        .map((line: string) => (JSON.parse(line) as { seq: number }).seq)
      assert.deepEqual(seqs, [1, 2, 3, 4])
    })
  })

describe('an export of many lines', () => {
  it('holds a page of them at a time', async () => {
    await using opened = await databases.sqlite()
    const { database } = opened
    await changed(database, 1)
    const [line] = await lines(database)
    assert.ok(line)
    for (let from = 0; from < 20_000; from += 500)
      await database.write((tx) =>
        insertRows(
          tx,
          trail,
          Array.from({ length: 500 }, (_, n) => ({ ...line, id: `audit_${from + n}` })),
        ),
      )
    let count = 0
    for await (const page of exportLines(database.read, tenant, { trail })) {
      const many = page.split('\n').length - 1
      assert.ok(many <= 500, `${many} lines at once`)
      count += many
    }
    assert.equal(count, 20_001)
  })
})
