/** New tokens that cannot be written at once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Clock } from '@steward/base/time.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { openTestEgress, seal, tenant } from '../callers/egress-fixture.ts'
import { authorizationServer, connectBy } from '../fixture.ts'
import { openSecrets } from '../../../resources/vaults/open-credential.ts'
import { createRefresh } from './refresh.ts'
import { oauthRows } from './rows.ts'
import { askForToken } from './token-request.ts'

/** A credential whose new tokens are written only when `write` lets them. */
async function refreshed(write: () => void, clock: Clock) {
  const issuer = await authorizationServer()
  const connect = connectBy({ 'auth.example': issuer })
  const bench = await openTestEgress({ port: 0 })
  const { vault, ids } = await bench.vaultWith({
    type: 'mcp_oauth',
    access_token: issuer.state.valid,
    mcp_server_url: 'https://api.example/mcp',
    refresh: {
      refresh_token: issuer.state.current,
      token_endpoint: 'https://auth.example/token',
      token_endpoint_auth: { type: 'none' },
    },
  })
  const rows = oauthRows(testGround(bench.database, { seal, clock }))
  const failed: unknown[] = []
  const refresh = createRefresh({
    rows: {
      ...rows,
      async store(...change) {
        write()
        return rows.store(...change)
      },
    },
    clock,
    open: async (row) => openSecrets(seal, row),
    ask: (request) => askForToken(request, { connect, clock }),
    report: () => {},
    fail: (error) => failed.push(error),
  })
  const read = async () => {
    const row = await rows.read(tenant, ids[0] ?? '')
    assert.ok(row)
    return row
  }
  return {
    ...{ refresh, issuer, failed, read },
    signIn: (access_token: string, refresh_token: string) =>
      bench.change(vault, ids[0] ?? '', { type: 'mcp_oauth', access_token, refresh_token }),
    token: async () => rows.open(await read()).access_token,
    async [Symbol.asyncDispose]() {
      await refresh.settled()
      await bench[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

/** A clock on which sleeping takes no real time and moves the time forward. */
function hurried(): Clock {
  let passed = 0
  return { now: () => Date.now() + passed, sleep: async (ms) => void (passed += ms) }
}

const refuse = (): never => {
  throw new Error('the database is away')
}

describe('a new token that cannot be written', () => {
  const first = 'access-0-of-the-first-day'
  const issued = 'access-1-of-the-first-day'

  // verifies: proxy/refresh/unwritten
  it('is written as soon as it can be, and not asked for twice', async () => {
    let failures = 3
    await using at = await refreshed(() => {
      if (failures-- > 0) refuse()
    }, hurried())
    const result = await at.refresh.after(await at.read(), first)
    assert.deepEqual(result, { ok: true, token: issued, refreshed: true })
    assert.equal(await at.token(), issued)
    assert.equal(at.issuer.state.asked.length, 1)
  })

  it('is not used before it is stored, and is kept for the next call', async () => {
    let isAway = true
    await using at = await refreshed(() => {
      if (isAway) refuse()
    }, hurried())
    const row = await at.read()
    assert.deepEqual(await at.refresh.after(row, first), { ok: false, why: 'unavailable' })
    assert.equal(await at.token(), first)
    assert.equal(at.failed.length, 1)
    isAway = false
    assert.equal((await at.refresh.after(await at.read(), first)).ok, true)
    assert.equal(await at.token(), issued)
    assert.equal(at.issuer.state.asked.length, 1)
  })

  it('is replaced by tokens that a person has stored meanwhile', async () => {
    let isAway = true
    await using at = await refreshed(() => {
      if (isAway) refuse()
    }, hurried())
    await at.refresh.after(await at.read(), first)
    isAway = false
    await at.signIn('access-of-a-person', 'refresh-of-a-person')
    const result = await at.refresh.after(await at.read(), 'access-of-a-person')
    assert.equal(result.ok, false)
    assert.equal(await at.token(), 'access-of-a-person')
    assert.equal(at.issuer.state.asked.at(-1)?.form['refresh_token'], 'refresh-of-a-person')
  })
})
