import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { once } from 'node:events'
import { after, before, describe } from 'node:test'
import type { BetaManagedAgentsAgentMessageEvent } from '@anthropic-ai/sdk/resources/beta/sessions/events'
import { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate'
import { openStream, untilIdle } from '../reader.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import { all, logOf, newSession, only, post, say, textOf, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the stream on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const streamOf = (session: string) => `/v1/sessions/${session}/events/stream`
    const idle = (data: { type: string }) => data.type === 'session.status_idle'

    verifies(
      ['stream/frame', 'stream/id-line', 'stream/keep-alive', 'sessions/stream'],
      'headers come at once, and every message has its lines',
      async () => {
        const session = await newSession(service)
        await using reader = await openStream(service, streamOf(session), {
          headers: { accept: 'application/json' },
        })
        const { headers } = reader.response
        assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
        assert.ok(headers.get('request-id'))
        await post(service, session, 'say: x')
        const frames = await reader.until(idle)
        assert.ok(reader.comments.length > 0)
        for (const { event, id, data } of frames) {
          assert.equal(event, 'message')
          const seq = data['seq']
          assert.equal(id, typeof seq === 'number' ? `${seq}` : undefined)
        }
      },
    )

    verifies(
      ['stream/live-only', 'stream/default-union', 'stream/stays-open'],
      'a stream shows what comes after it was opened, turn after turn',
      async () => {
        const session = await newSession(service)
        await turn(service, session, 'say: before')
        await using reader = await openStream(service, streamOf(session))
        await turn(service, session, 'think: hm\nsay: first')
        await turn(service, session, 'say: second')
        // `turn` may return before this reader has received the end of the turn.
        await reader.until((data) => data.type === 'agent.message' && textOf(data) === 'second')
        const seen = reader.frames.map(({ data }) => data)
        assert.deepEqual(all(seen, 'agent.message').map(textOf), ['first', 'second'])
        assert.ok(seen.every(({ type }) => !/_chunk|_stream_|^event_|^system\./.test(type)))
      },
    )

    verifies(
      ['stream/replay', 'stream/last-event-id', 'stream/replay-whole'],
      'a replay goes over into what happens, nothing twice and nothing missing',
      async () => {
        const session = await newSession(service)
        await turn(service, session, 'say: one')
        await using whole = await openStream(service, `${streamOf(session)}?replay=1`)
        await using rest = await openStream(service, streamOf(session), {
          headers: { 'last-event-id': '3' },
        })
        await turn(service, session, 'say: two')
        const kept = (await logOf(service, session)).map(({ id }) => id)
        for (const [reader, expected] of [
          [whole, kept],
          [rest, kept.slice(3)],
        ] as const) {
          await reader.until(({ id }) => id === kept.at(-1))
          const shown = reader.frames.filter(({ data }) => data['seq'] !== null)
          assert.deepEqual(
            shown.map(({ data }) => data.id),
            expected,
          )
        }
        const wrong = { 'last-event-id': 'three' }
        const refused = await service.ask('GET', streamOf(session), undefined, wrong)
        assert.equal(refused.status, 400)
      },
    )

    verifies(
      [
        'stream/include-chunks',
        'events/ext/message-chunks',
        'events/ext/thinking-chunks',
        'events/ext/tool-input-chunks',
        'events/ext/model-first-token',
        'events/ext/canonical-id',
        'events/ext/prefix',
        'events/ext/not-kept',
      ],
      'chunks carry the id of the event they lead to, and join to its text',
      async () => {
        const tools = [{ type: 'agent_toolset_20260401' }]
        const session = await newSession(service, { tools })
        await using reader = await openStream(service, `${streamOf(session)}?include=chunks`)
        await post(
          service,
          session,
          'think: let me see\nsay: one two three\ncall read {"file_path": "x"}',
        )
        const seen = (await reader.until(idle)).map(({ data }) => data)
        const joined = (family: string, name: string, id: string) =>
          all(seen, `${family}_chunk`)
            .filter((chunk) => chunk[name] === id)
            .map((chunk) => String(chunk['delta']))
            .join('')
        const thinking = only(seen, 'agent.thinking')
        assert.equal(joined('agent.thinking', 'thinking_id', thinking.id), thinking['thinking'])
        for (const message of all(seen, 'agent.message')) {
          assert.equal(joined('agent.message', 'message_id', message.id), textOf(message))
        }
        const use = only(seen, 'agent.tool_use')
        const input = joined('agent.tool_use_input', 'tool_use_id', use.id)
        assert.deepEqual(JSON.parse(input), use['input'])
        for (const family of ['agent.thinking', 'agent.message', 'agent.tool_use_input']) {
          const starts = all(seen, `${family}_stream_start`).length
          assert.equal(all(seen, `${family}_stream_end`).length, starts)
          assert.ok(starts > 0)
        }
        assert.ok(all(seen, 'span.model_first_token').length > 0)
        const log = await logOf(service, session)
        assert.ok(log.every(({ type }) => !/_chunk|_stream_|first_token/.test(type)))
      },
    )

    verifies(
      [
        'stream/event-deltas',
        'stream/event-deltas/order',
        'events/ext/previews',
        'versions/official-client',
      ],
      "the official client's accumulator folds previews to the message",
      async () => {
        const session = await newSession(service)
        const { events } = service.client.beta.sessions
        const stream = await events.stream(session, {
          event_deltas: ['agent.message', 'agent.thinking'],
        })
        await post(service, session, 'think: hm\nsay: one two three four')
        let folded: BetaManagedAgentsAgentMessageEvent | undefined
        let previewed = ''
        let deltas = 0
        const starts: string[] = []
        for await (const event of stream) {
          if (event.type === 'event_start') starts.push(event.event.type)
          if (event.type === 'event_delta') deltas += 1
          if (event.type === 'agent.message') {
            previewed =
              folded?.content.map((block) => ('text' in block ? block.text : '')).join('') ?? ''
            assert.equal(folded?.id, event.id)
          }
          folded = accumulateManagedAgentsEvent(folded, event)
          if (event.type === 'session.status_idle') break
        }
        assert.deepEqual(starts, ['agent.thinking', 'agent.message'])
        assert.ok(deltas > 0)
        assert.equal(previewed, 'one two three four')
      },
    )

    verifies(
      [
        'events/ext/message-pending',
        'events/ext/message-queued-form',
        'events/ext/message-promoted',
        'events/ext/pending-settled',
        'turns/promoted-once',
      ],
      'a waiting message is shown as waiting, and later at its position in the log',
      async () => {
        const session = await newSession(service)
        await using reader = await openStream(service, `${streamOf(session)}?include=chunks`)
        await using plain = await openStream(service, streamOf(session))
        const { data } = (await post(service, session, 'say: x')) as { data: { id: string }[] }
        const id = data[0]?.id
        const seen = (await reader.until(idle)).map((frame) => frame.data)
        const about = seen.filter((each) => each.id === id || each['message_id'] === id)
        assert.deepEqual(
          about.map((each) => [each.type, Boolean(each['processed_at'])]),
          [
            ['user.message', false],
            ['system.user_message_pending', false],
            ['system.user_message_promoted', false],
            ['user.message', true],
          ],
        )
        const shown = (await plain.until(idle)).filter((frame) => frame.data.id === id)
        assert.deepEqual(
          shown.map((frame) => frame.data['processed_at'] === null),
          [true, false],
        )
        assert.equal(all(await say(service, session), 'user.message').length, 1)
      },
    )

    verifies(
      'events/page/negotiates',
      'the page becomes a stream for those who accept one',
      async () => {
        const session = await newSession(service)
        await turn(service, session, 'say: x')
        const headers = { accept: 'text/event-stream' }
        const path = `/v1/sessions/${session}/events`
        await using reader = await openStream(service, `${path}?replay=1`, { headers })
        const all = await reader.until(idle)
        const numbers = (frames: typeof all) => frames.map(({ id }) => Number(id))
        const [, second = 0, third = 0] = numbers(all)
        await using later = await openStream(service, `${path}?after_seq=${second}`, { headers })
        assert.deepEqual(numbers(await later.until(idle)), numbers(all).slice(2))
        const again = { ...headers, 'last-event-id': String(third) }
        const query = `?replay=1&after_seq=${second}`
        await using last = await openStream(service, path + query, { headers: again })
        assert.deepEqual(numbers(await last.until(idle)), numbers(all).slice(3))
      },
    )

    verifies(
      ['threads/list', 'threads/get', 'threads/events', 'threads/stream'],
      'the primary thread is another name for the session and its log',
      async () => {
        const session = await newSession(service)
        const { threads } = service.client.beta.sessions
        const found = []
        for await (const thread of threads.list(session)) found.push(thread)
        const [thread] = found
        assert.ok(thread)
        assert.deepEqual(
          [found.length, thread.parent_thread_id, thread.session_id, thread.status],
          [1, null, session, 'idle'],
        )
        const get = await threads.retrieve(thread.id, { session_id: session })
        assert.equal(get.id, thread.id)
        assert.deepEqual([get.stats, get.usage], [null, null])
        const withStatus = async (...statuses: 'idle'[]) =>
          (await threads.list(session, { statuses })).data.map(({ id }) => id)
        assert.deepEqual(await withStatus('idle'), [thread.id])
        const path = `/v1/sessions/${session}/threads?statuses[]=`
        assert.deepEqual((await service.ask('GET', `${path}running`)).body.data, [])
        assert.equal((await service.ask('GET', `${path}unheard`)).status, 400)
        const stream = await threads.events.stream(thread.id, { session_id: session })
        await post(service, session, 'say: threaded')
        for await (const event of stream) if (event.type === 'session.status_idle') break
        const listed = []
        for await (const event of threads.events.list(thread.id, { session_id: session }))
          listed.push(event)
        assert.deepEqual(types(listed), types(await say(service, session)))
        const { stats, usage } = await threads.retrieve(thread.id, { session_id: session })
        assert.ok((usage?.output_tokens ?? 0) > 0)
        assert.equal(typeof stats?.active_seconds, 'number')
        const other = `/v1/sessions/${session}/threads/sthr_nowhere`
        assert.equal((await service.ask('GET', other)).status, 404)
      },
    )

    verifies(
      'stream/slow-reader',
      'a reader that does not read delays nobody and misses no kept event',
      async () => {
        const session = await newSession(service)
        const { hostname, port } = new URL(service.base)
        const slow = connect(Number(port), hostname)
        await once(slow, 'connect')
        slow.pause()
        const path = `${streamOf(session)}?include=chunks`
        slow.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${adminKey}\r\n\r\n`)
        const long = 'word '.repeat(20_000)
        for (let round = 0; round < 5; round++) await post(service, session, `say: ${long}${round}`)
        const seen = await untilIdle(service, session)
        const kept = (await logOf(service, session)).map(({ id }) => id)
        assert.ok(seen.length > 0)
        let text = ''
        slow.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        slow.resume()
        while (!kept.every((id) => text.includes(`"id":"${id}"`))) await once(slow, 'data')
        slow.destroy()
      },
    )
  })
}
