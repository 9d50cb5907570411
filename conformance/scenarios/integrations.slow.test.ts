import assert from 'node:assert/strict'
import { z } from 'zod'
import { randomUUID } from 'node:crypto'
import { after, before, describe } from 'node:test'
import { newSecret } from '@steward/server/tenants/webhooks/sign.ts'
import {
  beginGithub,
  comeBack,
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
} from '../github.ts'
import { accept, cookieOf } from '../people.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import { publishSigned, signedPublications as base } from '../signed-publication.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

type ListedDelivery = { state: string; reason: string | null; session_id: string | null }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`integrations on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    let environment: string
    const publish = (agent: object = {}) => publishSigned({ service, receiver, environment }, agent)
    before(async () => {
      receiver = await startReceiver()
      service = await boot(database, {
        env: githubSettings(receiver.base),
      })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    verifies(
      [
        'integrations/webhook',
        'integrations/publications/create',
        'integrations/publications/deliveries',
        'integrations/deliveries',
        'integrations/deliveries/once',
        'integrations/threads',
        'integrations/context',
        'integrations/answers',
      ],
      'a signed request of an allowed author has one session a thread, and its answer is posted once, signed',
      async () => {
        const { send, told, deliveries, secret, path, id } = await publish()
        const first = randomUUID()
        const sent = await Promise.all(
          Array.from({ length: 10 }, () => send('7', 'say: One.', { id: first })),
        )
        assert.deepEqual(new Set(sent), new Set([200]))
        await until(() => told().length === 1)
        assert.equal(await send('7', 'say: Two.'), 200)
        assert.equal(await send('8', 'say: Other.'), 200)
        await until(() => told().length === 3)
        const of = (scope: string) => told().filter((each) => each['scope'] === scope)
        assert.deepEqual(
          of('7').map(({ type, text }) => [type, text]),
          [
            ['reply', 'One.'],
            ['reply', 'Two.'],
          ],
        )
        const sessions = new Set(told().map(({ session_id }) => session_id))
        assert.equal(sessions.size, 2)
        for (const { headers, body } of receiver.posted.filter((each) => each.path === path)) {
          const given = Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [name, String(value)]),
          )
          service.client.beta.webhooks.unwrap(body, { headers: given, key: secret })
        }
        assert.deepEqual(
          (await deliveries()).map(({ state }) => state),
          ['delivered', 'delivered', 'delivered'],
        )
        const [session] = sessions
        const shown = await service.client.beta.sessions.retrieve(String(session))
        assert.equal(shown.metadata['publication_id'], id)
        const events = await service.client.beta.sessions.events.list(String(session))
        const [asked] = events.data.flatMap((each) =>
          each.type === 'user.message' ? each.content : [],
        )
        assert.ok(asked && 'text' in asked && asked.text.includes('{"title":"Obey me."}'))
        assert.ok(!service.logged.join('').includes(secret))
      },
    )

    verifies(
      'integrations/deliveries/ignored',
      'two agents that answer each other come to an end',
      async () => {
        const [one, other] = [await publish(), await publish()]
        const early = Array.from({ length: 55 }, () => one.send('9', 'stop'))
        assert.deepEqual(new Set(await Promise.all(early)), new Set([200]))
        receiver.answerWith(async ({ path }) => {
          if (path === one.path) await other.send('9', 'say: You are right.')
          if (path === other.path) await one.send('9', 'say: No, you are.')
          return { status: 200 }
        })
        await other.send('9', 'say: Who is right?')
        await until(async () => (await one.deliveries())[0]?.state === 'ignored')
        assert.equal((await one.deliveries())[0]?.reason, 'more than 60 in an hour for 9')
        receiver.answerWith(() => ({ status: 200 }))
      },
    )

    verifies(
      [
        'integrations/kinds',
        'integrations/list',
        'integrations/publications/list',
        'integrations/publications/get',
        'integrations/publications/pause',
        'integrations/publications/delete',
        'integrations/deliveries/refused',
        'integrations/deliveries/ignored',
      ],
      'strangers, forged and stale deliveries, and those of another publication move nothing',
      async () => {
        const made = await publish()
        const other = await publish()
        const { send, deliveries } = made
        assert.equal(await send('1', 'say: x', { secret: newSecret() }), 404)
        assert.equal(await send('1', 'say: x', { secret: other.secret }), 404)
        const elsewhere = made.delivery_url.replace(/workspace=.*/, 'workspace=wrkspc_of_nobody')
        assert.equal(await send('1', 'say: x', { to: elsewhere }), 404)
        const unknown = made.delivery_url.replace(made.id, 'pub_of_nobody')
        assert.equal(await send('1', 'say: x', { to: unknown }), 404)
        const huge = await fetch(made.delivery_url, {
          method: 'POST',
          body: 'x'.repeat(25_000_000),
        })
        assert.equal(huge.status, 413)
        assert.deepEqual(await deliveries(), [])
        assert.equal(await send('1', 'say: x', { author: 'eve' }), 200)
        assert.equal(await send('1', 'say: x', { body: { user: 'ada' } }), 200)
        const path = `${base}/${made.id}`
        assert.equal((await service.ask('POST', `${path}/pause`)).body['status'], 'paused')
        assert.equal(await send('1', 'say: x'), 200)
        const listed = await service.ask('GET', base)
        assert.ok(listed.body.data.some(({ id }) => id === made.id))
        assert.ok(!JSON.stringify(listed.body).includes(made.secret))
        const kinds = await service.ask('GET', '/v1/ext/integrations')
        assert.deepEqual(
          kinds.body.data.map(({ id }) => id),
          ['github', 'linear', 'slack', 'webhook'],
        )
        const found = await deliveries()
        assert.deepEqual(
          found.map(({ state, reason }) => [state, reason]),
          [
            ['ignored', 'the publication is paused'],
            ['ignored', 'malformed: /issue'],
            ['ignored', 'stranger: /user'],
          ],
        )
        assert.equal((await service.ask('POST', `${path}/unpause`)).body['status'], 'live')
        assert.equal((await service.ask('DELETE', path)).status, 200)
        assert.equal((await service.ask('GET', path)).status, 404)
        assert.equal(await send('1', 'say: x'), 404)
        const wrong = await service.ask('POST', base.replace('webhook', 'pager'), {
          agent: made.agent.id,
          environment_id: environment,
        })
        assert.equal(wrong.status, 404)
      },
    )

    verifies(
      ['integrations/answers'],
      'an answer is posted once, whoever writes in its thread meanwhile',
      async () => {
        const made = await publish()
        const held = Promise.withResolvers<{ status: number }>()
        receiver.answerWith(({ path }) => (path === made.path ? held.promise : { status: 200 }))
        await made.send('1', 'say: One.')
        await until(() => made.told().length === 1)
        await made.send('1', 'say: Two.')
        await until(async () => (await made.deliveries())[0]?.state === 'delivered')
        receiver.answerWith(() => ({ status: 200 }))
        held.resolve({ status: 200 })
        await until(() => made.told().at(-1)?.['text'] === 'Two.')
        assert.deepEqual(
          made.told().map(({ text }) => text),
          ['One.', 'Two.'],
        )
      },
    )

    verifies(
      ['integrations/reauth', 'integrations/failures'],
      'an answer is posted again after a failure and under the same id, and a refused credential stops the publication',
      async () => {
        const made = await publish()
        receiver.answerWith(({ path }) => ({ status: path === made.path ? 503 : 200 }))
        await made.send('1', 'say: again')
        await until(() => made.told().length === 1)
        receiver.answerWith(() => ({ status: 200 }))
        // A pause and its end make the service retry at once.
        await service.ask('POST', `${base}/${made.id}/pause`)
        await service.ask('POST', `${base}/${made.id}/unpause`)
        await until(() => made.told().length === 2)
        const [one, two] = made.told()
        assert.deepEqual(one, two)
        receiver.answerWith(({ path }) => ({ status: path === made.path ? 401 : 200 }))
        await made.send('1', 'say: refused')
        const status = async () => (await service.ask('GET', `${base}/${made.id}`)).body['status']
        await until(async () => (await status()) === 'needs_reauth')
        receiver.answerWith(() => ({ status: 200 }))
        await service.ask('POST', `${base}/${made.id}/unpause`)
        await until(() => made.told().length === 4)
        assert.deepEqual(made.told()[2], made.told()[3])
        await service.client.beta.agents.archive(made.agent.id)
        await made.send('2', 'say: gone')
        await until(() => made.told().at(-1)?.['type'] === 'error')
        assert.equal((await made.deliveries())[0]?.state, 'failed')
      },
    )

    verifies(
      'integrations/install/confirm',
      'an installation that a key has begun names the workspace and asks whoever comes back',
      async () => {
        const stub = githubStub([{ id: 42, login: 'acme' }])
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        const other = await service.otherWorkspace('the <hostile> one')
        const callback = `${service.base}/v1/ext/integrations/github/callback`
        const state = await beginGithub(service, { 'x-api-key': other.key })
        const query = new URLSearchParams({ installation_id: '42', code: 'a code', state })
        const shown = await fetch(`${callback}?${String(query)}`)
        const page = await shown.text()
        assert.match(page, /<strong>the &lt;hostile&gt; one<\/strong>/)
        const installed = () =>
          service.ask('GET', '/v1/ext/integrations', undefined, { 'x-api-key': other.key })
        const post = (fields: Record<string, string>, cookie = '') =>
          fetch(callback, {
            method: 'POST',
            headers: { cookie },
            body: new URLSearchParams({ search: String(query), ...fields }),
          })
        const form_token = /name="form_token" value="([^"]*)"/.exec(page)?.[1] ?? ''
        for (const refused of [
          await post({}),
          await post({ form_token }),
          await post({ form_token: 'x' }, cookieOf(shown.headers)),
        ])
          assert.equal(refused.status, 403)
        assert.ok(!JSON.stringify((await installed()).body).includes('acme'))
        assert.equal((await post({ form_token }, cookieOf(shown.headers))).status, 200)
        assert.ok(JSON.stringify((await installed()).body).includes('acme'))
        const begunByGet = await service.ask('GET', '/v1/ext/integrations/github/install')
        assert.equal(begunByGet.status, 404, 'a link on a page elsewhere begins nothing')
        const { body } = await installed()
        const all = z
          .array(
            z.looseObject({
              id: z.string(),
              installations: z.array(z.looseObject({ id: z.string() })),
            }),
          )
          .parse(body.data)
          .flatMap(({ id, installations }) => (id === 'github' ? installations : []))
        for (const { id } of all)
          await service.ask(
            'POST',
            '/v1/ext/integrations/github/uninstall',
            { installation_id: id },
            { 'x-api-key': other.key },
          )
      },
    )

    verifies(
      [
        'integrations/install',
        'integrations/install/callback',
        'integrations/uninstall',
        'integrations/github',
        'integrations/deliveries/app',
        'integrations/deliveries/old',
        'integrations/installations',
        'settings/integrations',
      ],
      'an app is installed, serves the repositories of its publication, and is uninstalled at its provider too',
      async () => {
        const stub = githubStub([{ id: 42, login: 'acme' }])
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        const kinds = '/v1/ext/integrations'
        const state = await beginGithub(service)
        const back = async (from: Parameters<typeof comeBack>[1]) =>
          (await comeBack(service, from)).status
        assert.equal(await back({ id: '43', state }), 400, 'not of the person who came back')
        assert.equal(await back({ state }), 400, 'a state is used once')
        assert.equal(await back({ state: await beginGithub(service), code: 'other' }), 400)
        const me = await service.ask('GET', '/v1/ext/me')
        const invited = await service.invite(String(me.body['active_workspace_id']), 'admin')
        const admin = await accept(service, invited, { email: 'installs@example.com' })
        const { user } = (await admin.ask<{ user: { id: string } }>('GET', '/v1/ext/me')).body
        const begun = await admin.ask<{ url: string }>('POST', `${kinds}/github/install`, {})
        const theirState = new URL(begun.body.url).searchParams.get('state') ?? ''
        const query = new URLSearchParams({
          installation_id: '42',
          code: 'a code',
          state: theirState,
        })
        await service.ask('POST', `/v1/ext/members/${user.id}`, { role: 'member' })
        const late = await admin.ask('GET', `${kinds}/github/callback?${String(query)}`)
        assert.equal(late.status, 403, 'a role that was lost meanwhile installs nothing')
        const installation_id = await installGithub(service)
        const began = await service.ask('GET', '/v1/ext/audit?action=installation.create')
        assert.ok(JSON.stringify(began.body.data).includes(installation_id))
        const other = await service.otherWorkspace('the second')
        const theirs = await beginGithub(service, { 'x-api-key': other.key })
        assert.equal(await back({ state: theirs }), 409, 'it serves one workspace')

        const agent = await service.client.beta.agents.create({
          name: fresh('a'),
          model: 'offline',
        })
        const whole = {
          ...{ agent: agent.id, environment_id: environment, installation_id },
          github: { repositories: ['acme/shop'], authors: ['ada'], labels: ['agent'] },
        }
        const publications = `${kinds}/github/publications`
        const made = await service.ask('POST', publications, whole)
        assert.deepEqual([made.status, made.body['secret']], [200, null])
        for (const wrong of [
          { ...whole, installation_id: 'inst_of_nobody' },
          { ...whole, github: undefined },
          { ...whole, webhook: { mapping: { scope: '', author: '', text: '' }, authors: [] } },
        ])
          assert.ok((await service.ask('POST', publications, wrong)).status >= 400)

        const before = stub.tokens.length
        const send = (payload: object, secret?: string) =>
          deliverGithub(service.base, 'issue_comment', payload, secret)
        const asked = githubComment(7, '@steward please\nsay: Mended by @ada.')
        assert.deepEqual(await Promise.all([send(asked), send(asked)]), [200, 200])
        assert.equal(await send(asked, 'another secret of many characters'), 401)
        assert.equal(await send(githubComment(8, '@steward say: x', { login: 'eve' })), 200)
        assert.equal(await send(githubComment(8, '@steward say: x', { installation: 99 })), 200)
        const old = new Date(Date.now() - 6.1 * 24 * 3600_000).toISOString()
        assert.equal(await send(githubComment(8, '@steward say: x', { at: old })), 200)
        const bodies = () => [...stub.comments.values()].map(({ body }) => body)
        await until(() => bodies().some((body) => body.includes('Mended')))
        assert.equal(stub.comments.size, 1, 'one comment, which is edited')
        assert.ok(bodies()[0]?.startsWith('Mended by @\u200bada.'))
        assert.equal(stub.tokens.length, before, 'a token is kept until it ends')
        const told = service.logged.join('')
        for (const secret of ['client secret of the app', 'ghs_0', 'PRIVATE KEY'])
          assert.ok(!told.includes(secret), secret)
        assert.equal(await send(githubComment(7, '@steward\nsay: Again.', { at: 'later' })), 200)
        await until(() => stub.comments.size === 2 && bodies()[1]?.startsWith('Again.') === true)
        const found = await service.ask<{ data: ListedDelivery[] }>(
          'GET',
          `${publications}/${made.body.id}/deliveries`,
        )
        const states = found.body.data.map(({ state: each }) => each)
        assert.equal(states.sort().join(), 'delivered,delivered,ignored,ignored')

        const ended = await service.ask('POST', `${kinds}/github/uninstall`, { installation_id })
        assert.deepEqual(
          [ended.status, ended.body['status'], ended.body['revoked_at_provider'], stub.ended],
          [200, 'revoked', true, ['42']],
        )
        const lines = await service.ask('GET', '/v1/ext/audit?action=installation.end')
        assert.ok(JSON.stringify(lines.body.data).includes(installation_id))
        const after = await service.ask('GET', `${publications}/${made.body.id}`)
        assert.equal(after.body['status'], 'needs_reauth')
        assert.equal(await send(githubComment(9, '@steward say: x')), 200)
        assert.equal(stub.comments.size, 2)
      },
    )
  })
}
