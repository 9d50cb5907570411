import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { z } from 'zod'
import type { Receiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { Service } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { deliverSlack, slackMessage, slackPress, slackSettings, slackStub } from '../slack.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

/** Tools that ask before each call. */
const asking = [
  {
    type: 'agent_toolset_20260401' as const,
    default_config: { permission_policy: { type: 'always_ask' as const } },
  },
]
const kinds = '/v1/ext/integrations'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`integrations of chats on ${database}`, () => {
    let service: Service
    let receiver: Receiver
    let environment: string
    before(async () => {
      receiver = await startReceiver()
      service = await boot(database, { env: slackSettings(receiver.base) })
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    verifies(
      ['integrations/slack', 'integrations/kinds'],
      'people of a chat ask, allow by a button and are answered in their thread',
      async () => {
        const stub = slackStub()
        receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
        const { body: begun } = await service.ask('GET', `${kinds}/slack/install`)
        const state = new URL(String(begun['url'])).searchParams.get('state') ?? ''
        const query = String(new URLSearchParams({ code: 'a code', state }))
        const installed = await service.ask('GET', `${kinds}/slack/callback?${query}`)
        assert.deepEqual([installed.status, installed.body['workspace_name']], [200, 'Acme'])
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: asking,
        })
        const { status } = await service.ask('POST', `${kinds}/slack/publications`, {
          ...{ agent: agent.id, environment_id: environment, installation_id: installed.body.id },
          slack: { channels: [], authors: ['UADA'] },
        })
        assert.equal(status, 200)

        const challenge = { type: 'url_verification', challenge: 'abc' }
        const key = { secret: 'x'.repeat(30) }
        assert.equal((await deliverSlack(service, challenge, key)).status, 401)
        const answer = await (await deliverSlack(service, challenge)).json()
        assert.deepEqual(answer, { challenge: 'abc' })

        const asked = slackMessage('run: echo hello &amp;&amp; true', '7.1')
        const all = await Promise.all(Array.from({ length: 5 }, () => deliverSlack(service, asked)))
        assert.ok(all.every((each) => each.status === 200))
        await deliverSlack(service, slackMessage('say: no', '7.2', undefined, 'UEVE'))
        await until(() => stub.messages.length === 1)
        const [question] = stub.messages
        assert.equal(`${question?.channel} ${question?.thread_ts}`, 'D1 7.1')
        assert.ok(question?.text?.includes('echo hello &amp;&amp; true'))
        const actions = z
          .object({ elements: z.array(z.object({ action_id: z.string(), value: z.string() })) })
          .parse(question?.blocks?.at(-1))
        const press = slackPress(actions.elements[0] ?? {}, '7.1')
        assert.equal((await deliverSlack(service, press, { isForm: true })).status, 200)
        await until(() => stub.messages.length === 2)
        assert.ok(stub.messages[1]?.markdown_text?.includes('hello') && stub.statuses.length === 1)
        assert.ok(!service.logged.join('').includes('xoxb-token'))

        const end = { ...asked, event: { type: 'app_uninstalled' } }
        assert.equal((await deliverSlack(service, end)).status, 200)
        const after = await service.ask('POST', `${kinds}/slack/uninstall`, {
          installation_id: installed.body.id,
        })
        assert.deepEqual([after.body['status'], stub.isEnded()], ['revoked', false])
      },
    )
  })
}
