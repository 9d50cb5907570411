import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import type { SessionSummary } from '@steward/protocol/session-summaries.ts'
import type { StreamReader } from '../reader.ts'
import { openStream } from '../reader.ts'
import type { TestService } from '../service.ts'
import { besideService, boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { newSession, post, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const path = '/v1/ext/stream'
const tools = [{ type: 'agent_toolset_20260401' }] as const

type Changed = SeenEvent & { object: SessionSummary }
const isChange =
  (session: string, fits: (object: SessionSummary) => boolean = () => true) =>
  (data: SeenEvent) =>
    data.type === 'stream.changed' && data['id'] === session && fits((data as Changed).object)
const isIdle = ({ status, last_event }: SessionSummary) =>
  status === 'idle' && last_event?.type === 'session.status_idle'

const disposable = (service: TestService) => ({
  ...service,
  [Symbol.asyncDispose]: () => service.close(),
})

const idOf = async (stream: StreamReader): Promise<string> => {
  const [opened] = await stream.untilType('stream.opened')
  return String(opened?.data.id)
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the stream of a workspace on ${database}`, () => {
    let service: TestService
    let url: string | undefined
    before(async () => {
      url = database === 'postgres' ? await newPostgresUrl() : undefined
      service = await boot(database, { env: url === undefined ? {} : { DATABASE_URL: url } })
    })
    after(() => service.close())

    const change = (id: string, body: object, key?: string) =>
      service.ask('POST', `${path}/${id}`, body, key ? { 'x-api-key': key } : {})

    verifies(
      [
        'stream/workspace',
        'stream/workspace/opened',
        'stream/workspace/changed',
        'stream/workspace/gathered',
        'stream/workspace/deleted',
      ],
      'it says which sessions change, and how they are',
      async () => {
        await using stream = await openStream(service, path)
        assert.match(await idOf(stream), /^strm_/)
        const session = await newSession(service, { tools })
        await stream.until(isChange(session))
        await turn(service, session, 'call bash {"command":"true"}')
        const seen = await stream.until(isChange(session, isIdle))
        const { object } = (seen.at(-1)?.data ?? {}) as Changed
        assert.equal(object.id, session)
        assert.equal(object.waiting_on, null)
        assert.ok(object.usage.input_tokens > 0)
        assert.match(object.agent_name, /./)
        assert.ok(!('agent' in object), 'no prompt and no tools')
        assert.equal((await service.raw('DELETE', `/v1/sessions/${session}`)).status, 200)
        await stream.until(({ type, id }) => type === 'stream.deleted' && id === session)
      },
    )

    verifies(
      ['stream/workspace/events', 'stream/workspace/change', 'stream/workspace/follow'],
      'it carries the events of the sessions that it follows, with pieces on wish',
      async () => {
        const [one, other] = [await newSession(service), await newSession(service)]
        await turn(service, one, 'first')
        await using stream = await openStream(service, `${path}?workspace=false`)
        const id = await idOf(stream)
        const follow = [{ session_id: one, after_seq: 0, chunks: true }, { session_id: other }]
        const { status, body } = await change(id, { follow })
        assert.equal(status, 200)
        assert.deepEqual(
          { ...body },
          { id, type: 'stream', workspace: false, sessions: [one, other] },
        )
        await stream.until(
          ({ type, session_id }) => type === 'session.status_idle' && session_id === one,
        )
        await post(service, one, 'second')
        await stream.until(({ type }) => type === 'agent.message_chunk')
        await post(service, other, 'third')
        await stream.until(
          ({ type, session_id }) => type === 'session.status_idle' && session_id === other,
        )
        const ofOne = stream.frames.filter(({ data }) => data['session_id'] === one)
        const seqs = ofOne.flatMap(({ data }) =>
          data.type.startsWith('agent.message_') ? [] : data['seq'],
        )
        const kept = seqs.filter((seq) => typeof seq === 'number')
        assert.deepEqual(
          kept,
          kept.toSorted((a, b) => a - b),
        )
        assert.ok(!stream.frames.some(({ data }) => data.type === 'stream.changed'))
        assert.equal((await change(id, { unfollow: [one] })).body.data, undefined)
        const before = stream.frames.length
        await turn(service, one, 'fourth')
        await turn(service, other, 'fifth')
        const later = stream.frames.slice(before)
        assert.ok(!later.some(({ data }) => data['session_id'] === one))
      },
    )

    verifies(
      ['stream/workspace/resumed', 'stream/workspace/reset'],
      'it goes on where a reader was, and says so where that is not possible',
      async () => {
        const session = await newSession(service)
        const first = await openStream(service, `${path}?sessions=${session}`)
        await post(service, session, 'one')
        await first.until(({ type }) => type === 'session.status_idle')
        const ids = first.frames.flatMap(({ id }) => id ?? [])
        await first[Symbol.asyncDispose]()
        await turn(service, session, 'two')
        const other = await newSession(service)
        const last = ids.at(-1) ?? ''
        await using again = await openStream(service, `${path}?sessions=${session}`, {
          headers: { 'last-event-id': last },
        })
        await again.until(isChange(other))
        await again.until(isChange(session))
        await again.until(({ type }) => type === 'session.status_idle')
        const texts = [...first.frames, ...again.frames].flatMap(({ data }) =>
          data.type === 'user.message' ? [JSON.stringify(data['content'])] : [],
        )
        assert.equal(texts.filter((text) => text.includes('two')).length, 1)
        assert.ok(!again.frames.some(({ data }) => data.type === 'stream.reset'))
        for (const unknown of ['x!', '1', (Date.now() - 3_700_000).toString(36)]) {
          await using stream = await openStream(service, path, {
            headers: { 'last-event-id': unknown },
          })
          await stream.untilType('stream.reset')
        }
      },
    )

    verifies(
      ['stream/workspace/owner', 'stream/workspace/follow', 'stream/workspace/rights'],
      'another caller finds neither the stream nor the sessions of another workspace',
      async () => {
        const session = await newSession(service)
        await using stream = await openStream(service, path)
        const id = await idOf(stream)
        const neighbour = await service.otherWorkspace('neighbour')
        assert.equal((await change(id, { workspace: false }, neighbour.key)).status, 404)
        const viewer = await service.ask<{ id: string; key: string }>('POST', '/v1/ext/api_keys', {
          name: 'viewer',
          read_only: true,
        })
        assert.equal((await change(id, { workspace: false }, viewer.body.key)).status, 404)
        await using own = await openStream(service, `${path}?workspace=false`, {
          headers: { 'x-api-key': viewer.body.key },
        })
        const followed = await change(
          await idOf(own),
          { follow: [{ session_id: session }] },
          viewer.body.key,
        )
        assert.equal(followed.status, 200, 'a viewer may follow what it may read')
        await using foreign = await openStream(service, path, {
          headers: { 'x-api-key': neighbour.key },
        })
        const follow = { follow: [{ session_id: session }] }
        assert.equal((await change(await idOf(foreign), follow, neighbour.key)).status, 404)
        const asked = await service.raw('GET', `${path}?sessions=${session}`, undefined, {
          'x-api-key': neighbour.key,
        })
        assert.equal(asked.status, 404)
        await service.raw('DELETE', `/v1/ext/api_keys/${viewer.body.id}`)
        await own.ended
        assert.ok(!foreign.frames.some(({ data }) => data['id'] === session))
      },
    )

    if (database === 'postgres')
      verifies(
        ['stream/workspace/owner'],
        'a stream of one process is changed through another',
        async () => {
          const env = besideService(String(url), service)
          await using other = disposable(await boot('postgres', { env }))
          const session = await newSession(service)
          await using stream = await openStream(service, `${path}?workspace=false`)
          const id = await idOf(stream)
          const follow = [{ session_id: session }]
          const changed = await other.ask('POST', `${path}/${id}`, { follow })
          assert.deepEqual(changed.body['sessions'], [session])
          const missing = { follow: [{ session_id: 'sesn_none' }] }
          assert.equal((await other.ask('POST', `${path}/${id}`, missing)).status, 404)
          assert.equal((await other.ask('POST', `${path}/strm_none`, {})).status, 404)
          await post(other, session, 'through the other process')
          await stream.untilType('session.status_idle')
          await other.ask('POST', `${path}/${id}`, { workspace: true })
          const made = await newSession(other)
          await stream.until(isChange(made))
        },
      )
  })
}
