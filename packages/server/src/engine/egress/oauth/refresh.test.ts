import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { AuthCreate } from '@steward/protocol/credential-auth.ts'
import { iso, systemClock } from '@steward/base/time.ts'
import type { Database } from '../../../ground/database/database.ts'
import { databases, newPostgresUrl } from '../../../ground/database/fixture.ts'
import { postgresDatabase } from '../../../ground/database/postgres.ts'
import { archiveCredential } from '../../../resources/vaults/write.ts'
import { credentialStore } from '../../../resources/vaults/credentials.ts'
import type { TestEgress } from '../callers/egress-fixture.ts'
import { openTestEgress, environment, seal, tenant } from '../callers/egress-fixture.ts'
import { authorizationServer, connectBy, upstreamServer } from '../fixture.ts'
import { largestReplay } from '../inject/replay.ts'
import { askForToken } from './token-request.ts'

const url = 'https://api.example/mcp'
const firstToken = 'access-0-of-the-first-day'
const masked = (issued: number) =>
  `hello, Bearer ${'*'.repeat(`access-${issued}-of-the-first-day`.length)}`

type RefreshOptions = {
  auth?: 'none' | 'client_secret_basic' | 'client_secret_post'
  expires_at?: string
  resource?: string
  scope?: string
  refusal?: { status: number; challenge: string }
  /** Newly issued tokens are invalid too. */
  takesNone?: boolean
  database?: Database
  clock?: typeof systemClock
}

