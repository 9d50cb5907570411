/** Messages and results of many megabytes: the service accepts some and refuses others by name. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, newSession, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const most = 4_194_304
const text = (length: number) => ({ type: 'text', text: 'x'.repeat(length) })
const message = (...content: object[]) => ({ type: 'user.message', content })

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`large messages, on ${database}`, () => {
    let service: TestService
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())

    async function refusal(path: string, body: object): Promise<string> {
      const { status, body: answer } = await service.ask<{ error: { message: string } }>(
        'POST',
        path,
        body,
      )
      assert.equal(status, 400, JSON.stringify(answer).slice(0, 300))
      const { error } = answer
      assert.ok(error.message.length < 500)
      return error.message
    }

    verifies('events/post/text', 'are refused by their name, and stored nowhere', async () => {
      const session = await newSession(service)
      const events = `/v1/sessions/${session}/events`
      const why = /more than 4194304 characters of text in one request: upload long text as a file/
      const plain = { type: 'text', media_type: 'text/plain', data: 'x'.repeat(most) }
      const cases: [RegExp, object][] = [
        [/^events\.0\.content: /, { events: [message(text(most), text(1))] }],
        [/^events\.1\.content: /, { events: [message(text(most)), message(text(1))] }],
        [
          /^events\.0\.content: /,
          { events: [message({ type: 'document', source: plain, title: 'x' })] },
        ],
        [
          /^events\.0\.content: /,
          {
            events: [
              {
                ...{ type: 'user.custom_tool_result', custom_tool_use_id: 'sevt_none' },
                content: [text(most + 1)],
              },
            ],
          },
        ],
      ]
      for (const [where, body] of cases) {
        const said = await refusal(events, body)
        assert.match(said, where)
        assert.match(said, why)
      }
      assert.match(
        await refusal(`/v1/sessions/${session}/messages`, { content: 'x'.repeat(most + 1) }),
        /^content: more than 4194304/,
      )
      const made = await service.ask<{ agent: { id: string }; environment_id: string }>(
        'GET',
        `/v1/sessions/${session}`,
      )
      const { agent, environment_id } = made.body
      const first = { agent: agent.id, environment_id, initial_events: [message(text(most + 1))] }
      assert.match(await refusal('/v1/sessions', first), /^initial_events\.0\.content: more than/)
      const log = await service.ask('GET', `/v1/sessions/${session}/log`)
      assert.deepEqual(log.body, [])
    })

    verifies('events/post/text', 'of just so many characters are taken', async () => {
      const session = await newSession(service)
      const whole = `say: hello ${'"'.repeat(most - 11)}`
      const events = await turn(service, session, whole)
      const [kept] = all(events, 'user.message')
      assert.deepEqual(kept?.content, [{ type: 'text', text: whole }])
    })

    verifies('events/post/text', 'may have an image of many megabytes beside them', async () => {
      const session = await newSession(service)
      const data = Buffer.alloc(15 * 1024 * 1024, 7).toString('base64')
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
      const posted = await service.ask('POST', `/v1/sessions/${session}/events`, {
        events: [message(image, text(10))],
      })
      assert.equal(posted.status, 202)
    })

    verifies('events/post/waiting', 'that wait have a bound for each session', async () => {
      const session = await newSession(service)
      const post = (events: object[]) =>
        service.ask('POST', `/v1/sessions/${session}/events`, { events })
      assert.equal((await post([message({ type: 'text', text: 'wait: 600000' })])).status, 202)
      const data = Buffer.alloc(20 * 1024 * 1024, 7).toString('base64')
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
      let answer = await post([message(image)])
      for (let posted = 1; posted < 3; posted++) answer = await post([message(image)])
      assert.equal(answer.status, 429)
      assert.match(JSON.stringify(answer.body), /no room for more messages/)
      assert.equal((await post([{ type: 'user.interrupt' }])).status, 202)
    })
  })
}
