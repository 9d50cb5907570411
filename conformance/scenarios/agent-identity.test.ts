import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { mcpClient } from '@steward/harness/tools/mcp/mcp-fixture.ts'
import { verifyAgentToken } from '@steward/server/engine/egress/identity/verify-fixture.ts'
import type { McpHosts } from '../mcp.ts'
import { callTool, declareServer, errorsOf, mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import { accept } from '../people.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { logOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'
import { newPool, poll, sessionIn, tokenOf } from '../workers.ts'

const issuer = 'https://agents.example'
const dayMs = 86_400_000

const identityFor = (host: string, more: object = {}) => ({
  type: 'agent_identity',
  audience: `https://${host}`,
  mcp_server_url: `https://${host}/mcp`,
  ...more,
})
const echo = (server: string) => callTool(`mcp__${server}__echo`, { text: 'hello' })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the identity of agents on ${database}`, () => {
    let service: TestService
    let hosts: McpHosts
    let offsetMs = 0
    before(async () => {
      hosts = await mcpHosts()
      const clock = { ...systemClock, now: () => Date.now() + offsetMs }
      service = await boot(database, {
        env: { AGENT_IDENTITY_ISSUER: `${issuer}/` },
        overrides: { clock, nameOverride: hosts.outside },
      })
    })
    after(async () => {
      await service.close()
      await hosts[Symbol.asyncDispose]()
    })

    /** The token that the host has seen last. */
    function tokenAt(host: string): string {
      const { authorization = '' } = hosts.of(host).at(-1) ?? {}
      assert.match(authorization, /^Bearer ey/)
      return authorization.slice('Bearer '.length)
    }
    const verified = (token: string, host: string) =>
      verifyAgentToken(token, {
        base: service.base,
        issuer,
        audience: `https://${host}`,
        currentDate: new Date(Date.now() + offsetMs),
      })
    async function says(session: string, server: string): Promise<void> {
      assert.deepEqual(errorsOf(await turn(service, session, echo(server))), [])
    }

    verifies(
      [
        'agent-identity/keys',
        'agent-identity/discovery',
        'agent-identity/issuer',
        'agent-identity/claims',
        'agent-identity/field/audience',
        'agent-identity/field/ttl',
        'agent-identity/field/claims',
        'credentials/type/agent-identity',
      ],
      'a server verifies which agent calls by the published keys alone',
      async () => {
        const host = 'who.api.example'
        hosts.mcp(host)
        const vault = await vaultOf(
          service,
          identityFor(host, { ttl_seconds: 60, claims: { team: 'data' } }),
        )
        const servers = [declareServer(host)]
        const session = await sessionOf(service, { servers, vault_ids: [vault] })
        await says(session, 'who')
        const { body: discovery } = await service.ask<Record<string, string>>(
          'GET',
          '/.well-known/openid-configuration',
        )
        assert.equal(discovery['issuer'], issuer)
        assert.equal(discovery['jwks_uri'], `${issuer}/.well-known/jwks.json`)
        const payload = await verified(tokenAt(host), host)
        const shown = await service.ask<{ agent: { id: string; version: number } }>(
          'GET',
          `/v1/sessions/${session}`,
        )
        const { id, version } = shown.body.agent
        const workspace = (await service.ask('GET', '/v1/organizations/me')).body.id
        assert.equal(payload.sub, `workspace:${workspace}:agent:${id}`)
        assert.equal(payload['workspace'], workspace)
        assert.equal(payload['agent'], id)
        assert.equal(payload['agent_version'], version)
        assert.equal(payload['session'], session)
        assert.deepEqual(payload['claims'], { team: 'data' })
        assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
        assert.ok(payload.jti)
        await assert.rejects(verified(tokenAt(host), 'another.api.example'), /"aud" claim/)
      },
    )

    verifies(
      'agent-identity/on-behalf-of',
      'the token names the person who has begun the session, or the key',
      async () => {
        const host = 'whom.api.example'
        hosts.mcp(host)
        const workspace = (await service.ask('GET', '/v1/organizations/me')).body.id
        const person = await accept(service, await service.invite(workspace, 'member'), {
          email: 'mia@example.com',
          name: 'Mia',
        })
        const me = await person.ask<{ user: { id: string } }>('GET', '/v1/ext/me')
        for (const [by, behind] of [
          [person, { type: 'user', id: me.body.user.id, name: 'Mia <mia@example.com>' }],
          [service, { type: 'api_key' }],
        ] as const) {
          const vault = await vaultOf(service, identityFor(host))
          const asker = { ask: by.ask } as Pick<TestService, 'ask'>
          const servers = [declareServer(host)]
          await says(await sessionOf(asker, { servers, vault_ids: [vault] }), 'whom')
          const { on_behalf_of } = await verified(tokenAt(host), host)
          assert.partialDeepStrictEqual(on_behalf_of, behind)
        }
      },
    )

    verifies(
      ['agent-identity/outside', 'agent-identity/trail', 'agent-identity/field/destinations'],
      'the token is nowhere but in the call, and its use is on record',
      async () => {
        const host = 'quiet.api.example'
        hosts.mcp(host)
        const vault = await vaultOf(service, identityFor(host))
        const servers = [declareServer(host), declareServer('other.api.example', 'other')]
        hosts.mcp('other.api.example')
        const session = await sessionOf(service, { servers, vault_ids: [vault] })
        await says(session, 'quiet')
        await says(session, 'other')
        const token = tokenAt(host)
        assert.ok(hosts.of('other.api.example').every((each) => each.authorization === undefined))
        const told = JSON.stringify([
          await logOf(service, session),
          service.logged,
          (await service.ask('GET', `/v1/vaults/${vault}/credentials`)).body,
        ])
        assert.ok(!told.includes(token))
        assert.ok(!told.includes(token.split('.')[2] ?? ''))
        const uses = await service.ask<{ data: { host: string }[] }>(
          'GET',
          `/v1/ext/audit/credential_uses?session_id=${session}`,
        )
        assert.ok(uses.body.data.some((each) => each.host === host))
        const refused = await service.ask('POST', `/v1/vaults/${vault}/credentials`, {
          auth: { type: 'agent_identity', audience: 'a' },
        })
        assert.equal(refused.status, 400)
        assert.match(JSON.stringify(refused.body), /mcp_server_url/)
        const taken = await service.ask('POST', `/v1/vaults/${vault}/credentials`, {
          auth: { ...identityFor(host), type: 'static_bearer', audience: undefined, token: 'x' },
        })
        assert.equal(taken.status, 409)
      },
    )

    verifies('agent-identity/no-probe', 'a probe of a server carries no token', async () => {
      const host = 'probed.api.example'
      hosts.mcp(host)
      const vault = await vaultOf(service, identityFor(host))
      const probed = await service.ask('POST', '/v1/ext/mcp_probes', {
        url: `https://${host}/mcp`,
        vault_ids: [vault],
      })
      assert.equal(probed.status, 200)
      assert.ok(hosts.of(host).length > 0)
      assert.ok(hosts.of(host).every(({ authorization }) => authorization === undefined))
    })

    verifies(
      'agent-identity/workers',
      'the servers of a worker’s session get the token by the proxy, and the worker does not',
      async () => {
        const host = 'worker.api.example'
        hosts.mcp(host)
        const pool = await newPool(service)
        const vault = await vaultOf(service, identityFor(host))
        const mcp_servers = [declareServer(host)]
        const session = await sessionIn(service, pool, { mcp_servers }, { vault_ids: [vault] })
        const item = await poll(service, pool)
        const secret = tokenOf(item?.secret ?? '')
        const client = await mcpClient(`${service.base}/v1/ext/mcp-proxy/${session}/worker`, secret)
        assert.ok((await client.listTools()).tools.length > 0)
        await client.close()
        assert.equal((await verified(tokenAt(host), host))['session'], session)
      },
    )

    verifies(
      'agent-identity/rotation',
      'tokens are verified over a change of the key, by keys that were read a day before',
      async () => {
        const host = 'rotated.api.example'
        hosts.mcp(host)
        const vault = await vaultOf(service, identityFor(host))
        const keys = async () =>
          (
            await service.ask<{ keys: { kid: string }[] }>('GET', '/.well-known/jwks.json')
          ).body.keys.map(({ kid }) => kid)
        const early = await keys()
        const kids = new Set<string>()
        for (let day = 0; day < 31; day += 10) {
          const servers = [declareServer(host)]
          await says(await sessionOf(service, { servers, vault_ids: [vault] }), 'rotated')
          const token = tokenAt(host)
          await verified(token, host)
          const [head = ''] = token.split('.')
          const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
          assert.ok(early.includes(kid), 'the next key was published before it signed')
          kids.add(kid)
          offsetMs += 10 * dayMs
        }
        assert.equal(kids.size, 2)
        assert.equal((await keys()).length, 3)
      },
    )
  })
}
