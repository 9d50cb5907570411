/** The egress that a claim's token opens, and its end together with the claim. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { connectBy, echo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import { closing, httpsTo, openTunnel, throughTo } from '../remote-sandbox.ts'
import type { TestService } from '../service.ts'
import { besideService, boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { ClaimedSession, WorkerPool } from '../workers.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const secret = 'canary-of-the-way-out-0123456789'
const hosts = [...scenarioDatabases(import.meta.filename), 'two processes'] as const

for (const shape of hosts)
  describe(`egress of a claim on ${shape}`, () => {
    let service: TestService
    /** The service that accepts connections: another process than the service of the queue when there are two. */
    let other: TestService
    let api: TestUpstream
    let reached: string[]
    before(async () => {
      reached = []
      api = await upstreamServer((request, response) => {
        reached.push(`${request.headers.host} ${request.url}`)
        return echo(request, response)
      })
      const outside = {
        connect: connectBy({ 'api.example': api, 'other.example': api }),
        dial: async () => connect(api.port, '127.0.0.1'),
      }
      const overrides = { nameOverride: outside }
      if (shape === 'two processes') {
        const url = await newPostgresUrl()
        service = await boot('postgres', { env: { DATABASE_URL: url }, overrides })
        other = await boot('postgres', { env: besideService(url, service), overrides })
      } else service = other = await boot(shape, { overrides })
    })
    after(async () => {
      if (other !== service) await other.close()
      await service.close()
      await api[Symbol.asyncDispose]()
    })

    type OwnClaim = Pick<ClaimedSession, 'session' | 'work' | 'token'>
    async function claim(pool: WorkerPool): Promise<OwnClaim> {
      const auth = {
        ...{ type: 'static_bearer', token: secret },
        mcp_server_url: 'https://api.example/mcp',
      }
      const body = { name: fresh('vault'), credentials: [{ auth }] }
      const vault = await service.ask('POST', '/v1/vaults', body)
      const session = await sessionIn(service, pool, {}, { vault_ids: [vault.body.id] })
      const item = await poll(service, pool, '?reclaim_older_than_ms=600000')
      assert.equal(item?.data.id, session)
      return { session, work: item.id, token: tokenOf(item.secret) }
    }
    const bearer = (token: string) => ({ 'x-api-key': '', authorization: `Bearer ${token}` })
    async function told({ session, token }: OwnClaim, at = other) {
      const path = `/v1/ext/egress/${session}/authorities`
      type EgressReadout = { certificates: string; variables: Record<string, string> }
      return at.ask<EgressReadout>('GET', path, undefined, bearer(token))
    }
    async function tunnel(own: OwnClaim) {
      const opened = await openTunnel(other, own)
      if (typeof opened === 'number') assert.fail(`refused: ${opened}`)
      return opened
    }

    verifies(
      ['egress/remote/tunnel', 'egress/remote/told', 'egress/fence/no-token'],
      'is that of the session alone: its credentials behind the proxy, its lists, whichever process it comes to',
      async () => {
        const pool = await newPool(service)
        const network = { allowlist: ['api.example'] }
        assert.equal((await service.ask('POST', pool.path, { network })).status, 200)
        const own = await claim(pool)
        // One process shows the authorities, and connections through the other process use them.
        const { status, body } = await told(own, service)
        assert.equal(status, 200)
        assert.ok(!JSON.stringify(body).includes(secret))
        const line = await httpsTo(await tunnel(own), 'api.example', body.certificates)
        for (const path of ['/one', '/two']) {
          const answer = await line.ask(path)
          assert.match(answer, /^HTTP\/1\.1 200 /)
          assert.ok(answer.includes(`Bearer ${'*'.repeat(secret.length)}`), answer)
        }
        const refused = await throughTo(await tunnel(own), 'other.example')
        assert.match(refused ?? '', /^HTTP\/1\.1 403 .*other\.example/)

        const stranger = await claim(await newPool(service))
        const at = (session: string, token: string) =>
          openTunnel(other, { session, token }).then((found) => found)
        assert.equal(await at(own.session, stranger.token), 403)
        assert.equal(await at(own.session, pool.key), 401)
        assert.equal(await at(own.session, 'none'), 401)
        const path = `/v1/ext/egress/${own.session}`
        const plain = await service.ask('GET', path, undefined, bearer(own.token))
        assert.equal(plain.status, 400)
      },
    )

    verifies(
      ['egress/fence/old-sandbox', 'errors/case/old-sandbox', 'egress/fence/scope'],
      'ends when another has the work: nothing more is asked over open connections, nor are new ones opened',
      async () => {
        const pool = await newPool(service)
        const own = await claim(pool)
        const { certificates } = (await told(own)).body
        const line = await httpsTo(await tunnel(own), 'api.example', certificates)
        assert.match(await line.ask('/before'), /^HTTP\/1\.1 200 /)
        const bytes = await tunnel(own)
        assert.equal(await throughTo(bytes, 'other.example'), undefined)
        const idle = await tunnel(own)

        const next = await poll(service, pool, '?reclaim_older_than_ms=1&block_ms=999')
        assert.equal(next?.id, own.work)
        const answer = await line.ask('/after')
        assert.ok(answer === '' || answer.startsWith('HTTP/1.1 403 '), answer)
        assert.deepEqual(
          reached.filter((each) => each.includes('/after')),
          [],
        )
        await Promise.all([line.closed, closing(bytes), closing(idle)])
        assert.equal(await openTunnel(other, own), 401)
        const mine = { ...own, token: tokenOf(next.secret) }
        const anew = await httpsTo(await tunnel(mine), 'api.example', certificates)
        assert.match(await anew.ask('/anew'), /^HTTP\/1\.1 200 /)
      },
    )

    verifies(
      ['egress/fence/revoked-first', 'egress/remote/bounds'],
      'is bounded, and ends when the work is stopped',
      async () => {
        const own = await claim(await newPool(service))
        const open = await Promise.all(Array.from({ length: 256 }, () => tunnel(own)))
        assert.equal(await openTunnel(other, own), 429)
        const environment = (await service.ask('GET', `/v1/sessions/${own.session}`)).body
        const path = `/v1/environments/${String(environment['environment_id'])}/work/${own.work}`
        const stopped = await service.ask(
          'POST',
          `${path}/stop`,
          { force: true },
          bearer(own.token),
        )
        assert.equal(stopped.status, 200)
        await Promise.all(open.map(closing))
        assert.equal(await openTunnel(other, own), 401)
      },
    )
  })
