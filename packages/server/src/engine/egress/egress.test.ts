import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { RequestRefused } from '@steward/gate/outbound.ts'
import type { AuthCreate } from '@steward/protocol/credential-auth.ts'
import { auditStore } from '../../tenants/audit/store.ts'
import type { Database } from '../../ground/database/database.ts'
import { databases } from '../../ground/database/fixture.ts'
import { sessionStore } from '../../sessions/rows/sessions.ts'
import { archiveCredential, archiveVault } from '../../resources/vaults/write.ts'
import { openTestEgress, environment, seal, tenant } from './callers/egress-fixture.ts'
import type { EgressOptions } from './egress.ts'
import type { EchoedRequest } from './fixture.ts'
import { upstreamServer } from './fixture.ts'
import { toJson } from '../../ground/core/text/json-text.ts'

const url = 'https://api.example/mcp'
const bearer = (token: string, mcp_server_url = url): AuthCreate => ({
  type: 'static_bearer',
  token,
  mcp_server_url,
})

for (const kind of ['sqlite', 'postgres'] as const) {
  describe(`the egress on ${kind}`, () => {
    async function opened(options: Partial<EgressOptions> = {}) {
      const own = await databases[kind]()
      const seen: EchoedRequest[] = []
      const server = await upstreamServer(async (request, response) => {
        const body = await text(request)
        const { method = '', url: path = '', headers, rawHeaders } = request
        seen.push({
          method,
          url: path,
          headers: headers as Record<string, string>,
          rawHeaders,
          body,
        })
        response.end('ok')
      })
      const bench = await openTestEgress(server, { database: own.database, ...options })
      return {
        ...bench,
        seen,
        /** The Authorization header that the upstream got. */
        async authorization(asked: Promise<Response>) {
          await (await asked).text()
          return seen.at(-1)?.headers['authorization']
        },
        async [Symbol.asyncDispose]() {
          await bench[Symbol.asyncDispose]()
          await server[Symbol.asyncDispose]()
          await own[Symbol.asyncDispose]()
        },
      }
    }
    const reasonOf = async (call: Promise<unknown>): Promise<string> => {
      const error = await call.then(
        () => assert.fail('nothing was refused'),
        (thrown: unknown) => thrown,
      )
      assert.ok(error instanceof RequestRefused, String(error))
      return error.refusal.reason
    }

    it('knows four kinds of MCP server: none, inline, static bearer, OAuth', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'), {
        type: 'mcp_oauth',
        access_token: 'of-oauth-itself',
        mcp_server_url: 'https://other.example/mcp',
      })
      const { egress } = await at.session([vault])
      const ask = (server: { url: string; authorization_token?: string }) =>
        at.authorization(egress.mcpFetch({ name: 'mine', ...server })(server.url))
      assert.equal(await ask({ url: 'https://third.api.example/' }), undefined)
      assert.equal(await ask({ url, authorization_token: 'inline' }), 'Bearer inline')
      assert.equal(await ask({ url }), 'Bearer of-the-vault')
      assert.equal(await ask({ url: 'https://other.example/mcp' }), 'Bearer of-oauth-itself')
    })

    it('prefers a match of the whole URL in any vault to a match of the host in the first', async () => {
      await using at = await opened()
      const first = await at.vaultWith(bearer('host-first', 'https://api.example/other'))
      const second = await at.vaultWith(bearer('whole-url', 'https://API.example:443/mcp/'))
      const third = await at.vaultWith(bearer('host-third', 'https://api.example/third'))
      const { egress } = await at.session([first.vault, second.vault, third.vault])
      const ask = (to: string) => at.authorization(egress.mcpFetch({ name: 'mine', url: to })(to))
      assert.equal(await ask(url), 'Bearer whole-url')
      assert.equal(await ask('https://api.example/new'), 'Bearer host-first')
      const turned = await at.session([third.vault, first.vault])
      const other = turned.egress.mcpFetch({ name: 'mine', url })
      assert.equal(await at.authorization(other(url)), 'Bearer host-third')
    })

    it('sends no https credential over http, and none to other origins that a server names', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { egress } = await at.session([vault])
      const server = { name: 'mine', url, authorization_token: 'inline-token' }
      const fetch = egress.mcpFetch(server)
      assert.equal(await at.authorization(fetch('https://other.example/')), undefined)
      const plain = egress.mcpFetch({ name: 'mine', url: 'http://api.example/mcp' })
      await assert.rejects(plain('http://api.example/mcp'))
      assert.deepEqual(
        at.logged.map(({ host, status }) => [host, status]),
        [
          ['other.example', 200],
          ['api.example', 502],
        ],
      )
      const rows = await usesOf(at)
      assert.equal(rows.length, 0)
    })

    // verifies: egress/fence/no-token
    it('reads the vault at every call', async () => {
      await using at = await opened()
      const { vault, ids } = await at.vaultWith(bearer('the-first-one'))
      const [id = ''] = ids
      const { egress, id: session } = await at.session([vault])
      const fetch = egress.outboundFetch({ credentials: true })
      const ask = () => at.authorization(fetch(url))
      assert.equal(await ask(), 'Bearer the-first-one')
      await at.change(vault, id, { type: 'static_bearer', token: 'the-second-one' })
      assert.equal(await ask(), 'Bearer the-second-one')
      const writing = { tenant, seal, keyId: 'apikey_1', isAdmin: true, now: 0 }
      await at.database.write((tx) => archiveCredential({ tx, ...writing }, vault, id))
      assert.equal(await ask(), undefined)
      const next = await at.vaultWith(bearer('the-third-one'))
      const vault_ids = toJson([next.vault])
      await at.database.write((tx) => sessionStore(tx).update(tenant, session, { vault_ids }, 0))
      assert.equal(await ask(), 'Bearer the-third-one')
      await at.database.write((tx) => archiveVault({ tx, ...writing }, next.vault))
      assert.equal(await ask(), undefined)
    })

    it('uses no credential whose vault is archived or deleted, though its own row says nothing of it', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { egress } = await at.session([vault])
      const ask = () => at.authorization(egress.outboundFetch({ credentials: true })(url))
      assert.equal(await ask(), 'Bearer of-the-vault')
      const archived_at = '2026-01-01T00:00:00.000Z'
      await at.database.write((tx) =>
        tx.updateTable('vaults').set({ archived_at }).where('id', '=', vault).execute(),
      )
      assert.equal(await ask(), undefined)
      await at.database.write((tx) => tx.deleteFrom('vaults').where('id', '=', vault).execute())
      assert.equal(await ask(), undefined)
    })

    it('uses no credential of another tenant’s vault', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { id } = await at.session([vault])
      const stranger = at.egress.bind({
        tenant: 'wrkspc_2',
        session: id,
        environment,
        generation: 0,
      })
      assert.equal(await reasonOf(stranger.outboundFetch({ credentials: true })(url)), 'fenced')
      assert.equal(at.seen.length, 0)
    })

    it('adds nothing for web tools', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { egress } = await at.session([vault])
      const plain = egress.outboundFetch({ credentials: false })
      assert.equal(await at.authorization(plain(url)), undefined)
    })

    it('adds no credential where the profile disables it, and still applies the lists', async () => {
      await using at = await opened({ profile: 'disabled' })
      const command: AuthCreate = {
        type: 'command_secret',
        env_var: 'A',
        token: 'x',
        command_prefixes: [],
      }
      const { vault } = await at.vaultWith(bearer('of-the-vault'), command)
      const { egress } = await at.session([vault], { denylist: ['other.example'] })
      const fetch = egress.outboundFetch({ credentials: true })
      assert.equal(await at.authorization(fetch(url)), undefined)
      assert.equal(await reasonOf(fetch('https://other.example/')), 'denied')
      assert.deepEqual(await egress.commandSecrets(['x']), {})
      const server = egress.mcpFetch({ name: 'mine', url })
      assert.equal(await at.authorization(server(url)), 'Bearer of-the-vault')
    })

    // verifies: egress/fence/scope, egress/required/fails-closed, errors/case/egress-unavailable
    it('refuses calls of a session that another process has claimed, or that is archived or deleted', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { id, egress } = await at.session([vault])
      const fetch = egress.outboundFetch({ credentials: true })
      const claim = (generation: number) =>
        at.database.write((tx) =>
          tx
            .updateTable('session_heads')
            .set({ generation })
            .where('session_id', '=', id)
            .execute(),
        )
      await claim(1)
      assert.equal(await reasonOf(fetch(url)), 'fenced')
      egress.renew(1)
      assert.equal(await at.authorization(fetch(url)), 'Bearer of-the-vault')
      await at.database.write((tx) => sessionStore(tx).archive(tenant, id, 0))
      assert.equal(await reasonOf(fetch(url)), 'fenced')
      assert.deepEqual(
        egress.takeRefusals().map(({ host, reason }) => [host, reason]),
        [
          ['api.example', 'fenced'],
          ['api.example', 'fenced'],
        ],
      )
      assert.deepEqual(egress.takeRefusals(), [])
    })

    it('refuses every call once it is revoked, and ends running calls', async () => {
      await using at = await opened()
      const { vault } = await at.vaultWith(bearer('of-the-vault'))
      const { egress } = await at.session([vault])
      const fetch = egress.mcpFetch({ name: 'mine', url })
      await (await fetch(url)).text()
      egress.revoke()
      assert.equal(await reasonOf(fetch(url)), 'fenced')
      assert.equal(await reasonOf(egress.outboundFetch({ credentials: false })(url)), 'fenced')
      assert.equal(await reasonOf(egress.commandSecrets(['gh'])), 'fenced')
    })

    // verifies: egress/required/fails-closed
    it('refuses when the vault cannot be read, and sends nothing', async () => {
      await using at = await opened()
      const { vault, ids } = await at.vaultWith(bearer('of-the-vault'))
      const { egress } = await at.session([vault])
      const sealed = toJson({ token: seal.seal('x', 'another place') })
      await at.database.write((tx) =>
        tx
          .updateTable('vault_credentials')
          .set({ sealed })
          .where('id', '=', ids[0] ?? '')
          .execute(),
      )
      assert.equal(await reasonOf(egress.outboundFetch({ credentials: true })(url)), 'vault')
      assert.equal(at.seen.length, 0)
    })

    it('gives a command its secret by the words of the command', async () => {
      await using at = await opened()
      const secret = (env_var: string, token: string, command_prefixes: string[]): AuthCreate => ({
        type: 'command_secret',
        env_var,
        token,
        command_prefixes,
      })
      const first = await at.vaultWith(
        secret('GIT_SECRET', 'for-git-push', ['git push', 'git pull']),
        secret('EVERY', 'for-every-one', []),
      )
      const second = await at.vaultWith(secret('EVERY', 'too late', []))
      const { egress, id } = await at.session([first.vault, second.vault])
      assert.deepEqual(await egress.commandSecrets(['git', 'push', 'origin']), {
        GIT_SECRET: 'for-git-push',
        EVERY: 'for-every-one',
      })
      assert.deepEqual(await egress.commandSecrets(['git']), { EVERY: 'for-every-one' })
      assert.deepEqual(await egress.commandSecrets(['gitpush']), { EVERY: 'for-every-one' })
      const rows = await usesOf(at)
      assert.ok(rows.length > 0)
      assert.ok(rows.every(({ session_id, method }) => session_id === id && method === 'EXEC'))
    })

    it('stores a row of each use, and its end later', async () => {
      await using at = await opened()
      const { vault, ids } = await at.vaultWith(bearer('of-the-vault'))
      const { egress, id } = await at.session([vault])
      const server = { name: 'mine', url }
      await (await egress.mcpFetch(server)(url, { method: 'POST', body: '{}' })).text()
      await (await egress.mcpFetch({ ...server, authorization_token: 'inline-token' })(url)).text()
      const begun = await usesOf(at)
      assert.deepEqual(
        begun.map(({ status }) => status),
        [null, null],
      )
      await at.egress.close()
      const rows = await usesOf(at)
      const about = {
        tenant_id: tenant,
        session_id: id,
        caller: 'rpc-mcp',
        server: 'mine',
        host: 'api.example',
        status: 200,
        refreshed: 0,
        // A job chains the lines later.
        seq: null,
        hash: null,
      }
      assert.deepEqual(
        rows.map(({ id: _, ms: _ms, created_at: _at, ...rest }) => rest),
        [
          { ...about, vault_id: vault, credential_id: ids[0], method: 'POST' },
          { ...about, vault_id: null, credential_id: null, method: 'GET' },
        ],
      )
      assert.ok(!JSON.stringify(rows).includes('of-the-vault'))
    })
  })
}

async function usesOf({ database }: { database: Database }) {
  const paging = { limit: 100, order: 'asc' } as const
  return (await auditStore(database.read).uses(tenant, { filter: {}, moments: [], paging })).rows
}
