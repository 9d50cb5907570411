import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, fresh, logOf, newSession, only, result, turn, types } from '../turns.ts'
import { message } from '../turns.ts'
import { verifies } from '../verifies.ts'

const many = Array.from({ length: 8 }, (_, index) => index)

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`races on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const statuses = (answers: { status: number }[]) =>
      answers.map(({ status }) => status).toSorted((a, b) => a - b)

    verifies(
      ['environments/field/name', 'model-cards/field/model-id'],
      'of several requests for one name at once exactly one succeeds, and the others are refused',
      async () => {
        const name = fresh('contested')
        const environments = many.map(() => service.ask('POST', '/v1/environments', { name }))
        const expected = [200, 409, 409, 409, 409, 409, 409, 409]
        assert.deepEqual(statuses(await Promise.all(environments)), expected)
        const card = {
          model_id: name,
          provider: 'nobody',
          model: 'm',
          base_url: 'https://models.example',
          api_key: 'sk-test-0123456789',
          native_config: { api: 'openai-completions' },
        }
        const cards = many.map(() => service.ask('POST', '/v1/ext/model_cards', card))
        assert.deepEqual(statuses(await Promise.all(cards)), expected)
      },
    )

    verifies(
      ['metadata/patch', 'environments/update', 'sessions/update', 'agents/update/unguarded'],
      'updates of different keys at once are all there afterwards',
      async () => {
        const session = await newSession(service)
        const answer = await service.ask('POST', '/v1/environments', { name: fresh('env') })
        const agent = { name: 'n', model: 'offline', tools: [] }
        const made = await service.ask('POST', '/v1/agents', agent)
        const expected = Object.fromEntries(many.map((index) => [`k${index}`, 'v']))
        for (const path of [
          `/v1/sessions/${session}`,
          `/v1/environments/${answer.body.id}`,
          `/v1/agents/${made.body.id}`,
        ]) {
          const updates = many.map((index) =>
            service.ask('POST', path, { metadata: { [`k${index}`]: 'v' } }),
          )
          assert.deepEqual(new Set(statuses(await Promise.all(updates))), new Set([200]), path)
          const { body } = await service.ask('GET', path)
          assert.deepEqual({ ...(body['metadata'] as object) }, expected)
        }
        assert.equal(all(await logOf(service, session), 'session.updated').length, 8)
      },
    )

    verifies(
      ['sessions/delete/last-event', 'sessions/archive/read-only'],
      'nothing is appended behind the end, whatever is posted at the same moment',
      async () => {
        for (let round = 0; round < 4; round++) {
          const session = await newSession(service)
          const path = `/v1/sessions/${session}`
          const posts = many.map(() =>
            service.ask('POST', `${path}/events`, { events: [message('wait: 5\nsay: x')] }),
          )
          const ends = many.slice(0, 3).map(() => service.ask('POST', `${path}/archive`))
          await Promise.all([...posts, ...ends])
          const archived = (await service.ask('GET', path)).body['archived_at'] !== null
          const log = types(await logOf(service, session))
          const ended = log.indexOf('session.status_terminated')
          assert.equal(ended >= 0, archived)
          if (archived) assert.equal(ended, log.length - 1, log.join())
        }
      },
    )

    verifies(
      ['events/post/repeated-result'],
      'one answer is kept when it is posted many times at once',
      async () => {
        const session = await newSession(service, { tools: [custom] })
        const first = await turn(service, session, 'call look_up {}')
        const call = only(first, 'agent.custom_tool_use')
        const path = `/v1/sessions/${session}/events`
        const events = [result(call.id, 'found')]
        const answers = await Promise.all(many.map(() => service.ask('POST', path, { events })))
        assert.deepEqual(new Set(statuses(answers)), new Set([202]))
        assert.equal(all(await logOf(service, session), 'user.custom_tool_result').length, 1)
      },
    )

    it('posts at once keep one order, and each event has its own position', async () => {
      const session = await newSession(service)
      const path = `/v1/sessions/${session}/events`
      await Promise.all(
        many.map((index) => service.ask('POST', path, { events: [message(`say: ${index}`)] })),
      )
      await turn(service, session, 'say: last')
      const log = await logOf(service, session)
      assert.deepEqual(
        log.map(({ seq }) => seq),
        log.map((_, index) => index + 1),
      )
    })
  })
}
