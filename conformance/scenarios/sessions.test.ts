import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError } from '@anthropic-ai/sdk'
import { openStream, untilIdle } from '../reader.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { all, custom, fresh, idleOf, logOf, newSession } from '../turns.ts'
import { only, say, post, turn, types } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`sessions on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const sessions = () => service.client.beta.sessions
    const agents = () => service.client.beta.agents
    const agentId = async (more: object = {}) =>
      (await agents().create({ name: fresh('agent'), model: 'offline', ...more })).id
    const environment = async (more: object = {}) =>
      (await service.ask('POST', '/v1/environments', { name: fresh('env'), ...more })).body.id
    /** A turn that runs until it is interrupted. */
    const running = async (id: string) => {
      await post(service, id, 'wait: 60000\nsay: never')
      await untilRunning(service, id)
    }

    verifies(
      ['sessions/update', 'sessions/update/announced', 'events/type/updated', 'metadata/patch'],
      'a new title or metadata is announced with what changed, and nothing else',
      async () => {
        const id = await newSession(service, {}, { metadata: { a: '1', b: '2' } })
        await using reader = await openStream(service, `/v1/sessions/${id}/events/stream`)
        const updated = await sessions().update(id, { title: 'new', metadata: { a: null, c: '3' } })
        assert.deepEqual([updated.title, updated.metadata], ['new', { b: '2', c: '3' }])
        const [frame] = await reader.untilType('session.updated')
        assert.deepEqual(frame?.data['data'], { title: 'new', metadata: { b: '2', c: '3' } })
        await sessions().update(id, { title: 'new' })
        assert.equal((await logOf(service, id)).length, 1)
        assert.equal((await sessions().update(id, { title: null })).title, null)
      },
    )

    verifies(
      ['sessions/update/tools-local', 'sessions/update/running', 'events/type/updated'],
      'the tools of an idle session are replaced for itself, and those of a running one are not',
      async () => {
        const agent = await agentId({ tools: [] })
        const { id } = await sessions().create({ agent, environment_id: await environment() })
        const { agent: changed } = await sessions().update(id, { agent: { tools: [custom] } })
        const told = (await say(service, id)).find(({ type }) => type === 'session.updated')
        assert.deepEqual(told?.['agent'], changed)
        const seen = await turn(service, id, 'call look_up {"what": "x"}')
        only(seen, 'agent.custom_tool_use')
        assert.deepEqual((await agents().retrieve(agent)).tools, [])
        await turn(service, id, { type: 'user.interrupt' })
        await running(id)
        await assert.rejects(sessions().update(id, { agent: { tools: [] } }), BadRequestError)
        await post(service, id, { type: 'user.interrupt' })
      },
    )

    verifies(
      ['sessions/status/failed-for-good', 'sessions/status/failed', 'sessions/list/status'],
      'a session that has failed is over for every client, and can be forked, archived and deleted',
      async () => {
        const id = await newSession(service)
        await turn(service, id, 'say: hello')
        await service.tenantDatabase.write((tx) =>
          tx
            .updateTable('session_heads')
            .set({ status: 'failed' })
            .where('session_id', '=', id)
            .execute(),
        )
        const { updated_at, created_at, stats } = await sessions().retrieve(id)
        const lasted = (Date.parse(updated_at) - Date.parse(created_at)) / 1000
        assert.equal(stats.duration_seconds, lasted)
        const shown = async () => (await service.ask('GET', `/v1/sessions/${id}`)).body.status
        assert.deepEqual(
          [await shown(), (await sessions().retrieve(id)).status],
          ['failed', 'terminated'],
        )
        const { body: failed } = await service.ask('GET', '/v1/sessions?status=failed')
        assert.deepEqual(
          failed.data.map((each: { id: string }) => each.id),
          [id],
        )
        await assert.rejects(
          post(service, id, 'say: more'),
          /has failed and takes no more events; fork/,
        )
        await sessions().archive(id)
        assert.equal(await shown(), 'failed')
        assert.equal((await logOf(service, id)).at(-1)?.type, 'session.status_idle')
        const { body: fork } = await service.ask('POST', `/v1/ext/sessions/${id}/fork`, {})
        assert.equal(idleOf(await turn(service, fork.id, 'say: on')).stop_reason !== null, true)
        await sessions().delete(id)
        await assert.rejects(sessions().retrieve(id), NotFoundError)
      },
    )

    verifies(
      ['sessions/cancel', 'sessions/cancel/interrupts', 'sessions/cancel/idle-no-op'],
      'cancel interrupts a running session, and does nothing to an idle one',
      async () => {
        const id = await newSession(service)
        const cancel = () => service.ask('POST', `/v1/sessions/${id}/cancel`)
        assert.deepEqual([(await cancel()).status, await logOf(service, id)], [200, []])
        await running(id)
        assert.equal((await cancel()).body.id, id)
        const seen = await untilIdle(service, id)
        assert.deepEqual(idleOf(seen).stop_reason, { type: 'end_turn' })
        const before = await logOf(service, id)
        await cancel()
        assert.deepEqual(await logOf(service, id), before)
      },
    )

    verifies(
      [
        'sessions/archive',
        'sessions/archive/read-only',
        'sessions/field/stats',
        'sessions/status/done',
        'sessions/transition/terminate',
        'events/type/status-terminated',
        'dialects/session-status',
      ],
      'an archived session can be read, and takes no more events',
      async () => {
        const id = await newSession(service)
        await turn(service, id, 'say: hello')
        const archived = await sessions().archive(id)
        assert.equal(archived.status, 'terminated')
        assert.ok(archived.archived_at)
        const lasted = (Date.parse(archived.archived_at) - Date.parse(archived.created_at)) / 1000
        assert.equal((await sessions().retrieve(id)).stats.duration_seconds, lasted)
        assert.equal((await service.ask('GET', `/v1/sessions/${id}`)).body['status'], 'done')
        assert.equal(types(await logOf(service, id)).at(-1), 'session.status_terminated')
        await assert.rejects(post(service, id, 'say: more'), BadRequestError)
        await assert.rejects(sessions().update(id, { title: 'x' }), BadRequestError)
        assert.equal((await sessions().archive(id)).archived_at, archived.archived_at)
        const listed = async (query: string) =>
          (await service.ask('GET', `/v1/sessions?${query}`)).body.data.some(
            (each) => each.id === id,
          )
        assert.equal(await listed(''), false)
        assert.equal(await listed('include_archived=true'), true)
      },
    )

    verifies(
      [
        'sessions/delete',
        'sessions/delete/gone',
        'sessions/transition/delete',
        'events/type/deleted',
        'stream/ends',
      ],
      'a deleted session is absent everywhere, and its streams end',
      async () => {
        const id = await newSession(service)
        await using reader = await openStream(service, `/v1/sessions/${id}/events/stream`)
        assert.deepEqual({ ...(await sessions().delete(id)) }, { id, type: 'session_deleted' })
        await reader.ended
        assert.equal(reader.frames.at(-1)?.data.type, 'session.deleted')
        for (const path of ['', '/events', '/events/stream', '/log', '/threads']) {
          assert.equal((await service.ask('GET', `/v1/sessions/${id}${path}`)).status, 404, path)
        }
        const { body } = await service.ask('GET', '/v1/sessions?include_archived=true')
        assert.ok(!body.data.some((each) => each.id === id))
        assert.equal((await service.ask('DELETE', `/v1/sessions/${id}`)).status, 404)
      },
    )

    verifies(
      ['sessions/delete/running', 'sessions/delete/last-event', 'sessions/cancel/queued-messages'],
      'a running session is neither archived nor deleted, and nothing follows its end',
      async () => {
        const id = await newSession(service, { tools: [custom] })
        await running(id)
        await assert.rejects(sessions().delete(id), BadRequestError)
        await assert.rejects(sessions().archive(id), BadRequestError)
        await turn(service, id, { type: 'user.interrupt' }, 'call look_up {}')
        await untilIdle(service, id, 2)
        await post(service, id, 'say: waits for the answer')
        await sessions().archive(id)
        const log = await logOf(service, id)
        assert.equal(all(log, 'system.user_message_cancelled').length, 1)
        assert.deepEqual(types(log).at(-1), 'session.status_terminated')
      },
    )

    verifies(
      ['sessions/list/status', 'http/query/lists'],
      'sessions are found by status in either vocabulary',
      async () => {
        const agent = await agentId()
        const at = { agent, environment_id: await environment() }
        const ids: Record<string, string> = {}
        for (const name of ['pending', 'idle', 'running', 'done']) {
          ids[name] = (await sessions().create(at)).id
        }
        await turn(service, ids['idle'] ?? '', 'say: x')
        await running(ids['running'] ?? '')
        await untilRunning(service, ids['running'] ?? '')
        await sessions().archive(ids['done'] ?? '')
        const client = { 'anthropic-version': '2026-10-21' }
        const found = async (query: string, headers = {}) => {
          const path = `/v1/sessions?agent_id=${agent}&include_archived=true&${query}`
          const { body } = await service.ask('GET', path, undefined, headers)
          return Object.keys(ids).filter((name) => body.data.some(({ id }) => id === ids[name]))
        }
        assert.deepEqual(await found('status=pending'), ['pending'])
        assert.deepEqual(await found('status=idle,done'), ['idle', 'done'])
        assert.deepEqual(await found('statuses[]=idle', client), ['pending', 'idle'])
        assert.deepEqual(await found('statuses[]=running', client), ['running'])
        assert.deepEqual(await found('statuses[]=terminated'), ['done'])
        const unknown = await service.ask('GET', '/v1/sessions?statuses[]=idle&statuses[]=waiting')
        assert.equal(unknown.status, 400)
        assert.match(JSON.stringify(unknown.body), /statuses: .*waiting/)
        await post(service, ids['running'] ?? '', { type: 'user.interrupt' })
      },
    )
  })
}

async function untilRunning(service: TestService, session: string): Promise<void> {
  await using reader = await openStream(service, `/v1/sessions/${session}/events/stream?replay=1`)
  await reader.untilType('session.status_running')
}
