import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import { parseCompanyProviders } from '../../../ground/config/company-providers.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { startIssuer } from '../../people/identities/issuer-fixture.ts'
import { openProviders } from '../../people/identities/provider-keys.ts'
import { peopleStore } from '../../people/store.ts'
import { groupSignIns } from './sign-ins.ts'

const minuteMs = 60_000
const { signal } = new AbortController()

/** Ada is signed in at the provider, whose groups make her a member. */
async function scene() {
  const clock = movedClock()
  await clock.pass(Date.parse('2026-11-27T00:00:00Z'))
  const issuer = await startIssuer(clock)
  const opened = await databases.sqlite()
  const { database } = opened
  const ground = testGround(database, { clock })
  issuer.state.userinfo = { sub: 'ada', email: 'ada@acme.example', groups: ['eng'] }
  const okta = {
    ...{ issuer: issuer.issuer, sign_in: true, client_id: 'steward', client_secret: 'hush' },
    rules: [{ groups: ['eng'], workspace: 'wrkspc_a', role: 'member' }],
  }
  const processOf = (settings: object) => {
    const parsed = parseCompanyProviders(JSON.stringify(settings))
    return groupSignIns({ ...ground, providers: openProviders(parsed, clock) })
  }
  const groups = processOf({ okta })
  const tokenHash = 'hash of the cookie'
  const person = await database.write(async (tx) => {
    const workspace = { id: 'wrkspc_a', name: 'a', created_at: iso(0) }
    await tx.insertInto('workspaces').values(workspace).execute()
    const made = { email: 'ada@acme.example', name: 'Ada', passwordHash: '' }
    const id = await peopleStore(tx).create(
      { ...made, isEmailVerified: true, isOperator: false },
      clock.now(),
    )
    await peopleStore(tx).signIn(
      {
        ...{ person_id: id, token_hash: tokenHash, workspace_id: null, provider_id: null },
        ...{ ip_address: null, user_agent: null, expires_at: iso(clock.now() + 9e9) },
      },
      clock.now(),
    )
    return id
  })
  const tokens = { access: 'access-0', id: await issuer.sign({ sub: 'ada', aud: 'steward' }) }
  const begin = async () => {
    const refresh = `refresh-${issuer.state.refreshed}`
    const proof = await groups.read('okta', { ...tokens, refresh })
    await groups.begin(proof, { person, tokenHash })
  }
  await begin()
  const count = async (table: 'members' | 'sign_ins' | 'provider_grants') =>
    (await database.read.selectFrom(table).selectAll().execute()).length
  return {
    clock,
    issuer,
    begin,
    groups,
    processOf,
    okta,
    left: async () => [
      await count('members'),
      await count('sign_ins'),
      await count('provider_grants'),
    ],
    run: () => groups.job.run(signal),
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    },
  }
}

const all = [1, 1, 1]
const nothing = [0, 0, 0]

describe('what a provider gave by groups', () => {
  it('is asked anew every three minutes, by one of the processes', async () => {
    await using at = await scene()
    const other = at.processOf({ okta: at.okta })
    await at.run()
    assert.equal(at.issuer.state.refreshed, 0)
    await at.clock.pass(3 * minuteMs)
    await Promise.all([at.run(), other.job.run(signal)])
    assert.equal(at.issuer.state.refreshed, 1)
    await at.clock.pass(3 * minuteMs)
    await at.run()
    assert.equal(at.issuer.state.refreshed, 2)
    assert.deepEqual(await at.left(), all)
  })

  it('outlives an outage between the renewal of tokens and the question', async () => {
    await using at = await scene()
    at.issuer.state.userinfo = undefined
    at.issuer.state.document = { userinfo_endpoint: 'http://127.0.0.1:1/userinfo' }
    await at.clock.pass(11 * minuteMs)
    await at.run()
    assert.equal(at.issuer.state.refreshed, 1)
    at.issuer.state.userinfo = { sub: 'ada', groups: ['eng'] }
    at.issuer.state.document = {}
    await at.clock.pass(11 * minuteMs)
    await at.run()
    assert.equal(at.issuer.state.refreshed, 2)
    assert.deepEqual(await at.left(), all)
  })

  it('stays when the provider refuses this service, and not the person', async () => {
    await using at = await scene()
    at.issuer.state.refusal = { status: 401, error: 'invalid_client' }
    await at.clock.pass(3 * minuteMs)
    await at.run()
    assert.deepEqual(await at.left(), all)
    await at.clock.pass(28 * minuteMs)
    await at.run()
    assert.deepEqual(await at.left(), nothing)
  })

  it('ends when the provider refuses the person, unless the person has signed in anew', async () => {
    await using at = await scene()
    at.issuer.state.refusal = { status: 400, error: 'invalid_grant' }
    await at.clock.pass(3 * minuteMs)
    await at.begin()
    await at.run()
    assert.deepEqual(await at.left(), all)
    await at.clock.pass(3 * minuteMs)
    await at.run()
    assert.deepEqual(await at.left(), nothing)
  })

  it('ends when the settings name the provider no longer', async () => {
    await using at = await scene()
    const later = at.processOf({})
    await at.clock.pass(3 * minuteMs)
    await later.job.run(signal)
    assert.deepEqual(await at.left(), nothing)
  })

  it('ends with the group, and the sign-in stays', async () => {
    await using at = await scene()
    at.issuer.state.userinfo = { sub: 'ada', groups: [] }
    await at.clock.pass(3 * minuteMs)
    await at.run()
    assert.deepEqual(await at.left(), [0, 1, 1])
  })
})
