import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { movedClock } from '@steward/base/time-fixture.ts'
import { iso } from '@steward/base/time.ts'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { rows } from '../../../ground/database/rows.ts'
import type { App } from '../installations/app.ts'
import { linearApp } from '../linear/app.ts'
import type { AnswerLetter, Send } from '../answers/send.ts'
import { sealTokens } from '../installations/token.ts'
import { openOnGithub } from '../github/pull-requests.ts'
import { integrationStore } from '../store.ts'
import { publicationTools } from './session-tools.ts'

const tenant = 'wrkspc_1'
const seal = createSeal('a root secret for tests')
const github = { repositories: ['acme/shop'], authors: ['ada'], labels: [], reviewers: [] }
const ofSession = {
  ...{ tenant_id: tenant, id: 'sesn_1', creator_type: 'publication', creator_id: 'pub_1' },
}
const none = () => assert.fail('no automation is asked for')
const call = { title: 'Mend', body: '', branch: 'mend' }

/** A publication with the thread of acme/shop#7, whose session is `sesn_1`, at a provider that `send` plays. */
async function published(
  open: (typeof databases)['sqlite'],
  {
    spec = {},
    automations,
    reads_only = null,
    send,
  }: {
    spec?: Partial<PublicationSpec['github']>
    automations?: PublicationSpec['automations']
    reads_only?: 1 | null
    send?: Send
  } = {},
) {
  const opened = await open()
  const { database: db, bus } = opened
  const clock = movedClock()
  const at = iso(clock.now())
  const settings = { clientId: 'client', clientSecret: 'secret', webhookSecret: 'x'.repeat(32) }
  const urls = { url: 'https://code.example', apiUrl: 'https://api.code.example' }
  const app: App = {
    ...linearApp({ ...settings, ...urls }),
    id: 'github',
    openPullRequest: openOnGithub,
    newToken: async () => ({
      ...{ kind: 'token', token: 'second' },
      tokens: { access: 'second' },
    }),
  }
  const deps = {
    ...testGround(db, { bus, clock, seal }),
    apps: new Map([[app.id, app]]),
    sendToProvider: send ?? (() => assert.fail('nothing is sent')),
    automations: { ofSession: () => ({ list: none, prepare: none }) },
  }
  await db.write(async (tx) => {
    await rows(tx, 'installations').insert({
      ...{ tenant_id: tenant, id: 'inst_1', integration: 'github', external_id: '42' },
      ...{ external_name: 'acme', bot_user_id: null, scopes: [], status: 'active' },
      ...{ token_owner: null, token_until_ms: 0, created_at: at, updated_at: at },
      sealed_tokens: sealTokens(seal, { tenant, id: 'inst_1' }, { access: 'first' }),
    })
    await rows(tx, 'publications').insert({
      ...{ tenant_id: tenant, id: 'pub_1', integration: 'github', installation_id: 'inst_1' },
      ...{ agent_id: 'agent_1', agent_version: null, environment_id: 'env_1', status: 'live' },
      ...{ vault_id: null, token_due_ms: null, sealed_secrets: null, known_ids: null },
      ...{ metadata: {}, created_at: at, updated_at: at },
      spec: {
        vault_ids: [],
        automations,
        github: {
          ...{ ...github, checkout: true, forks: 'read_only' },
          ...{ pull_requests: { type: 'always_ask' }, ...spec },
        },
      },
    })
    await rows(tx, 'integration_threads').insert({
      ...{ tenant_id: tenant, id: 'intthr_1', publication_id: 'pub_1', scope: 'acme/shop#7' },
      ...{ session_id: 'sesn_1', target: { repository: 'acme/store', number: 9 }, notes: {} },
      ...{
        turn_target: null,
        first: null,
        told_seq: 0,
        told_parts: 0,
        begun: null,
        reads_only,
        wakes: null,
      },
      ...{ token_due_ms: null, due_ms: null, owner: null, expires_at: 0 },
    })
  })
  return {
    db,
    toolsOf: (session: Partial<typeof ofSession> = {}, thread?: string) =>
      publicationTools(deps, { ...ofSession, ...session }, thread),
    own: (scope: string) => integrationStore(db.read).ownPullRequest(tenant, 'pub_1', scope),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** GitHub with the branch `mend` in acme/store, which refuses the first token. */
function provider(asked: AnswerLetter[]): Send {
  return async (letter) => {
    asked.push(letter)
    const { method, url, headers } = letter
    const path = url.replace('https://api.code.example/repos/acme/store', '')
    const made = {
      ...{ number: 12, html_url: 'https://code.example/12', state: 'open', body: null },
      ...{ head: { repo: null }, base: { ref: 'main' } },
    }
    const [status, body] =
      headers['authorization'] === 'Bearer first'
        ? [401, {}]
        : method === 'POST'
          ? [201, made]
          : [200, path.startsWith('/pulls') ? [] : { default_branch: 'main' }]
    return { status, retryAfter: null, body: JSON.stringify(body) }
  }
}

for (const [name, open] of Object.entries(databases)) {
  describe(`the tools of a publication on ${name}`, () => {
    it('are for the agent of a session that the publication has begun, under its policy', async () => {
      await using given = await published(open)
      const tools = await given.toolsOf()
      assert.deepEqual(
        tools.map((tool) => [tool.name, tool.permission]),
        [['open_pull_request', 'ask']],
      )
      assert.deepEqual(await given.toolsOf({ creator_type: 'user' }), [])
      assert.deepEqual(await given.toolsOf({ creator_id: 'pub_2' }), [])
      assert.deepEqual(await given.toolsOf({ id: 'sesn_2' }), [])
      assert.deepEqual(await given.toolsOf({}, 'sthr_1'), [])
    })

    it('are none where the publication names none, and in a session about a fork', async () => {
      await using without = await published(open, { spec: { pull_requests: null } })
      assert.deepEqual(await without.toolsOf(), [])
      await using fork = await published(open, { reads_only: 1 })
      assert.deepEqual(await fork.toolsOf(), [])
    })

    it('open a pull request with a new token where the first is refused, and keep whose it is', async () => {
      const asked: AnswerLetter[] = []
      await using given = await published(open, { send: provider(asked) })
      const [tool] = await given.toolsOf()
      assert.ok(tool)
      const { signal } = new AbortController()
      const result = await tool.run(call, { signal, call: 'sevt_1' })
      assert.deepEqual(result, {
        content: [{ type: 'text', text: '{"number":12,"url":"https://code.example/12"}' }],
        is_error: false,
      })
      const credentials = asked.map(({ headers }) => headers['authorization'])
      assert.deepEqual(credentials.slice(0, 2), ['Bearer first', 'Bearer second'])
      assert.ok(!credentials.slice(1).includes('Bearer first'))
      // The repository's name in the publication names the pull request, as it does in deliveries.
      const { thread_scope, session_id, head } = (await given.own('acme/shop#12')) ?? {}
      assert.deepEqual([thread_scope, session_id, head], ['acme/shop#7', 'sesn_1', 'mend'])
      assert.match(JSON.parse(asked.at(-1)?.body ?? '').body, /^Closes #7\n/)
    })

    it('open nothing while the publication is paused', async () => {
      await using given = await published(open)
      const [tool] = await given.toolsOf()
      await given.db.write(async (tx) => {
        const kept = await rows(tx, 'publications').getForUpdate(tenant, 'pub_1')
        await rows(tx, 'publications').update(kept, { status: 'paused' })
      })
      const { signal } = new AbortController()
      const result = await tool?.run(call, { signal, call: 'sevt_1' })
      assert.ok(result?.is_error && JSON.stringify(result).includes('is paused'))
    })

    /** The publication serves Slack, and names the repository acme/store of the installation at GitHub. */
    const inChat = (
      { db }: Awaited<ReturnType<typeof published>>,
      status: 'active' | 'needs_reauth' | 'revoked',
    ) =>
      db.write(async (tx) => {
        const github = await rows(tx, 'installations').getForUpdate(tenant, 'inst_1')
        const ofChat = { id: 'inst_2', integration: 'slack', external_id: 'T1', status } as const
        await rows(tx, 'installations').insert({ ...github, ...ofChat, sealed_tokens: null })
        const kept = await rows(tx, 'publications').getForUpdate(tenant, 'pub_1')
        await rows(tx, 'publications').update(kept, {
          ...{ integration: 'slack', installation_id: 'inst_2' },
          status: status === 'active' ? 'live' : 'needs_reauth',
          spec: {
            vault_ids: [],
            code: {
              ...{ installation_id: 'inst_1', repository: 'acme/store' },
              pull_requests: { type: 'always_ask' },
            },
          },
        })
      })

    // verifies: integrations/code
    it('open a pull request in the repository that a publication elsewhere names, and own it not', async () => {
      await using given = await published(open, { send: provider([]) })
      await inChat(given, 'active')
      const [tool] = await given.toolsOf()
      const { signal } = new AbortController()
      const result = await tool?.run(call, { signal, call: 'sevt_1' })
      assert.equal(result?.is_error, false)
      assert.equal(await given.own('acme/store#12'), undefined)
    })

    // verifies: integrations/code
    it('open nothing once the app of the conversation is uninstalled', async () => {
      await using given = await published(open)
      await inChat(given, 'revoked')
      const [tool] = await given.toolsOf()
      const { signal } = new AbortController()
      const result = await tool?.run(call, { signal, call: 'sevt_1' })
      assert.ok(result?.is_error && JSON.stringify(result).includes('no longer installed'))
    })

    it('refuse a name that is none of a branch, before anything is asked', async () => {
      await using given = await published(open)
      const [tool] = await given.toolsOf()
      for (const branch of ['a b', '../main', 'a..b', '', 'a\ud800', 'a'.repeat(2_000)]) {
        const { signal } = new AbortController()
        const result = await tool?.run({ ...call, branch }, { signal, call: 'sevt_1' })
        assert.ok(result?.is_error && JSON.stringify(result).includes('branch: is no name'), branch)
      }
    })
  })
}
