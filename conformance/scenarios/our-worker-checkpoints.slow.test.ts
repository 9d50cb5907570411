/** The working folders of sessions move from one of our workers to another. [worker/checkpoint] */
import assert from 'node:assert/strict'
import { readdir, readlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { all, post, say, textOf } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { claimedSession, newPool, poll, sessionIn } from '../workers.ts'

describe('the working folder of a session on our workers', () => {
  let service: TestService
  before(async () => void (service = await boot('sqlite', { env: { CHECKPOINT_LARGEST_MB: '1' } })))
  after(() => service.close())

  /** Runs a command on any worker and returns its output. */
  async function run(session: string, command: string): Promise<string> {
    const stream = await service.client.beta.sessions.events.stream(session)
    await post(service, session, `run: ${command}`)
    for await (const event of stream)
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
    const last = all(await say(service, session), 'user.tool_result').at(-1)
    return last ? textOf(last) : ''
  }
  const working = (pool: WorkerPool, env: Record<string, string> = {}) =>
    startWorker({ ...workerVariables(service, pool), WORKER_LEASE_SECONDS: '10', ...env })

  verifies(
    'worker/checkpoint',
    'goes with the session to another machine, and back to the first, where an older one is',
    async () => {
      const pool = await newPool(service)
      await using one = await working(pool)
      const session = await sessionIn(service, pool)
      const made =
        'mkdir d; echo kept > d/a; chmod 750 d/a; ln -s /etc/passwd leak; echo out > /mnt/session/outputs/o; echo own > /mnt/user/o'
      await run(session, made)
      assert.equal(await one.stop(), 0, one.said())
      await using other = await working(pool)
      const look = 'cat d/a; readlink leak; stat -c %a d/a; cat /mnt/session/outputs/o /mnt/user/o'
      const seen = await run(session, look)
      assert.match(seen, /^kept\n\/etc\/passwd\n750\nout\nown\n/, other.said())
      assert.match(seen, /\/workspace was restored as it was at 2/)
      await run(session, 'rm leak; echo newer > d/a')
      assert.equal(await other.stop(), 0, other.said())
      await using back = await working(pool, { WORKER_DIR: one.dir })
      const again = await run(session, 'cat d/a; ls')
      assert.match(again, /^newer\nd\n/, back.said())
      assert.ok(!again.includes('leak'))
    },
  )

  verifies(
    ['worker/checkpoint/corrupt', 'errors/case/corrupt-checkpoint'],
    'starts no harness when its checkpoint is corrupt, and is not empty instead',
    async () => {
      const pool = await newPool(service)
      await using one = await working(pool)
      const session = await sessionIn(service, pool)
      await run(session, 'head -c 100000 /dev/urandom > a')
      await one.stop()
      const blobs = join(service.dataDir, 'blobs')
      const row = await service.tenantDatabase.read
        .selectFrom('checkpoints')
        .select('base_key')
        .where('session_id', '=', session)
        .executeTakeFirstOrThrow()
      const name = row.base_key?.split('/').at(-1) ?? 'none'
      const found = (await readdir(blobs, { recursive: true })).find((path) => path.endsWith(name))
      assert.ok(found)
      await truncate(join(blobs, found), 50_000)
      await using other = await working(pool)
      await post(service, session, 'run: ls')
      await other.until(/the item was left[^\n]*is corrupt/)
      assert.doesNotMatch(other.said(), /"harness"|the harness ended/)
      const left = await readdir(join(other.dir, 'sessions', session))
      assert.ok(!left.includes('workspace'), left.join())
      await other.stop()
      assert.deepEqual(all(await say(service, session), 'user.tool_result').length, 1)
      let item = null
      while (!item) item = await poll(service, pool, '?block_ms=999')
      assert.equal(item.data.id, session)
    },
  )

  verifies(
    'worker/checkpoint/asked',
    'is saved only under a claim that holds, within its limit, and as archives of its own',
    async () => {
      const [mine, other] = [
        await claimedSession(service, await newPool(service)),
        await claimedSession(service, await newPool(service)),
      ]
      const ask = (token: string, method: string, path: string, body?: unknown) =>
        service.ask<{ done: boolean; checkpoint: object; key: string }>(
          method,
          `/v1/ext/checkpoints/${path}`,
          body,
          { 'x-api-key': '', authorization: `Bearer ${token}` },
        )
      const send = async (bytes: number) =>
        fetch(`${service.base}/v1/ext/checkpoints/${mine.session}/parts`, {
          method: 'POST',
          headers: { authorization: `Bearer ${mine.token}` },
          body: new Uint8Array(bytes),
        })
      assert.equal((await ask(other.token, 'GET', mine.session)).status, 403)
      assert.equal((await ask(mine.token, 'GET', mine.session)).body.checkpoint, null)
      const use = { folder: 'here', seen: null }
      assert.ok((await ask(mine.token, 'POST', `${mine.session}/use`, use)).body.done)
      const late = { folder: 'there', seen: null }
      assert.ok(!(await ask(mine.token, 'POST', `${mine.session}/use`, late)).body.done)

      assert.equal((await send(2 << 20)).status, 413)
      const part = (await (await send(1000)).json()) as { key: string; size: number }
      assert.equal(part.size, 1000)
      const seen = { folder: 'here', parts: null, taken_at: null }
      const foreign = { ...part, key: part.key.replace(mine.session, other.session) }
      const commit = (base: object, token = mine.token) =>
        ask(token, 'POST', mine.session, { made: { base, delta: null }, seen })
      assert.equal((await commit(foreign)).status, 400)
      assert.ok((await commit(part)).body.done)
      assert.ok(!(await commit(part)).body.done)

      const { body } = await service.ask('GET', `/v1/sessions/${mine.session}`)
      const work = `/v1/environments/${String(body['environment_id'])}/work/${mine.work}`
      assert.equal((await service.ask('POST', `${work}/stop`, { force: true })).status, 200)
      assert.equal((await commit(part)).status, 401)
      assert.equal((await send(10)).status, 401)
    },
  )

  verifies('worker/checkpoint/asked', 'no file stays open for a HEAD of an archive', async () => {
    const mine = await claimedSession(service, await newPool(service))
    const parts = `${service.base}/v1/ext/checkpoints/${mine.session}/parts`
    const headers = { authorization: `Bearer ${mine.token}` }
    const sent = await fetch(parts, { method: 'POST', headers, body: 'x' })
    const { key } = (await sent.json()) as { key: string }
    const name = key.slice(key.lastIndexOf('/') + 1)
    const openFiles = async () => {
      const files = await readdir('/proc/self/fd')
      const links = files.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => ''))
      return (await Promise.all(links)).filter((path) => path.includes(name))
    }
    // Node closes a forgotten file when it collects garbage, and warns.
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => void warnings.push(message)
    process.on('warning', onWarning)
    const { status } = await fetch(`${parts}/${name}`, { method: 'HEAD', headers })
    assert.equal(status, 200)
    await until(async () => (await openFiles()).length === 0)
    process.off('warning', onWarning)
    assert.deepEqual(warnings, [])
  })

  verifies(
    'worker/checkpoint/asked',
    'takes names that are its own alone, and eight archives that nothing holds',
    async () => {
      const mine = await claimedSession(service, await newPool(service))
      const path = `/v1/ext/checkpoints/${mine.session}`
      const headers = { 'x-api-key': '', authorization: `Bearer ${mine.token}` }
      const ask = (method: string, more: string, body?: unknown) =>
        service.ask<{ done: boolean }>(method, path + more, body, headers)
      const send = (body = 'x') =>
        fetch(`${service.base}${path}/parts`, { method: 'POST', headers, body })
      for (const name of [
        '..%2F..%2Fx',
        '.hidden',
        'x'.repeat(600),
        '%E2%82%AC',
        'a%20b',
        'chkpt_..',
      ]) {
        assert.equal((await ask('GET', `/parts/${name}`)).status, 404, name)
        assert.equal((await ask('DELETE', `/parts/${name}`)).status, 404, name)
      }
      const marks = await service.tenantDatabase.read
        .selectFrom('loose_blobs')
        .selectAll()
        .execute()
      assert.deepEqual(
        marks.filter(({ blob_key }) => blob_key.includes(mine.session)),
        [],
      )
      for (const folder of ['', 'a\u0000b', 'a\ud800', '../x'])
        assert.equal((await ask('POST', '/use', { folder, seen: null })).status, 400)
      assert.ok((await ask('POST', '/use', { folder: 'here', seen: null })).body.done)

      const part = (await (await send()).json()) as { key: string; size: number; sha256: string }
      const own = part.key.slice(0, part.key.lastIndexOf('/') + 1)
      const seen = { folder: 'here', parts: null, taken_at: null }
      const commit = (base: object) => ask('POST', '', { made: { base, delta: null }, seen })
      for (const key of ['', 'x', '../../x', 'chkpt_\u0000', 'chkpt_0'])
        assert.equal((await commit({ ...part, key: own + key })).status, 400, key)
      assert.equal((await commit({ ...part, sha256: '\u0000' })).status, 400)

      const all = await Promise.all(Array.from({ length: 9 }, () => send()))
      const statuses = all.map(({ status }) => status).toSorted((a, b) => a - b)
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 200, 429, 429])
      assert.ok((await commit(part)).body.done)
      assert.deepEqual([(await send()).status, (await send()).status], [200, 429])
      assert.ok(!service.logged.some((line) => line.includes('a request failed')))
    },
  )
})