/** A server that accepts only the newest token, and the authorization server. */
async function served(options: RefreshOptions = {}) {
  const issuer = await authorizationServer()
  const asked: string[] = []
  const bodies: string[] = []
  const { refusal = { status: 401, challenge: 'Bearer error="invalid_token"' } } = options
  const server = await upstreamServer(async (request, response) => {
    const { authorization = '' } = request.headers
    asked.push(authorization)
    bodies.push(await text(request))
    const isFine = authorization === `Bearer ${issuer.state.valid}` && issuer.state.issued > 0
    if (isFine && !options.takesNone) return response.end(`hello, ${authorization}`)
    response.setHeader('www-authenticate', refusal.challenge)
    return response.writeHead(refusal.status).end('no')
  })
  const connect = connectBy({ 'api.example': server, 'auth.example': issuer })
  const { database, clock = systemClock } = options
  const bench = await openTestEgress(server, { connect, clock, ...(database ? { database } : {}) })
  const made = await bench.vaultWith(oauth(issuer.state.current, options))
  const session = await bench.session([made.vault])
  const fetch = session.egress.mcpFetch({ name: 'mine', url })
  const id = made.ids[0] ?? ''
  return {
    ...{ bench, issuer, connect, asked, bodies, session, fetch, id, vault: made.vault },
    row: async () => credentialStore(bench.database.read).active(tenant, id),
    async ask(init?: RequestInit) {
      const answer = await fetch(url, init)
      return { status: answer.status, text: await answer.text() }
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

function oauth(
  refresh_token: string,
  { auth = 'none', expires_at, resource, scope }: RefreshOptions,
): AuthCreate {
  return {
    type: 'mcp_oauth',
    access_token: firstToken,
    mcp_server_url: url,
    ...(expires_at ? { expires_at } : {}),
    refresh: {
      client_id: 'client:one',
      refresh_token,
      token_endpoint: 'https://auth.example/token',
      token_endpoint_auth: auth === 'none' ? { type: auth } : { type: auth, client_secret: 's+3' },
      resource,
      scope,
    },
  }
}

/** A second process over the same rows, which asks for the same session. */
async function another(at: Awaited<ReturnType<typeof served>>, database: Database) {
  const bench: TestEgress = await openTestEgress({ port: 0 }, { database, connect: at.connect })
  const lease = { tenant, session: at.session.id, environment, generation: 0 }
  const fetch = bench.egress.bind(lease).mcpFetch({ name: 'mine', url })
  return { fetch, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() }
}

describe('an expired token', () => {
  it('is renewed after a 401, and the request made once more with the same body', async () => {
    await using at = await served()
    const body = '{"method":"tools/list"}'
    assert.deepEqual(await at.ask({ method: 'POST', body }), { status: 200, text: masked(1) })
    assert.deepEqual(at.asked, [`Bearer ${firstToken}`, 'Bearer access-1-of-the-first-day'])
    assert.deepEqual(at.bodies, [body, body])
    assert.equal((await at.ask()).status, 200)
    assert.equal(at.issuer.state.issued, 1)
    const records = at.bench.logged.filter(({ op }) => op === 'mcp_proxy.forward')
    assert.deepEqual(
      records.map(({ refreshed, status }) => [refreshed, status]),
      [
        [true, 200],
        [false, 200],
      ],
    )
  })

  it('is renewed as the client, the resource and the scope are given', async () => {
    const grant = { grant_type: 'refresh_token', refresh_token: 'refresh-0-of-the-first-day' }
    const client_id = 'client:one'
    const basic = `Basic ${Buffer.from('client%3Aone:s%2B3').toString('base64')}`
    const more = { resource: 'https://api.example/', scope: 'a b' }
    const cases = [
      { given: {}, form: { ...grant, client_id }, authorization: undefined },
      {
        given: { auth: 'client_secret_basic', ...more },
        form: { ...grant, ...more },
        authorization: basic,
      },
      {
        given: { auth: 'client_secret_post' },
        form: { ...grant, client_id, client_secret: 's+3' },
        authorization: undefined,
      },
    ] as const
    for (const { given, form, authorization } of cases) {
      await using at = await served(given)
      assert.equal((await at.ask()).status, 200)
      assert.deepEqual(at.issuer.state.asked, [{ form, authorization }])
    }
  })

  it('keeps its refresh token when no other comes', async () => {
    await using at = await served()
    at.issuer.state.mode = 'without'
    assert.equal((await at.ask()).status, 200)
    at.issuer.state.valid = 'something else'
    assert.equal((await at.ask()).status, 200)
    assert.deepEqual(
      at.issuer.state.asked.map(({ form }) => form['refresh_token']),
      ['refresh-0-of-the-first-day', 'refresh-0-of-the-first-day'],
    )
  })

  it('is stored with its expiry before it is used', async () => {
    await using at = await served()
    assert.equal((await at.ask()).status, 200)
    const row = await at.row()
    assert.equal(row?.revision, 2)
    assert.ok(row?.auth.type === 'mcp_oauth')
    const left = Date.parse(row.auth.expires_at ?? '') - Date.now()
    assert.ok(left > 3_500_000 && left <= 3_600_000, String(left))
  })

  it('answers the caller the first 401 when the refresh is refused, broken or too long', async () => {
    for (const mode of ['revoked', 'broken', 'huge'] as const) {
      await using at = await served()
      at.issuer.state.mode = mode
      assert.deepEqual(await at.ask(), { status: 401, text: 'no' })
      assert.equal(at.asked.length, 1)
      assert.equal((await at.row())?.revision, 1)
      assert.ok(at.bench.logged.some(({ message }) => message === 'a token could not be refreshed'))
      assert.ok(!JSON.stringify(at.bench.logged).includes('of-the-first-day'))
    }
  })

  it('does not repeat a refused refresh until the credential changes', async () => {
    await using at = await served()
    at.issuer.state.mode = 'revoked'
    for (let i = 0; i < 3; i++) assert.equal((await at.ask()).status, 401)
    assert.equal(at.issuer.state.asked.length, 1)
    at.issuer.state.mode = 'fine'
    const refresh = { refresh_token: at.issuer.state.current }
    await at.bench.change(at.vault, at.id, { type: 'mcp_oauth', refresh })
    assert.equal((await at.ask()).status, 200)
  })

  it('is found in a 403 that says so, and in no other', async () => {
    const expired = { status: 403, challenge: 'Bearer realm="x", error="invalid_token"' }
    await using at = await served({ refusal: expired })
    assert.equal((await at.ask()).status, 200)
    const scope = { status: 403, challenge: 'Bearer error="insufficient_scope"' }
    await using other = await served({ refusal: scope })
    assert.equal((await other.ask()).status, 403)
    assert.equal(other.issuer.state.asked.length, 0)
  })

  it('costs one retry and no more', async () => {
    await using at = await served({ takesNone: true })
    assert.equal((await at.ask()).status, 401)
    assert.equal(at.asked.length, 2)
    assert.equal(at.issuer.state.asked.length, 1)
  })

  it('answers 401 to a request whose body is too long to be kept', async () => {
    await using at = await served()
    const body = Buffer.alloc(largestReplay + 1, 'x')
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(body)
        controller.close()
      },
    })
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
    assert.equal((await at.ask(init)).status, 401)
    assert.equal(at.asked.length, 1)
    assert.equal((await at.ask()).status, 200)
  })

  it('is sent again with a streamed body within the bound', async () => {
    await using at = await served()
    const pieces = ['{"a":', '1}']
    const stream = new ReadableStream({
      pull(controller) {
        const piece = pieces.shift()
        if (piece === undefined) controller.close()
        else controller.enqueue(Buffer.from(piece))
      },
    })
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
    assert.equal((await at.ask(init)).status, 200)
    assert.deepEqual(at.bodies, ['{"a":1}', '{"a":1}'])
  })

  // verifies: proxy/refresh/reread
  it('is replaced by a token that a concurrent call or a person has stored', async () => {
    await using at = await served()
    const release = Promise.withResolvers<void>()
    at.issuer.state.gate = release.promise
    const call = at.ask()
    await once(at.issuer.server, 'request')
    const access_token = 'given by a person'
    await at.bench.change(at.vault, at.id, { type: 'mcp_oauth', access_token })
    release.resolve()
    assert.equal((await call).status, 401)
    assert.deepEqual(at.asked, [`Bearer ${firstToken}`, `Bearer ${access_token}`])
  })

  it('stores the new tokens although another field changed meanwhile', async () => {
    await using at = await served()
    const release = Promise.withResolvers<void>()
    at.issuer.state.gate = release.promise
    const call = at.ask()
    await once(at.issuer.server, 'request')
    await at.bench.change(at.vault, at.id, { type: 'mcp_oauth', refresh: { scope: 'more' } })
    release.resolve()
    assert.deepEqual(await call, { status: 200, text: masked(1) })
    const row = await at.row()
    assert.ok(row?.auth.type === 'mcp_oauth')
    assert.equal(row.auth.refresh?.scope, 'more')
    assert.equal((await at.ask()).status, 200)
  })

  it('is not stored for a credential that was archived meanwhile', async () => {
    await using at = await served()
    const release = Promise.withResolvers<void>()
    at.issuer.state.gate = release.promise
    const call = at.ask()
    await once(at.issuer.server, 'request')
    const writing = { tenant, seal, keyId: 'apikey_1', isAdmin: true, now: 0 }
    await at.bench.database.write((tx) => archiveCredential({ tx, ...writing }, at.vault, at.id))
    release.resolve()
    assert.equal((await call).status, 401)
    assert.equal(await at.row(), undefined)
  })
})

