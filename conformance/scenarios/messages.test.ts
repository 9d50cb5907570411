import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { startHeldModel } from '../held-model.ts'
import { openStream, untilIdle } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, newSession, only, post, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`one message, one stream on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const say = (session: string, content: unknown) =>
      openStream(service, `/v1/sessions/${session}/messages`, { body: { content } })

    verifies(
      ['sessions/messages', 'messages/content', 'messages/chunks', 'messages/ends-at-idle'],
      'the answer streams the turn with its chunks, and ends with its idle',
      async () => {
        const session = await newSession(service)
        for (const content of [
          'say: hello there',
          [
            { type: 'text', text: 'say: hello there' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
          ],
        ]) {
          await using reader = await say(session, content)
          assert.match(reader.response.headers.get('content-type') ?? '', /^text\/event-stream/)
          await reader.ended
          const seen = reader.frames.map(({ data }) => data)
          assert.equal(seen.at(-1)?.type, 'session.status_idle')
          const chunks = all(seen, 'agent.message_chunk').map(({ delta }) => delta)
          assert.equal(chunks.join(''), textOf(only(seen, 'agent.message')))
        }
        for (const content of ['', [], 7, [{ type: 'text' }]]) {
          const path = `/v1/sessions/${session}/messages`
          assert.equal((await service.ask('POST', path, { content })).status, 400)
        }
      },
    )

    verifies(
      'messages/own-turn',
      'posted during another turn, it ends with the idle of its own',
      async () => {
        await using held = await startHeldModel(service, 'first', 'second')
        const session = await newSession(service, { model: held.model })
        await post(service, session, 'one')
        await held.asked
        await using reader = await say(session, 'two')
        held.release()
        await reader.ended
        const seen = reader.frames.map(({ data }) => data)
        assert.deepEqual(all(seen, 'agent.message').map(textOf), ['first', 'second'])
        assert.equal(all(seen, 'session.status_idle').length, 2)
        assert.equal(seen.at(-1)?.type, 'session.status_idle')
      },
    )

    verifies(
      'messages/ends-with-session',
      'it ends when the session is terminated, deleted, or the message cancelled',
      async () => {
        for (const end of ['archive', 'delete', 'interrupt'] as const) {
          const session = await newSession(service, { tools: [custom] })
          await turn(service, session, 'call look_up {}')
          await using reader = await say(session, 'say: waits for the answer')
          const { sessions } = service.client.beta
          if (end === 'archive') await sessions.archive(session)
          else if (end === 'delete') await sessions.delete(session)
          else await post(service, session, { type: 'user.interrupt' })
          await reader.ended
          if (end === 'interrupt') await untilIdle(service, session, 2)
        }
      },
    )
  })
}
