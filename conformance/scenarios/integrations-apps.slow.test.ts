import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import { LinearClient } from '@linear/sdk'
import { WebClient } from '@slack/web-api'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import type { IntegrationsProcess } from '../integrations-process.ts'
import { internalSecret, startIntegrations } from '../integrations-process.ts'
import type { PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import {
  deliverGithub,
  githubComment,
  githubSettings,
  githubStub,
  installGithub,
  returnFrom,
} from '../github.ts'
import { boot, clientsOf, scenarioDatabases } from '../service.ts'
import { deliverLinear, linearEvent, linearSettings, linearStub } from '../linear.ts'
import { deliverSlack, slackMessage, slackPress, slackSettings, slackStub } from '../slack.ts'
import { asking, fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const kinds = '/v1/ext/integrations'
const closedBody = JSON.stringify({ ok: false, error: 'message_not_in_streaming_state' })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`integrations by apps on ${database}`, () => {
    let service: TestService
    let front: IntegrationsProcess
    let receiver: PostReceiver
    let environment: string
    const sockets = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    const slack = () => {
      const { port } = sockets.address() as AddressInfo
      return slackStub(`ws://127.0.0.1:${port}`)
    }
    before(async () => {
      receiver = await startReceiver()
      const atStart = slack()
      receiver.answerWith((posted) => atStart.answer(posted) ?? { status: 200 })
      service = await boot(database, {
        env: {
          ...internalSecret,
          ...slackSettings(receiver.base),
          ...linearSettings(receiver.base),
          ...githubSettings(receiver.base),
        },
      })
      front = await startIntegrations(service.base, {
        ...internalSecret,
        ...slackSettings(receiver.base),
        ...linearSettings(receiver.base),
        ...githubSettings(receiver.base),
      })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
    })
    after(async () => {
      await front.close()
      await service.close()
      await receiver.close()
      sockets.close()
    })

    /** Retries at once: waits until all deliveries are in their sessions, then pauses and resumes the publication. */
    async function retry(publication: string): Promise<void> {
      await until(() => allGiven(publication))
      await service.ask('POST', `${publication}/pause`)
      await service.ask('POST', `${publication}/unpause`)
    }

    /** Installs an app as a person does, who returns from the provider with a code. */
    async function install(app: string) {
      const { body: begun } = await service.ask('POST', `${kinds}/${app}/install`, {})
      const state = new URL(String(begun['url'])).searchParams.get('state') ?? ''
      const query = new URLSearchParams({ code: 'a code', state })
      const { status, body } = await returnFrom(front, app, query)
      assert.deepEqual([status, body['workspace_name']], [200, 'Acme'])
      return { installation: body.id, publish: publishing(app, body.id) }
    }

    function publishing(app: string, installation: string) {
      return async (source: object): Promise<string> => {
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: asking,
        })
        const made = await service.ask('POST', `${kinds}/${app}/publications`, {
          ...{ agent: agent.id, environment_id: environment, installation_id: installation },
          ...source,
        })
        assert.equal(made.status, 200)
        return made.body.id
      }
    }

    async function allGiven(publication: string): Promise<boolean> {
      const { body } = await service.ask('GET', `${publication}/deliveries`)
      return body.data.every((each) => each['state'] !== 'waiting')
    }

    verifies(
      ['integrations/slack', 'integrations/slack/streams', 'settings/integrations-secret'],
      'people of a chat ask, allow by a button and are answered in their thread',
      async () => {
        const stub = slack()
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        const { installation, publish } = await install('slack')
        const publication = await publish({ slack: { channels: [], authors: ['UADA'] } })

        const challenge = { type: 'url_verification', challenge: 'abc' }
        assert.equal((await deliverSlack(service, challenge)).status, 401, 'not through the front')
        const key = { secret: 'x'.repeat(30) }
        assert.equal((await deliverSlack(front, challenge, key)).status, 401)
        const answer = await (await deliverSlack(front, challenge)).json()
        assert.deepEqual(answer, { challenge: 'abc' })

        const asked = slackMessage('run: echo hello &amp;&amp; true', '7.1')
        const all = await Promise.all(Array.from({ length: 5 }, () => deliverSlack(front, asked)))
        assert.ok(all.every((each) => each.status === 200))
        await deliverSlack(front, slackMessage('say: no', '7.2', undefined, 'UEVE'))
        await until(() => stub.messages.length === 1)
        const [question] = stub.messages
        assert.equal(`${question?.channel} ${question?.thread_ts}`, 'D1 7.1')
        assert.ok(question?.text?.includes('echo hello &amp;&amp; true'))
        const actions = z
          .object({ elements: z.array(z.object({ action_id: z.string(), value: z.string() })) })
          .parse(question?.blocks?.at(-1))
        const press = slackPress(actions.elements[0] ?? {}, question)
        assert.equal((await deliverSlack(front, press, { isForm: true })).status, 200)
        await until(() => stub.messages.length === 2)
        assert.ok(stub.messages[1]?.markdown_text?.includes('hello') && stub.statuses.length > 0)
        assert.ok(!service.logged.join('').includes('xoxb-token'))

        const client = new WebClient('xoxb-token', { slackApiUrl: `${receiver.base}/slack/api/` })
        const thread = { channel: 'D1', thread_ts: '7.1' }
        const metadata = { event_type: 'steward', event_payload: { id: 'sevt_1' } }
        await client.chat.postMessage({ ...thread, markdown_text: 'By the client.', metadata })
        const shown = stub.statuses.length
        await client.assistant.threads.setStatus({ channel_id: 'D1', thread_ts: '7.1', status: '' })
        const sent = [stub.messages.at(-1)?.markdown_text, stub.statuses.length - shown]
        assert.deepEqual(sent, ['By the client.', 1], 'the stub takes what is right')

        const [socket] = sockets.clients
        assert.ok(socket)
        const acknowledged = once(socket, 'message')
        const heard = slackMessage('say: By the socket.', '8.1')
        socket.send(JSON.stringify({ type: 'events_api', envelope_id: 'one', payload: heard }))
        assert.equal(String((await acknowledged)[0]), '{"envelope_id":"one"}')
        await until(() => stub.messages.at(-1)?.markdown_text === 'By the socket.')
        assert.ok(!service.logged.join('').includes('xapp-token'))

        // Slack accepts the telling, but the service does not get Slack's answer before the next message comes.
        let isLost = false
        receiver.answerWith((posted) => {
          const answered = stub.answer(posted) ?? { status: 200 }
          if (isLost || !posted.body.includes('Taken once.')) return answered
          isLost = true
          return null
        })
        await deliverSlack(front, slackMessage('say: Taken once.', '0.1'))
        await until(() => isLost)
        await deliverSlack(front, slackMessage('say: The next.', '99.1', '0.1'))
        const path = `${kinds}/slack/publications/${publication}`
        await until(() => allGiven(path))
        await until(async () => {
          await retry(path)
          return stub.messages.at(-1)?.markdown_text === 'The next.'
        })
        const both = stub.messages.slice(-2).map(({ markdown_text }) => markdown_text)
        assert.deepEqual(both, ['Taken once.', 'The next.'])
        const texts = stub.messages.map(({ markdown_text }) => markdown_text)
        assert.equal(texts.filter((text) => text === 'Taken once.').length, 1)

        // An agent that asks no questions speaks during its turn, in one message that grows.
        const quick = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: [{ type: 'agent_toolset_20260401' }],
        })
        await service.ask('DELETE', path)
        const quickPath = `${kinds}/slack/publications/${await publish({
          ...{ agent: quick.id, slack: { channels: [], authors: ['UADA'] } },
        })}`
        const inThread = (ts: string) => stub.messages.filter(({ thread_ts }) => thread_ts === ts)
        const steps = 'say: First.\nrun: true\nsay: Then.\nrun: true\nsay: Last.'
        await deliverSlack(front, slackMessage(steps, '30.1'))
        await until(() => inThread('30.1')[0]?.isStream === false)
        assert.ok(
          inThread('30.1')[0]?.markdown_text?.startsWith('First.\n\nThen.\n\nLast.\n\nDone.'),
        )
        // Slack accepts a text, and its answer is lost. Later Slack closes the message by itself.
        isLost = false
        receiver.answerWith((posted) => {
          if (posted.path.endsWith('stopStream')) return { status: 200, body: closedBody }
          const answered = stub.answer(posted) ?? { status: 200 }
          if (isLost || !posted.body.includes('Then.')) return answered
          isLost = true
          return null
        })
        await deliverSlack(front, slackMessage(steps, '31.1'))
        await until(async () => {
          await retry(quickPath)
          return inThread('31.1').length === 2
        })
        const [grown, anew] = inThread('31.1').map(({ markdown_text }) => markdown_text)
        assert.equal(grown, 'First.\n\nThen.\n\nLast.')
        assert.match(anew ?? '', /^Done\./)

        const end = (event_time: number) => ({
          ...{ ...asked, event_id: `Ev${event_time}`, event_time },
          event: { type: 'app_uninstalled' },
        })
        const shownKind = async () => {
          const { body } = await service.ask('GET', kinds)
          return JSON.stringify(body.data.find(({ id }) => id === 'slack'))
        }
        await deliverSlack(front, end(1))
        assert.ok(
          (await shownKind()).includes('"status":"active"'),
          'it is of an older installation',
        )
        await deliverSlack(front, end(Date.now() / 1000))
        assert.ok((await shownKind()).includes('"status":"revoked"'))
        const after = await service.ask('POST', `${kinds}/slack/uninstall`, {
          installation_id: installation,
        })
        assert.deepEqual([after.body['status'], stub.isEnded()], ['revoked', false])
      },
    )

    verifies(
      [
        'integrations/linear',
        'integrations/linear/plans',
        'integrations/linear/links',
        'integrations/linear/started',
      ],
      'an issue is delegated, a call is allowed there, and the session of the issue says what was done',
      async () => {
        const stub = linearStub()
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        const { installation, publish } = await install('linear')
        const publication = await publish({
          linear: { teams: ['ENG'], authors: ['ada@acme.example'] },
        })
        const eve = { id: 'user-eve', email: 'eve@acme.example', name: 'Eve', url: '' }
        assert.equal(await deliverLinear(front, linearEvent('s0', undefined, eve)), 200)
        assert.equal(await deliverLinear(front, linearEvent('s0'), 'lin_wh_another secret'), 401)
        // Each repetition has its own body.
        const again = Array.from({ length: 10 }, () => deliverLinear(front, linearEvent('s1')))
        assert.deepEqual(new Set(await Promise.all(again)), new Set([200]))
        const of = (session: string) =>
          stub.activities.filter(({ agentSessionId }) => agentSessionId === session)
        const typesOf = (session: string) => of(session).map(({ content }) => content.type)
        await until(() => of('s1').at(-1)?.signal === 'select')
        assert.equal(typesOf('s1')[0], 'thought')
        const { signalMetadata } = of('s1').at(-1) ?? {}
        const [allow = '', deny = ''] = signalMetadata?.options.map(({ value }) => value) ?? []
        assert.match(`${allow}, ${deny}`, /^allow (\w{6}), deny \1$/)
        await deliverLinear(front, linearEvent('s1', { id: 'p1', body: allow }))
        await until(() => typesOf('s1').includes('response'))
        const done = of('s1').map(({ content }) => content)
        assert.ok(done.some((each) => 'result' in each && each.result?.includes('mended') === true))
        assert.equal(stub.renewals(), 1, 'a token that ends is renewed once')

        await Promise.all(['s2', 's3', 's4'].map((each) => deliverLinear(front, linearEvent(each))))
        await until(() => ['s2', 's3', 's4'].every((each) => typesOf(each).includes('elicitation')))
        await deliverLinear(front, linearEvent('s2', { id: 'p2', body: '', signal: 'stop' }))
        const path = `${kinds}/linear/publications/${publication}`
        await until(() => allGiven(path))
        assert.deepEqual(
          typesOf('s0'),
          ['error'],
          'a stranger hears once that nobody works for them',
        )

        // Linear accepts the activity, and its answer is lost.
        let isLost = false
        receiver.answerWith((posted) => {
          const answered = stub.answer(posted) ?? { status: 200 }
          if (isLost || !posted.body.includes('"type":"response"')) return answered
          isLost = true
          return null
        })
        await deliverLinear(front, linearEvent('s3', { id: 'p3', body: 'deny' }))
        await until(() => isLost)
        const body = 'say: <<E\n- [x] Look\n1. [ ] Mend\nhttps://github.com/a/b/pull/7\nE'
        await deliverLinear(front, linearEvent('s3', { id: 'p4', body }))
        await until(() => allGiven(path))
        await until(async () => {
          await retry(path)
          return typesOf('s3').filter((type) => type === 'response').length === 2
        })
        const ids = of('s3').map(({ id }) => id)
        assert.equal(new Set(ids).size, ids.length, 'what was taken is found, and not sent again')
        assert.deepEqual(stub.beside('s3'), ['Look: completed', 'Mend: pending', 'a/b#7'])
        assert.deepEqual(stub.beside('issue-7'), ['in progress'])
        const apiUrl = `${receiver.base}/linear/api/graphql`
        const client = new LinearClient({ accessToken: 'lin_access_2', apiUrl })
        const content = { type: 'response', body: 'By the official client.' }
        const input = { id: randomUUID(), agentSessionId: 's9', content }
        assert.ok((await client.createAgentActivity(input)).success, 'the stub takes what is right')
        const end = await service.ask('POST', `${kinds}/linear/uninstall`, {
          installation_id: installation,
        })
        assert.deepEqual([end.body['status'], end.body['revoked_at_provider']], ['revoked', true])
        assert.deepEqual(stub.ended, ['lin_refresh_2'])
        assert.ok(!service.logged.join('').includes('lin_'))
      },
    )

    // This test is the last one, because it stops all tellings on GitHub for an hour.
    verifies(
      ['integrations/answers/held', 'integrations/reauth'],
      'a provider that limits an installation gets no call from any of its threads, until the time that it names',
      async () => {
        const stub = githubStub([{ id: 42, login: 'acme' }])
        const limits = { 'x-ratelimit-remaining': '0' }
        const reset = { 'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 3_600) }
        let refused = 0
        receiver.answerWith((posted) => {
          if (!posted.path.includes('/comments')) return stub.answer(posted) ?? { status: 200 }
          refused++
          return { status: 403, headers: { ...limits, ...reset } }
        })
        const installation = await installGithub(service, clientsOf(front.base))
        const publication = await publishing(
          'github',
          installation,
        )({
          github: { repositories: ['acme/shop'], authors: ['ada'] },
        })
        const held = async (scope: string): Promise<boolean> => {
          const rows = service.tenantDatabase.read
            .selectFrom('integration_threads')
            .where('publication_id', '=', publication)
            .where('scope', '=', scope)
          const row = await rows.select('due_ms').executeTakeFirst()
          return Number(row?.due_ms) > Date.now() + 3_000_000
        }
        for (const number of [20, 21]) {
          await deliverGithub(front.base, 'issue_comment', githubComment(number, '@steward hello'))
          await until(() => held(`acme/shop#${number}`))
        }
        assert.equal(refused, 1)
        const { body } = await service.ask('GET', `${kinds}/github/publications/${publication}`)
        assert.equal(body['status'], 'live')
      },
    )
  })
}
