import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { pricedModel, says as saysAtCost } from '../priced-model.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { logOf, newSession, post } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`waiting messages on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    const says = (text: string) => saysAtCost(text, { input: 10, output: 10 })
    const at = (session: string, message = '') =>
      `/v1/ext/sessions/${session}/waiting_messages${message && `/${message}`}`
    const waiting = async (session: string) =>
      (await service.ask('GET', at(session))).body.data.map(({ id, content }) => ({ id, content }))

    /** A session whose turn waits for its model until `go`, and whose first message was taken. */
    async function held() {
      const model = await pricedModel(service, stub, { input: 1, output: 1 })
      const session = await newSession(service, { model })
      const asked = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      stub.replies({
        answer: says('one'),
        hold: () => {
          asked.resolve()
          return gate.promise
        },
      })
      await post(service, session, 'first')
      await asked.promise
      return { session, go: gate.resolve }
    }

    verifies(
      [
        'events/waiting',
        'events/waiting/changed',
        'events/waiting/removed',
        'events/waiting/already-read',
        'events/waiting/told',
        'events/ext/message-changed',
      ],
      'they are changed and removed until a turn takes them',
      async () => {
        const { session, go } = await held()
        await service.client.beta.sessions.events.send(session, {
          events: [
            { type: 'user.message', content: [{ type: 'text', text: 'second' }] },
            { type: 'system.message', content: [{ type: 'text', text: 'in haste' }] },
          ],
        })
        await post(service, session, 'third')
        const [second, third] = await waiting(session)
        assert.ok(second && third)
        assert.deepEqual(third.content, [{ type: 'text', text: 'third' }])
        assert.equal((await service.ask('DELETE', at(session, second.id))).body['state'], 'removed')
        assert.equal((await service.ask('DELETE', at(session, second.id))).status, 404)
        const { body } = await service.ask('POST', at(session, third.id), {
          content: 'other words',
        })
        assert.deepEqual(
          { ...body },
          { id: third.id, type: 'waiting_message_change', state: 'changed' },
        )
        assert.deepEqual(await waiting(session), [
          { id: third.id, content: [{ type: 'text', text: 'other words' }] },
        ])
        const first = (await logOf(service, session)).find(({ type }) => type === 'user.message')
        const late = await service.ask('POST', at(session, String(first?.id)), { content: 'x' })
        assert.equal(late.body['state'], 'already_read')
        const neighbour = await service.otherWorkspace('neighbour')
        const foreign = await service.raw('DELETE', at(session, third.id), undefined, {
          'x-api-key': neighbour.key,
        })
        assert.equal(foreign.status, 404)
        stub.replies(says('two'))
        await using stream = await openStream(service, `/v1/sessions/${session}/events/stream`)
        go()
        await stream.until(
          ({ type, content }) =>
            type === 'agent.message' && JSON.stringify(content).includes('two'),
        )
        const log = await logOf(service, session)
        const texts = JSON.stringify(log.filter(({ type }) => type.endsWith('message')))
        assert.ok(texts.includes('other words'))
        for (const gone of ['second', 'in haste', 'third']) assert.ok(!texts.includes(gone), gone)
        const asked = JSON.stringify(stub.requests.at(-1)?.body)
        assert.ok(asked.includes('other words') && !asked.includes('third'))
        const cancelled = log.find(({ type }) => type === 'system.user_message_cancelled')
        assert.deepEqual([cancelled?.['message_id'], cancelled?.['reason']], [second.id, 'removed'])
        const changed = log.find(({ type }) => type === 'system.user_message_changed')
        assert.equal(changed?.['message_id'], third.id)
        assert.deepEqual(await waiting(session), [])
      },
    )

    verifies(
      ['events/waiting/removed', 'turns/idle-last'],
      'a message that waits behind a call that asks is removed, and the idle event stays the last',
      async () => {
        const model = await pricedModel(service, stub, { input: 1, output: 1 })
        const ask = {
          type: 'agent_toolset_20260401',
          default_config: { permission_policy: { type: 'always_ask' } },
        } as const
        const session = await newSession(service, { model, tools: [ask] })
        stub.replies({
          blocks: [{ type: 'tool_call', id: 'a', name: 'bash', pieces: ['{"command":"ls"}'] }],
          stop: 'tool_use',
          usage: { input: 1, output: 1 },
        })
        await using stream = await openStream(service, `/v1/sessions/${session}/events/stream`)
        await post(service, session, 'go')
        await stream.untilType('session.status_idle')
        await post(service, session, 'behind')
        const [behind] = await waiting(session)
        await service.ask('DELETE', at(session, behind?.id ?? ''))
        assert.deepEqual(await waiting(session), [])
        const log = await logOf(service, session)
        assert.equal(log.at(-1)?.type, 'session.status_idle')
        assert.ok(log.some(({ type }) => type === 'system.user_message_cancelled'))
      },
    )
  })
}
