/** Events without their long texts, and searches in the log of a session. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { FoundEvent } from '@steward/protocol/found-events.ts'
import type { Cut, EventStep } from '@steward/protocol/light-events.ts'
import { pricedModel, says } from '../priced-model.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, asking, custom, logOf, newSession, only, result, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

type LightEvent = SeenEvent & {
  seq: number
  cut?: Cut[]
  step?: EventStep
  session_thread_id?: string
}
type Found = { data: FoundEvent[]; next_page: string | null; has_more: boolean }

const png = Buffer.alloc(3_001, 7).toString('base64')
const usage = { input: 1_000, output: 10 }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`light pages and searches on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let model: string
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      model = await pricedModel(service, stub, { input: 1_000, output: 1_000 })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    async function page(path: string): Promise<LightEvent[]> {
      const { status, body } = await service.ask<{ data: LightEvent[] }>('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      return body.data
    }
    const light = (session: string, more = '') =>
      page(`/v1/sessions/${session}/events?view=light&limit=1000${more}`)
    const find = async (session: string, query: string): Promise<Found> => {
      const path = `/v1/ext/sessions/${session}/find?${query}`
      const { status, body } = await service.ask<Found>('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const calls = (name: string, input: object) => ({
      blocks: [
        { type: 'tool_call' as const, id: `c${name}`, name, pieces: [JSON.stringify(input)] },
      ],
      stop: 'tool_use' as const,
      usage,
    })

    verifies(
      [
        'events/light',
        'events/light/cut',
        'events/light/base64',
        'events/light/step',
        'events/light/page',
        'events/get',
      ],
      'a light page has the ends of long texts, no base64, and what each step took',
      async () => {
        const session = await newSession(service, { model, tools: asking })
        const command = 'for i in $(seq 9000); do echo "line $i"; done; exit 3'
        stub.replies(calls('bash', { command }), says('done', usage))
        const source = { type: 'base64' as const, media_type: 'image/png' as const, data: png }
        const asked = await turn(service, session, {
          type: 'user.message',
          content: [
            { type: 'text', text: 'x'.repeat(9_000) },
            { type: 'image', source },
          ],
        })
        const call = only(asked, 'agent.tool_use')
        await turn(service, session, {
          type: 'user.tool_confirmation',
          tool_use_id: call.id,
          result: 'allow',
        })
        const events = await light(session)
        const whole = await page(`/v1/sessions/${session}/events?limit=1000`)
        assert.deepEqual(
          events.map(({ id }) => id),
          whole.map(({ id }) => id),
        )
        assert.ok(events.every((event) => !('data' in event)))
        const message = only(events, 'user.message') as LightEvent
        assert.deepEqual(message['content'], [
          { type: 'text', text: 'x'.repeat(2_000) },
          { type: 'image', source: { ...source, data: '' } },
        ])
        assert.deepEqual(message.cut, [
          { at: '/content/0/text', bytes: 9_000 },
          { at: '/content/1/source/data', bytes: 3_001 },
        ])

        const answered = only(events, 'agent.tool_result') as LightEvent
        const [cut] = answered.cut ?? []
        const entire = only(whole, 'agent.tool_result')
        const [{ text }] = entire['content'] as [{ text: string }]
        assert.equal(cut?.at, '/content/0/text')
        assert.equal(cut.bytes, JSON.stringify(text).length - 2)
        assert.ok(text.endsWith(String(cut.tail)) && text.endsWith('[exit 3]'))
        const { step } = answered
        assert.equal(step?.begun_by, call.id)
        assert.deepEqual(
          [step.type, step.tool, step.exit_code, step.is_error],
          ['tool_call', 'bash', 3, true],
        )
        const waited = step.waited_ms ?? -1
        assert.ok(waited >= 0 && step.duration_ms >= 0)
        const request = all(events, 'span.model_request_end')[0] as LightEvent
        assert.equal(request.step?.model, model)
        assert.deepEqual(request.step.list_cost, { amount: '101', currency: 'USD' })
        assert.ok(request.step.duration_ms >= 0)
        assert.equal(request.step.begun_by, request['model_request_start_id'])

        const newest = await light(session, '&order=desc')
        assert.deepEqual(newest, events.toReversed())
        const primary = await page(
          `/v1/sessions/${session}/threads/${session.replace('sesn_', 'sthr_')}/events?view=light&limit=1000`,
        )
        assert.deepEqual(primary, events)
        const official: { [key: string]: unknown }[] = []
        const { events: listed } = service.client.beta.sessions
        for await (const each of listed.list(
          session,
          { limit: 1000 },
          { query: { view: 'light' } },
        ))
          official.push({ ...each })
        const known = events.filter(({ type }) => type !== 'session.status_run_started')
        assert.ok(JSON.stringify(official) === JSON.stringify(known), 'the official client too')

        const one = await service.ask('GET', `/v1/sessions/${session}/events/${answered.id}`)
        assert.deepEqual(one.body, entire)
        const absent = await service.raw('GET', `/v1/sessions/${session}/events/sevt_of_nobody`)
        assert.equal(absent.status, 404)
        for (const query of ['view=light', 'threads=all']) {
          const stream = await service.raw(
            'GET',
            `/v1/sessions/${session}/events?${query}`,
            undefined,
            { accept: 'text/event-stream' },
          )
          assert.equal(stream.status, 400, query)
        }
        assert.equal(
          (await service.raw('GET', `/v1/sessions/${session}/events?view=x`)).status,
          400,
        )
      },
    )

    verifies(
      ['events/page/threads', 'events/find/thread', 'threads/events'],
      'one page shows the events of all threads, and a search finds them by their thread',
      async () => {
        const multiagent = { type: 'coordinator', agents: [{ type: 'self' }] }
        const session = await newSession(service, { name: 'Boss', multiagent })
        const child = { agent: 'Boss', message: 'say: hidden words' }
        await turn(service, session, `call create_agent ${JSON.stringify(child)}`)
        const words = async () => (await find(session, 'q=hidden%20words')).data
        while (!(await words()).some(({ type }) => type === 'agent.message'))
          await new Promise((resolve) => setTimeout(resolve, 50))
        const said = (await words()).find(({ type }) => type === 'agent.message')
        const thread = said?.session_thread_id ?? ''
        for (const view of ['&view=light', '']) {
          const events = await page(`/v1/sessions/${session}/events?threads=all&limit=1000${view}`)
          assert.deepEqual(
            events.map(({ seq }) => seq),
            events.map((_, index) => index + 1).slice(0, events.length),
          )
          assert.equal(events.find(({ id }) => id === said?.id)?.session_thread_id, thread)
        }
        const whole = await service.ask('GET', `/v1/sessions/${session}/events/${said?.id}`)
        assert.equal(whole.body['session_thread_id'], thread)
        const own = await find(session, `q=hidden&thread=${thread}`)
        assert.ok(own.data.length > 0)
        assert.ok(own.data.every(({ session_thread_id }) => session_thread_id === thread))
        const newest = await page(
          `/v1/sessions/${session}/threads/${thread}/events?view=light&order=desc&include=chunks`,
        )
        assert.ok(
          newest.length > 1 &&
            newest.every(
              (event) => !('session_thread_id' in event) || event.type.startsWith('session.'),
            ),
        )
        assert.ok(Number(newest[0]?.seq) > Number(newest[1]?.seq))
        const nobody = await service.raw(
          'GET',
          `/v1/ext/sessions/${session}/find?q=x&thread=sthr_x`,
        )
        assert.equal(nobody.status, 404)
      },
    )

    verifies(
      [
        'events/find',
        'events/find/errors',
        'events/find/tool',
        'events/find/page',
        'events/find/required',
        'events/find/excerpt',
        'events/find/texts',
        'events/find/bounded',
      ],
      'words, failures and tools are found in the whole log',
      async () => {
        const session = await newSession(service, { model, tools: [custom] })
        stub.replies(
          calls('look_up', { what: 'C:\\new "Größe"' }),
          says('line one\nLINE two', usage),
        )
        const asked = await turn(service, session, 'What is the Größe?')
        const call = only(asked, 'agent.custom_tool_use')
        await turn(service, session, {
          ...result(call.id, `${'x'.repeat(5_000)} NOT there 😀`),
          is_error: true,
        } as ReturnType<typeof result>)
        const log = await logOf(service, session)
        const typesOf = async (query: string) =>
          (await find(session, query)).data.map(({ type }) => type)
        const q = (text: string, more = '') => typesOf(`q=${encodeURIComponent(text)}${more}`)
        assert.deepEqual(await q('GRÖSSE'), [])
        assert.deepEqual(await q('größe'), ['agent.custom_tool_use', 'user.message'])
        assert.deepEqual(await q('GRÖßE', '&order=asc'), ['user.message', 'agent.custom_tool_use'])
        assert.deepEqual(await q('"größe"'), ['agent.custom_tool_use'])
        assert.deepEqual(await q('c:\\NEW'), ['agent.custom_tool_use'])
        assert.deepEqual(await q('one\nline'), ['agent.message'])
        assert.deepEqual(await q('ONE LINE'), ['agent.message'])
        assert.deepEqual(await q('not there 😀'), ['user.custom_tool_result'])
        assert.deepEqual(await q('not_there'), [])
        assert.deepEqual(await q(call.id), [], 'ids are no texts')
        assert.deepEqual(await q('user.message'), [])
        const tool = ['user.custom_tool_result', 'agent.custom_tool_use']
        assert.deepEqual(await typesOf('tool=look_up'), tool)
        assert.deepEqual(await typesOf('tool=bash'), [])
        assert.deepEqual(await typesOf('errors=true'), ['user.custom_tool_result'])
        assert.deepEqual(await typesOf('errors=true&tool=look_up&q=THERE'), [
          'user.custom_tool_result',
        ])

        const [found] = (await find(session, 'q=not%20there')).data
        const original = only(log, 'user.custom_tool_result')
        assert.deepEqual(found, {
          id: original.id,
          type: original.type,
          seq: original['seq'],
          session_thread_id: null,
          tool: 'look_up',
          is_error: true,
          created_at: original['created_at'],
          excerpt: {
            at: '/content/0/text',
            index: 5_001,
            before: `${'x'.repeat(99)} `,
            text: 'NOT there',
            after: ' 😀',
          },
        })
        const [failed] = (await find(session, 'errors=true')).data
        assert.ok(failed?.excerpt?.before.endsWith('NOT there 😀'))

        const first = await find(session, 'q=gr%C3%B6%C3%9Fe&limit=1')
        assert.deepEqual([first.data.length, first.has_more], [1, true])
        const second = await find(session, `q=gr%C3%B6%C3%9Fe&limit=1&page=${first.next_page}`)
        assert.deepEqual([second.data[0]?.type, second.has_more], ['user.message', false])
        for (const wrong of [
          '',
          'q=',
          'thread=x',
          'q=x&limit=201',
          'q=x&order=up',
          'q=x&other=y',
        ]) {
          const { status } = await service.raw('GET', `/v1/ext/sessions/${session}/find?${wrong}`)
          assert.ok(status === 400 || (wrong === 'thread=x' && status === 404), wrong)
        }
        const foreign = await service.raw('GET', '/v1/ext/sessions/sesn_of_nobody/find?q=x')
        assert.equal(foreign.status, 404)
      },
    )
  })
}