describe('a token with a known end', () => {
  const movable = () => {
    let now = Date.now()
    const clock = { ...systemClock, now: () => now }
    return { clock, pass: (ms: number) => void (now += ms) }
  }

  it('is renewed before the call when it has expired', async () => {
    const { clock, pass } = movable()
    await using at = await served({ clock, expires_at: iso(clock.now() + 600_000) })
    pass(600_001)
    assert.equal((await at.ask()).status, 200)
    assert.deepEqual(at.asked, ['Bearer access-1-of-the-first-day'])
  })

  it('is renewed in the background when it expires within a minute', async () => {
    const { clock, pass } = movable()
    await using at = await served({ clock, expires_at: iso(clock.now() + 600_000) })
    pass(550_000)
    const release = Promise.withResolvers<void>()
    at.issuer.state.gate = release.promise
    const renewal = once(at.issuer.server, 'request')
    const answer = at.fetch(url)
    await renewal
    release.resolve()
    await (await answer).text()
    assert.equal(at.asked[0], `Bearer ${firstToken}`)
    assert.equal((await at.ask()).status, 200)
    assert.equal(at.issuer.state.issued, 1)
  })

  it('is sent unchanged when it cannot be renewed, and the upstream decides', async () => {
    const { clock, pass } = movable()
    await using at = await served({ clock, expires_at: iso(clock.now() + 600_000) })
    pass(600_001)
    at.issuer.state.mode = 'broken'
    assert.equal((await at.ask()).status, 401)
    assert.deepEqual(at.asked, [`Bearer ${firstToken}`])
    assert.equal(at.issuer.state.asked.length, 1)
  })
})

describe('refreshing in several processes', () => {
  it('happens once for a hundred calls of two of them', async () => {
    const databaseUrl = await newPostgresUrl()
    await using first = await postgresDatabase(databaseUrl).then(closing)
    await using second = await postgresDatabase(databaseUrl).then(closing)
    await using at = await served({ database: first.database })
    await using other = await another(at, second.database)
    const release = Promise.withResolvers<void>()
    at.issuer.state.gate = release.promise
    const calls = Array.from({ length: 100 }, async (_, i) => {
      const answer = await (i % 2 ? other : at).fetch(url)
      return `${answer.status} ${await answer.text()}`
    })
    await once(at.issuer.server, 'request')
    release.resolve()
    assert.deepEqual(new Set(await Promise.all(calls)), new Set([`200 ${masked(1)}`]))
    assert.equal(at.issuer.state.asked.length, 1)
  })

  it('goes on after a process that died between the refresh and the storing of it', async () => {
    await using opened = await databases.sqlite()
    await using at = await served({ database: opened.database })
    const held = { refresh_owner: 'proc_dead', refresh_until_ms: Date.now() + 60_000 }
    await opened.database.write((tx) => tx.updateTable('vault_credentials').set(held).execute())
    assert.equal((await at.ask()).status, 200)
  })
})

const closing = (database: Database) => ({
  database,
  [Symbol.asyncDispose]: () => database.close(),
})

describe('a token request', () => {
  it('is given up when the server does not answer in time', async () => {
    await using issuer = await authorizationServer()
    issuer.state.mode = 'slow'
    const request = {
      token_endpoint: 'https://auth.example/token',
      client_id: null,
      client_secret: null,
      authentication: 'none',
      refresh_token: 'x',
      resource: null,
      scope: null,
    } as const
    const connect = connectBy({ 'auth.example': issuer })
    const answer = await askForToken(request, { connect, clock: systemClock, timeoutMs: 100 })
    assert.ok(!answer.ok)
    assert.equal(answer.status, null)
  })
})
