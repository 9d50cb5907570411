/** Servers that are killed during the refresh of a token, and several servers that refresh the same token. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe } from 'node:test'
import { programPath } from '@steward/base/program-fixture.ts'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { declareServer, sessionOf, vaultOf } from '../mcp.ts'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import type { ServiceClients } from '../service.ts'
import { clientsOf, scenarioDatabases } from '../service.ts'
import { verifies } from '../verifies.ts'
import type { FaultyIssuer } from './issuer.ts'
import { firstTokens, issuer } from './issuer.ts'

const program = programPath(import.meta.resolve('../canaries/program.ts'))

const oauth = {
  type: 'mcp_oauth',
  access_token: firstTokens.access,
  mcp_server_url: 'https://api.example/mcp',
  refresh: {
    client_id: 'a client',
    refresh_token: firstTokens.refresh,
    token_endpoint: 'https://auth.example/token',
    token_endpoint_auth: { type: 'none' },
  },
}

/** Each test starts two servers. */
const patience = { timeout: 240_000 }

const statusOf = async (answer: Promise<Response>): Promise<number> => {
  const { status, body } = await answer
  await body?.cancel()
  return status
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`a server that is killed while it renews a token, on ${database}`, patience, () => {
    let folder: string
    let upstream: FaultyIssuer
    let env: Record<string, string>
    let running: ServerProcess[]
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'steward-faults-'))
    })
    after(() => rm(folder, { recursive: true, force: true }))
    beforeEach(async () => {
      running = []
      upstream = await issuer()
      const certificate = join(folder, 'upstream.pem')
      await writeFile(certificate, upstream.certificate)
      env = {
        DATA_DIR: await mkdtemp(join(folder, 'data-')),
        SANDBOX_PROVIDER: 'local',
        EGRESS_PROFILE: 'best_effort',
        NODE_EXTRA_CA_CERTS: certificate,
        OUTSIDE_PORT: String(upstream.port),
        ...(database === 'postgres' ? { DATABASE_URL: await newPostgresUrl() } : {}),
      }
    })
    afterEach(async () => {
      await Promise.all(running.map((server) => server.kill()))
      await upstream[Symbol.asyncDispose]()
    })

    async function started(): Promise<{ server: ServerProcess; clients: ServiceClients }> {
      const server = await startServer(env, program)
      running.push(server)
      return { server, clients: clientsOf(server.base) }
    }

    async function sessionAt(clients: ServiceClients): Promise<{ session: string; vault: string }> {
      const vault = await vaultOf(clients, oauth)
      const parts = { servers: [declareServer('api.example', 'api')], vault_ids: [vault] }
      return { session: await sessionOf(clients, parts), vault }
    }

    const asking = (clients: ServiceClients, session: string): Promise<number> =>
      statusOf(clients.raw('POST', `/v1/ext/mcp-proxy/${session}/api`, {}))

    /** Kills the first server at the given moment of a call, and sends the next call to another server. */
    async function killedAt(moment: () => Promise<void>) {
      const first = await started()
      const made = await sessionAt(first.clients)
      const reached = moment()
      const lost = asking(first.clients, made.session).catch(() => 0)
      await reached
      await first.server.kill()
      await lost
      const { clients } = await started()
      return { clients, ...made }
    }

    verifies(
      'proxy/refresh/killed',
      'before the authorisation server answers: the next server renews it, and waits for nobody',
      async () => {
        upstream.state.next = 'silence'
        const { clients, session } = await killedAt(() => upstream.askedNext())
        const began = Date.now()
        assert.equal(await asking(clients, session), 200)
        // The lease lasts 15 seconds. The lease of a dead process does not count.
        assert.ok(Date.now() - began < 5_000)
        assert.deepEqual(upstream.state.asked, [firstTokens.refresh, firstTokens.refresh])
      },
    )

    if (database === 'sqlite') oneAfterTheOther()
    else together()

    function oneAfterTheOther(): void {
      verifies(
        'proxy/refresh/killed',
        'before it has stored the answer: the refresh token of before is kept and tried again',
        async () => {
          upstream.state.next = 'all but the end'
          const { clients, session } = await killedAt(() => upstream.askedNext())
          assert.equal(await asking(clients, session), 200)
          assert.equal(await asking(clients, session), 200)
          assert.deepEqual(upstream.state.asked, [firstTokens.refresh, firstTokens.refresh])
          assert.equal(upstream.state.used.at(-1), 'Bearer access-2-of-faults')
        },
      )

      verifies(
        ['proxy/refresh/killed', 'proxy/refresh/original-401', 'vaults/update/rotates'],
        'before it has stored a token that is issued only once: the caller is refused, and a new sign-in mends it',
        async () => {
          upstream.state.next = 'all but the end'
          upstream.state.reuse = false
          const { clients, session, vault } = await killedAt(() => upstream.askedNext())
          assert.equal(await asking(clients, session), 401)
          assert.equal(await asking(clients, session), 401)
          // A refused refresh is not repeated.
          assert.equal(upstream.state.asked.length, 2)
          const path = `/v1/vaults/${vault}/credentials`
          const { body } = await clients.ask('GET', path)
          const auth = { type: 'mcp_oauth', access_token: 'access-1-of-faults' }
          const changed = await clients.ask('POST', `${path}/${body.data[0]?.id}`, { auth })
          assert.equal(changed.status, 200, JSON.stringify(changed.body))
          assert.equal(await asking(clients, session), 200)
        },
      )

      verifies(
        ['proxy/refresh/stored', 'mcp/auth/compare-and-set'],
        'when the new token is in use: it is on disk, and no other is asked for',
        async () => {
          const held = Promise.withResolvers<void>()
          upstream.state.gate = held.promise
          upstream.state.reuse = false
          const { clients, session } = await killedAt(() => upstream.usedNext())
          held.resolve()
          assert.equal(await asking(clients, session), 200)
          assert.deepEqual(upstream.state.asked, [firstTokens.refresh])
        },
      )
    }

    function together(): void {
      verifies(
        'mcp/auth/compare-and-set',
        'calls of another, which wait for the renewal, go on by themselves',
        async () => {
          const [first, second] = [await started(), await started()]
          const { session } = await sessionAt(first.clients)
          upstream.state.next = 'silence'
          const asked = upstream.askedNext()
          const lost = asking(first.clients, session).catch(() => 0)
          await asked
          const waiting = Array.from({ length: 10 }, () => asking(second.clients, session))
          const began = Date.now()
          await first.server.kill()
          await lost
          assert.deepEqual(new Set(await Promise.all(waiting)), new Set([200]))
          assert.ok(Date.now() - began < 5_000)
          assert.equal(upstream.state.asked.length, 2)
        },
      )

      verifies(
        ['mcp/auth/compare-and-set', 'proxy/lookup-every-call', 'vaults/archive/purges'],
        'nobody is killed: one server renews for both, and a change at one counts at the other',
        async () => {
          const [first, second] = [await started(), await started()]
          const { session, vault } = await sessionAt(first.clients)
          upstream.state.reuse = false
          const both = Array.from({ length: 40 }, (_, n) =>
            asking(n % 2 ? first.clients : second.clients, session),
          )
          assert.deepEqual(new Set(await Promise.all(both)), new Set([200]))
          assert.equal(upstream.state.asked.length, 1)
          const path = `/v1/vaults/${vault}`
          const { body } = await first.clients.ask('GET', `${path}/credentials`)
          const auth = { type: 'mcp_oauth', access_token: 'access-of-a-person' }
          await first.clients.ask('POST', `${path}/credentials/${body.data[0]?.id}`, { auth })
          const before = upstream.state.used.length
          await asking(second.clients, session)
          assert.equal(upstream.state.used[before], 'Bearer access-of-a-person')
          await first.clients.ask('POST', `${path}/archive`)
          assert.equal(await asking(second.clients, session), 401)
          assert.equal(upstream.state.used.at(-1), undefined)
        },
      )
    }
  })
}
