/** The edges of the work API: parameters of a poll, number of attempts, owners of work items, and their end. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { LooseBody, TestService } from '../service.ts'
import { fresh, logOf, message } from '../turns.ts'
import { verifies } from '../verifies.ts'
import type { WorkerPool } from '../workers.ts'
import { acknowledge, claimedSession, newPool, poll, sessionIn, tokenOf } from '../workers.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the work queue on ${database}`, () => {
    let service: TestService
    let passed = 0
    before(async () => {
      const clock = { ...systemClock, now: () => Date.now() + passed }
      service = await boot(database, { overrides: { clock } })
    })
    after(() => service.close())

    const by = (token: string, method: string, path: string, body?: object) =>
      service.ask(method, path, body, { 'x-api-key': '', authorization: `Bearer ${token}` })
    const asks = (pool: WorkerPool, query: string) =>
      by(pool.key, 'GET', `${pool.path}/work/poll${query}`)
    /** The item that one of twenty polls gets: work that was let lapse often is left to others now and then. */
    async function polled(pool: WorkerPool): Promise<string | undefined> {
      for (let n = 0; n < 20; n++) {
        const item = await poll(service, pool)
        if (item) return item.id
      }
      return undefined
    }
    const stops = ({ path }: WorkerPool, work: string, body: object) =>
      service.ask('POST', `${path}/work/${work}/stop`, body)

    verifies(
      'work/poll/limits',
      'a poll says how long it waits, or comes back at once',
      async () => {
        const pool = await newPool(service)
        for (const query of ['', '?block_ms=', '?block_ms=1', '?block_ms=999']) {
          const { status, body } = await asks(pool, query)
          assert.deepEqual([status, body], [200, null], query)
        }
        for (const value of ['0', '1000', '-1', '1.5', 'soon', '1e9', '5&block_ms=6']) {
          assert.equal((await asks(pool, `?block_ms=${value}`)).status, 400, value)
          if (value === '1000' || value === '1e9') continue
          const reclaim = value.replace('&block_ms', '&reclaim_older_than_ms')
          assert.equal((await asks(pool, `?reclaim_older_than_ms=${reclaim}`)).status, 400, value)
        }
        const longest = `?reclaim_older_than_ms=${Number.MAX_SAFE_INTEGER}`
        assert.equal((await asks(pool, longest)).status, 200)
      },
    )

    verifies(
      ['work/reclaim-floor', 'environments/config/reclaim'],
      'an environment says how long its work stays reserved at least',
      async () => {
        const pool = await newPool(service)
        const config = (reclaim_older_than_ms: number | null) =>
          service.ask('PATCH', pool.path, {
            config: { type: 'self_hosted', reclaim_older_than_ms },
          })
        assert.deepEqual((await config(60_000)).body['config'], {
          ...{ type: 'self_hosted', reclaim_older_than_ms: 60_000 },
        })
        const same = await service.ask('PATCH', pool.path, { config: { type: 'self_hosted' } })
        assert.equal((same.body['config'] as LooseBody)['reclaim_older_than_ms'], 60_000)
        for (const wrong of [0, -1, 1.5, 3_600_001]) assert.equal((await config(wrong)).status, 400)
        const cloud = { type: 'cloud', reclaim_older_than_ms: 60_000 }
        const made = { name: fresh('cloud'), config: cloud }
        assert.equal((await service.ask('POST', '/v1/environments', made)).status, 400)

        await sessionIn(service, pool)
        const first = await poll(service, pool)
        passed += 59_000
        assert.equal(await poll(service, pool, '?reclaim_older_than_ms=1'), null)
        passed += 1_001
        assert.equal(await poll(service, pool, '?reclaim_older_than_ms=600000'), null, 'the longer')
        assert.equal((await poll(service, pool))?.id, first?.id)
        assert.deepEqual((await config(null)).body['config'], { type: 'self_hosted' })
        passed += 5_001
        assert.equal((await poll(service, pool))?.id, first?.id)
      },
    )

    verifies(
      'work/attempts',
      'work that is let go again and again ends with an error, and begins anew with a message',
      async () => {
        const pool = await newPool(service)
        const mine = await claimedSession(service, pool, 'run: ls')
        await mine.call()
        for (let unheard = 0; unheard < 8; unheard++) {
          passed += 600_001
          assert.equal(await polled(pool), mine.work, 'nobody has tried')
        }
        await acknowledge(service, pool, mine.work)
        for (let again = 0; again < 5; again++) {
          passed += 600_001
          assert.equal(await polled(pool), mine.work)
          await acknowledge(service, pool, mine.work)
        }
        passed += 600_001
        assert.equal(await polled(pool), undefined)
        const log = await logOf(service, mine.session)
        const errors = log.filter(({ type }) => type === 'session.error')
        const last = errors.at(-1)?.['error'] as { message: string; retry_status: object }
        assert.match(last.message, /6 times in a row/)
        assert.deepEqual(last.retry_status, { type: 'exhausted' })
        assert.equal(log.at(-1)?.type, 'session.status_idle')
        assert.equal((await by(mine.token, 'GET', `/v1/sessions/${mine.session}`)).status, 401)
        await service.client.beta.sessions.events.send(mine.session, {
          events: [message('say: go on')],
        })
        const next = await poll(service, pool)
        assert.ok(next && next.id !== mine.work)
      },
    )

    verifies(
      'work/attempts',
      'events that a worker writes before and after its calls do not let it begin again for ever',
      async () => {
        const pool = await newPool(service)
        const mine = await claimedSession(service, pool, 'run: ls')
        await mine.call()
        let [work, token] = [mine.work, mine.token]
        for (let again = 0; again < 6; again++) {
          await acknowledge(service, pool, work)
          const checkpoint = `/v1/ext/checkpoints/${mine.session}`
          const { body } = await by(token, 'GET', checkpoint)
          const seen = (body as LooseBody)['checkpoint']
          assert.equal(
            (await by(token, 'POST', `${checkpoint}/use`, { folder: `f${again}`, seen })).status,
            200,
          )
          const report = { servers: [{ name: 'one', tools: null, error: 'it ended' }] }
          const told = await by(token, 'POST', `/v1/ext/stdio-servers/${mine.session}`, report)
          assert.equal(told.status, 204)
          const stop = `${pool.path}/work/${work}/stop`
          assert.equal((await by(token, 'POST', stop, { force: true })).status, 200)
          passed += 600_001
          const next = await poll(service, pool)
          assert.equal(next === null, again === 5)
          if (next) [work, token] = [next.id, tokenOf(next.secret)]
        }
      },
    )

    verifies(
      'work/of-its-environment',
      'is seen and ended under its own environment, by its own workspace',
      async () => {
        const [pool, other] = [await newPool(service), await newPool(service)]
        const mine = await claimedSession(service, pool)
        const { key } = await service.otherWorkspace(fresh('other'))
        const foreign = await service.ask(
          'POST',
          '/v1/environments',
          { name: fresh('theirs') },
          {
            'x-api-key': key,
          },
        )
        const theirs = `/v1/environments/${foreign.body.id}`
        for (const [path, headers] of [
          [other.path, {}],
          ['/v1/environments/env_none', {}],
          [pool.path, { 'x-api-key': key }],
          [theirs, { 'x-api-key': key }],
        ] as const) {
          const one = `${path}/work/${mine.work}`
          for (const [method, at, body] of [
            ['GET', one, undefined],
            ['POST', one, { metadata: { a: 'b' } }],
            ['POST', `${one}/stop`, { force: true }],
          ] as const)
            assert.equal((await service.ask(method, at, body, headers)).status, 404, at)
        }
        assert.equal((await service.ask('GET', `${pool.path}/work/none`)).status, 404)
        for (const what of ['', '/stats']) {
          assert.equal(
            (await service.ask('GET', `/v1/environments/env_none/work${what}`)).status,
            404,
          )
          const asked = await service.ask('GET', `${pool.path}/work${what}`, undefined, {
            'x-api-key': key,
          })
          assert.equal(asked.status, 404)
        }
        assert.equal((await by(mine.token, 'GET', `/v1/sessions/${mine.session}`)).status, 200)
        for (const at of [`${pool.path}/work/${mine.work}`, `${pool.path}/work/${mine.work}/ack`])
          assert.equal((await by(other.key, at.endsWith('ack') ? 'POST' : 'GET', at)).status, 403)
      },
    )

    it('goes to nobody who has hung up, before or while there is work', async () => {
      const pool = await newPool(service)
      const path = `${service.base}${pool.path}/work/poll?block_ms=999&reclaim_older_than_ms=600000`
      const headers = { authorization: `Bearer ${pool.key}` }
      for (let round = 0; round < 8; round++) {
        const gone = new AbortController()
        const waits = Array.from({ length: 3 }, () =>
          fetch(path, { headers, signal: gone.signal }).catch(() => undefined),
        )
        await new Promise((resolve) => setTimeout(resolve, 30))
        const made = round % 2 === 0 ? undefined : sessionIn(service, pool)
        gone.abort()
        await Promise.all(waits)
        const session = await (made ?? sessionIn(service, pool))
        const item = await poll(service, pool, '?block_ms=999&reclaim_older_than_ms=600000')
        assert.equal(item?.data.id, session, `round ${round}`)
      }
    })

    it('is listed in pages, and carries metadata within limits', async () => {
      const pool = await newPool(service)
      for (let n = 0; n < 3; n++) await sessionIn(service, pool)
      const list = `${pool.path}/work`
      const seen: string[] = []
      for (let page = '', more = true; more;) {
        const { body } = await service.ask('GET', `${list}?limit=2${page}`)
        seen.push(...body.data.map(({ id }) => id))
        more = body['next_page'] !== null
        page = `&page=${String(body['next_page'])}`
      }
      assert.equal(new Set(seen).size, 3)
      for (const query of ['limit=0', 'limit=1001', 'limit=x', 'page=nonsense'])
        assert.equal((await service.ask('GET', `${list}?${query}`)).status, 400, query)
      const one = `${list}/${seen[0]}`
      const pairs = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`key${n}`, 'v']))
      const kept = await service.ask('POST', one, { metadata: pairs })
      assert.deepEqual(kept.body['metadata'], pairs)
      for (const metadata of [
        { more: 'v' },
        { key0: 'v'.repeat(513) },
        { ['k'.repeat(65)]: 'v' },
        { key0: 1 },
      ])
        assert.equal((await service.ask('PATCH', one, { metadata })).status, 400)
      assert.equal((await service.ask('POST', one, { state: 'stopped' })).status, 400)
      const { body } = await service.ask('POST', one, { metadata: { key0: null } })
      assert.equal(Object.keys(body['metadata'] as object).length, 15)
      const stats = await service.ask('GET', `${list}/stats`)
      assert.deepEqual([stats.body['depth'], stats.body['pending']], [3, 0])
    })

    it('ends for its worker as its session and its environment end', async () => {
      const pool = await newPool(service)
      const mine = await claimedSession(service, pool)
      const waiting = await sessionIn(service, pool)
      const archived = await service.ask('POST', `${pool.path}/archive`)
      assert.equal(archived.status, 200)
      assert.equal((await poll(service, pool))?.data.id, waiting, 'sessions that are there go on')
      assert.equal((await service.ask('DELETE', pool.path)).status, 409)
      const beat = () => by(mine.token, 'POST', `${pool.path}/work/${mine.work}/heartbeat`)
      assert.equal((await beat()).body['state'], 'active')
      for (const session of [mine.session, waiting]) {
        const gone = await service.ask('DELETE', `/v1/sessions/${session}`)
        assert.equal(gone.status, 200)
      }
      assert.deepEqual(
        [(await beat()).body['state'], (await beat()).body['lease_extended']],
        [...['stopping', false]],
      )
      assert.equal((await by(mine.token, 'GET', `/v1/sessions/${mine.session}`)).status, 404)
      assert.equal((await service.ask('DELETE', pool.path)).status, 200)
      assert.equal((await asks(pool, '')).status, 404)
      assert.equal((await asks(pool, '?block_ms=999')).status, 404)
    })

    it('is beaten for, acknowledged and stopped as its state allows', async () => {
      const pool = await newPool(service)
      await sessionIn(service, pool)
      const { body } = await service.ask('GET', `${pool.path}/work`)
      const work = body.data[0]?.id ?? ''
      const at = `${pool.path}/work/${work}`
      const says = async (method: string) => (await by(pool.key, 'POST', `${at}/${method}`)).status
      assert.deepEqual([await says('heartbeat'), await says('ack')], [412, 409], 'queued')
      await poll(service, pool)
      assert.deepEqual([await says('ack'), await says('heartbeat')], [200, 200], 'reserved')
      assert.equal(await says('ack'), 409, 'active')
      assert.equal((await stops(pool, work, {})).body['state'], 'stopping')
      assert.equal((await stops(pool, work, {})).body['state'], 'stopping')
      assert.deepEqual([await says('ack'), await says('heartbeat')], [409, 200], 'stopping')
      assert.equal((await stops(pool, work, { force: true })).body['state'], 'stopped')
      assert.equal((await stops(pool, work, {})).body['state'], 'stopped')
      assert.deepEqual([await says('ack'), await says('heartbeat')], [409, 200], 'stopped')
      assert.equal((await stops(pool, work, { force: 'yes' })).status, 400)
    })

    it('is polled with a key until that expires or is revoked', async () => {
      const pool = await newPool(service)
      const expires_at = new Date(Date.now() + passed + 60_000).toISOString()
      const named = { name: fresh('short'), environment_id: pool.environment, expires_at }
      const short = await service.ask<LooseBody & { key: string }>(
        'POST',
        '/v1/ext/api_keys',
        named,
      )
      const path = `${pool.path}/work/poll`
      assert.equal((await by(short.body.key, 'GET', path)).status, 200)
      passed += 60_001
      assert.equal((await by(short.body.key, 'GET', path)).status, 401)
      await service.ask('DELETE', `/v1/ext/api_keys/${pool.keyId}`)
      assert.equal((await by(pool.key, 'GET', path)).status, 401)
    })

    it('opens to no token that was changed, is of another kind, or is sent to another session', async () => {
      const pool = await newPool(service)
      const mine = await claimedSession(service, pool)
      const path = `/v1/sessions/${mine.session}`
      const [payload = '', mark = ''] = mine.token.slice('stw_claim_'.length).split('.')
      const values = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown[]
      const other = (change: (copy: unknown[]) => void) => {
        const copy = [...values]
        change(copy)
        return `stw_claim_${Buffer.from(JSON.stringify(copy)).toString('base64url')}.${mark}`
      }
      for (const token of [
        other((copy) => (copy[0] = 'wrkspc_other')),
        other((copy) => (copy[4] = 2)),
        `stw_mcp_${payload}.${mark}`,
        `stw_key_${payload}.${mark}`,
        `stw_env_${payload}.${mark}`,
        `stw_claim_${payload}`,
        `stw_claim_${payload}.`,
        `stw_claim_.${mark}`,
        'stw_claim_',
        mine.token.toUpperCase(),
      ])
        assert.equal((await by(token, 'GET', path)).status, 401, token.slice(0, 20))
      for (const name of ['token', 'api_key', 'access_token', 'authorization'])
        assert.equal(
          (
            await service.raw('GET', `${path}?${name}=${mine.token}`, undefined, {
              'x-api-key': '',
            })
          ).status,
          401,
        )
      const basic = Buffer.from(`:${mine.token}`).toString('base64')
      const elsewhere: Record<string, string>[] = [
        { 'x-api-key': mine.token },
        { authorization: `Basic ${basic}` },
      ]
      for (const headers of elsewhere)
        assert.equal(
          (await service.raw('GET', path, undefined, { 'x-api-key': '', ...headers })).status,
          401,
        )
      const old = mine.token
      passed += 600_001
      const next = await poll(service, pool)
      assert.equal(next?.id, mine.work)
      assert.equal((await by(old, 'GET', path)).status, 401)
      assert.equal((await by(tokenOf(next.secret), 'GET', path)).status, 200)
      const beat = await by(old, 'POST', `${pool.path}/work/${mine.work}/heartbeat`)
      assert.equal(beat.status, 412)
      const stop = await by(old, 'POST', `${pool.path}/work/${mine.work}/stop`, { force: true })
      assert.equal(stop.status, 412)
      await service.client.beta.sessions.events.send(mine.session, { events: [message('say: x')] })
    })
  })
}
