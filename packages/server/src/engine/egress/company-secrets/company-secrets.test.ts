import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SecretReference } from '@steward/protocol/secret-references.ts'
import type { FoundSecret, SecretLocation } from '@steward/secret-managers/secret-manager.ts'
import type { ManagerFailure } from '@steward/secret-managers/wire.ts'
import { failure } from '@steward/secret-managers/wire.ts'
import { movedClock } from '@steward/base/time-fixture.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { createCompanySecrets, rememberedMs } from './company-secrets.ts'

const tenant = 'wrkspc_1'
const reader = {
  tenant,
  session: 'sesn_1',
  vault: 'vlt_1',
  credential: 'vcrd_1',
  actor: null,
}
const github: SecretReference = { type: 'secret_reference', manager: 'company', name: 'github' }

/** A manager whose answers the test gives; it serves the workspaces 1 and 2. */
async function opened() {
  const own = await databases.sqlite()
  const clock = movedClock()
  const asked: SecretLocation[] = []
  const state = {
    answer: { ok: true, value: 'a secret', version: '1' } as FoundSecret | ManagerFailure,
    gate: Promise.resolve(),
    fails: false,
  }
  const database: Database = {
    ...own.database,
    write: (unit) =>
      state.fails ? Promise.reject(new Error('the disk is full')) : own.database.write(unit),
  }
  const ground = testGround(database, { clock })
  const company = {
    prefixOf: (workspace: string) =>
      ['wrkspc_1', 'wrkspc_2'].includes(workspace) ? `steward/${workspace}/` : undefined,
    async read(location: SecretLocation) {
      asked.push(location)
      const { answer } = state
      await state.gate
      return answer
    },
  }
  const secrets = createCompanySecrets({ ...ground, managers: new Map([['company', company]]) })
  return {
    secrets,
    clock,
    asked,
    state,
    lines: ground.lines,
    trail: () =>
      own.database.read
        .selectFrom('secret_reads')
        .select(['tenant_id', 'session_id', 'name', 'version', 'result'])
        .orderBy('id')
        .execute(),
    async [Symbol.asyncDispose]() {
      secrets.close()
      await own[Symbol.asyncDispose]()
    },
  }
}

describe('a secret of a company', () => {
  it('is read below the path of its workspace, and read for no other workspace', async () => {
    await using test = await opened()
    await test.secrets.read(reader, github)
    await test.secrets.read({ ...reader, tenant: 'wrkspc_2' }, github)
    assert.deepEqual(
      test.asked.map(({ name }) => name),
      ['steward/wrkspc_1/github', 'steward/wrkspc_2/github'],
    )
    const other = await test.secrets.read({ ...reader, tenant: 'wrkspc_3' }, github)
    assert.equal(!other.ok && other.why, 'not_allowed')
    assert.equal(test.asked.length, 2)
  })

  it('is used for five seconds from the beginning of its read, and no longer', async () => {
    await using test = await opened()
    const read = async () => {
      const found = await test.secrets.read(reader, github)
      return found.ok ? found.value : found.why
    }
    assert.equal(await read(), 'a secret')
    test.state.answer = { ok: true, value: 'another', version: '2' }
    await test.clock.pass(rememberedMs - 1)
    assert.equal(await read(), 'a secret')
    test.state.answer = failure('away', 'Vault is sealed')
    await test.clock.pass(1)
    assert.equal(await read(), 'away')
    assert.equal(test.asked.length, 2)
  })

  it('is forgotten although nobody asks for it again', async () => {
    await using test = await opened()
    await test.secrets.read(reader, github)
    assert.equal(test.clock.sleeping(), 1)
    await test.clock.pass(rememberedMs)
    assert.equal(test.clock.sleeping(), 0, 'nothing is kept, so that nothing waits')
  })

  it('is read once for calls at the same time, also when it cannot be had', async () => {
    await using test = await opened()
    const held = Promise.withResolvers<void>()
    test.state.gate = held.promise
    test.state.answer = failure('away', 'no route')
    const calls = Array.from({ length: 100 }, () => test.secrets.read(reader, github))
    held.resolve()
    const found = await Promise.all(calls)
    assert.ok(found.every(({ ok }) => !ok))
    assert.equal(test.asked.length, 1)
    await test.secrets.read(reader, github)
    assert.equal(test.asked.length, 1, 'for a second, a failure is not repeated')
    await test.clock.pass(1_000)
    await test.secrets.read(reader, github)
    assert.equal(test.asked.length, 2)
  })

  it('is read anew after a refusal of an upstream, once a second at most', async () => {
    await using test = await opened()
    await test.secrets.read(reader, github)
    await test.secrets.readAnew(reader, github)
    assert.equal(test.asked.length, 1)
    await test.clock.pass(1_000)
    await Promise.all([1, 2, 3].map(() => test.secrets.readAnew(reader, github)))
    assert.equal(test.asked.length, 2)
  })

  it('is in the audit before it is used, and is not used when the audit cannot be written', async () => {
    await using test = await opened()
    await test.secrets.read(reader, github)
    test.state.answer = failure('denied', 'User: arn:aws:sts::1:role/x is not authorized')
    const denied = { ...github, name: 'gitlab', version: '3' }
    const found = await test.secrets.read(reader, denied)
    assert.deepEqual(
      (await test.trail()).map((row) => Object.values(row)),
      [
        [tenant, 'sesn_1', 'github', '1', 'read'],
        [tenant, 'sesn_1', 'gitlab', '3', 'denied'],
      ],
    )
    assert.ok(!JSON.stringify(found).includes('arn:aws'), 'the words are for the operator')
    assert.ok(test.lines.some((line) => line.includes('arn:aws')))
    assert.ok(!test.lines.join().includes('a secret"'))

    test.state.fails = true
    test.state.answer = { ok: true, value: 'a secret', version: '1' }
    const unwritten = { ...github, name: 'unwritten' }
    await assert.rejects(test.secrets.read(reader, unwritten), /the disk is full/)
    test.state.fails = false
    assert.equal((await test.secrets.read(reader, unwritten)).ok, true)
  })
})
