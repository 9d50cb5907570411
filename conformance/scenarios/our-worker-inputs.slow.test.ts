/** The inputs of sessions on our workers, each in its own process. [worker/input/files-repositories] */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe } from 'node:test'
import { toFile } from '@anthropic-ai/sdk'
import { request } from 'undici'
import { uploadFile } from '../files.ts'
import { newestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { all, fresh, post, say, textOf } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import type { WorkerPool } from '../workers.ts'
import { claimedSession, newPool, sessionIn } from '../workers.ts'

describe('the inputs that our worker mounts for a session', () => {
  let service: TestService
  before(async () => {
    service = await boot('sqlite', { env: { WORKER_INPUTS: 'files', FILES_LARGEST_MB: '1' } })
  })
  after(() => service.close())

  /** The results of the commands of one message. */
  async function run(session: string, ...commands: string[]): Promise<string[]> {
    const stream = await service.client.beta.sessions.events.stream(session)
    await post(service, session, commands.map((each) => `run: ${each}`).join('\n'))
    for await (const event of stream)
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
    const results = all(await say(service, session), 'user.tool_result').map(textOf)
    return results.slice(-commands.length)
  }
  const upload = async (content: string, name = 'a.txt') =>
    (await service.client.files.upload({ file: await toFile(Buffer.from(content), name) })).id
  const working = (pool: WorkerPool, env: Record<string, string> = {}) =>
    startWorker({ ...workerVariables(service, pool), WORKER_LEASE_SECONDS: '10', ...env })

  verifies(
    ['worker/input/files', 'worker/input/files/asked', 'resources/file/resolved'],
    'files lie where they were asked to be and cannot be changed, also those that come later',
    async () => {
      const pool = await newPool(service)
      await using worker = await working(pool)
      const [one, two] = [await upload('first\n', "it's.txt"), await upload('second\n')]
      const { resources } = service.client.beta.sessions
      const givenPaths = ['/workspace/in/b', '/home/user/b', '/mnt/session/uploads/c/d.txt']
      const session = await sessionIn(
        service,
        pool,
        {},
        {
          resources: [
            { type: 'file', file_id: one },
            ...givenPaths.map((mount_path) => ({ type: 'file', file_id: two, mount_path })),
            { type: 'file', file_id: two, mount_path: 'data/two.txt' },
          ],
        },
      )
      const uploads = '/mnt/session/uploads'
      const below = [`${uploads}/data/two.txt`, `${uploads}/workspace/in/b`]
      const paths = [`${uploads}/${one}`, ...givenPaths, ...below].join(' ')
      const spoil = `for f in ${paths}; do echo x >>$f; chmod 666 $f; done 2>/dev/null; cat ${paths}`
      const whole = `first\n${'second\n'.repeat(5)}`
      assert.deepEqual(await run(session, `cat ${paths}`, spoil), [whole, whole], worker.said())

      const added = await resources.add(session, {
        ...{ type: 'file', file_id: one, mount_path: '/workspace/later' },
      })
      const fields = { session_id: session }
      const given = await uploadFile(service, { name: 'notes.md', content: 'hello', fields })
      const path = `/home/user/files/${given.id}/notes.md`
      const [seen = ''] = await run(session, `cat later ${path}`)
      assert.match(seen, /^first\nhello/, worker.said())
      assert.match(seen, /A file was given: \/workspace\/later/)
      assert.ok(seen.includes(`A file was given: ${path}`))
      await resources.delete(added.id, { session_id: session })
      assert.match((await run(session, 'cat later'))[0] ?? '', /No such file/)

      const other = await claimedSession(service, await newPool(service))
      const mine = { 'x-api-key': '', authorization: `Bearer ${other.token}` }
      const ask = async (path_: string) =>
        (await service.raw('GET', `/v1/ext/inputs/${path_}`, undefined, mine)).status
      assert.equal(await ask(`${other.session}/files`), 200)
      assert.equal(await ask(`${session}/files`), 403)
      assert.equal(await ask(`${other.session}/files/${given.id}`), 404)
    },
  )

  verifies(
    'worker/input/files',
    'files are there before the official worker starts, in its own lane too',
    async () => {
      const pool = await newPool(service)
      await using worker = await working(pool, { WORKER_LANE: 'ama_worker' })
      const resources = ['/workspace/a', 'b'].map(async (mount_path) => ({
        ...{ type: 'file', file_id: await upload(mount_path), mount_path },
      }))
      const brought = { resources: await Promise.all(resources) }
      const session = await sessionIn(service, pool, {}, brought)
      const [said] = await run(session, 'cat a /mnt/session/uploads/b; echo x > a')
      assert.match(said ?? '', /^\/workspace\/ab/, worker.said())
      const [again] = await run(session, 'cat a')
      assert.equal(again, '/workspace/a')
    },
  )

  verifies(
    ['worker/outputs', 'openai/artifacts/path'],
    'the outputs of a session of the OpenAI surface lie in its working folder here too',
    async () => {
      const pool = await newPool(service)
      await using worker = await working(pool)
      const { sessions } = newestOpenAI(service).beta.agents
      const { id } = await sessions.create({
        agent: { model: 'offline' },
        environment: { type: 'openai_hosted', environment_id: pool.environment },
      })
      const [said] = await run(
        id,
        'echo a > /workspace/outputs/a; echo b > /mnt/session/outputs/b; ls outputs',
      )
      assert.equal(said, 'a\nb\n', worker.said())
      const { data } = await sessions.artifacts.list(id)
      assert.deepEqual(
        data.map(({ path }) => path).toSorted(),
        ['/workspace/outputs/a', '/workspace/outputs/b'],
        worker.said(),
      )
    },
  )

  verifies(
    ['worker/outputs', 'worker/outputs/asked'],
    'the outputs of a call are published when its result is there, once, whoever runs the session next',
    async () => {
      const pool = await newPool(service)
      await using worker = await working(pool)
      const session = await sessionIn(service, pool)
      const ask = { 'vendor-beta': 'managed-agents-2026-04-01' }
      const path = `/v1/sessions/${session}/outputs`
      const listed = async () => (await service.ask('GET', path, undefined, ask)).body.data
      const names = async () => (await listed()).map((each) => each['filename'])
      const write =
        'cd /mnt/session/outputs; mkdir d; seq 1000 > big; echo a > d/a; ln -s /etc/passwd leak'
      await run(session, `${write}; head -c 1100000 /dev/zero > huge`, 'echo x > big')
      assert.deepEqual(await names(), ['big', 'd~1a'], worker.said())
      const results = all(await say(service, session), 'user.tool_result').map(textOf)
      assert.match(results[0] ?? '', /not published: \/mnt\/session\/outputs\/huge: .*larger than/)
      assert.doesNotMatch(results[1] ?? '', /huge/)
      const text = await service.raw('GET', `${path}/big`, undefined, ask)
      assert.equal(await text.text(), 'x\n')
      const before_ = (await listed()).map((each) => each['file_id'])
      await run(session, 'rm huge')
      assert.equal(await worker.stop(), 0, worker.said())
      await using next = await working(pool)
      await run(session, 'cd /mnt/session/outputs; touch big; echo b > b')
      assert.deepEqual(await names(), ['b', 'big', 'd~1a'], next.said())
      const after_ = (await listed()).map((each) => each['file_id'])
      assert.deepEqual(after_.slice(1), before_)

      const other = await claimedSession(service, await newPool(service))
      const token = { 'x-api-key': '', authorization: `Bearer ${other.token}` }
      const to = (name: string) => `/v1/ext/outputs/${other.session}/${name}`
      const tried = async (name: string) => (await service.raw('POST', to(name), {}, token)).status
      assert.deepEqual(
        [await tried('fine'), await tried('..%2fa'), await tried('a%0ab')],
        [200, 400, 400],
      )
      const foreign = await service.raw('POST', `/v1/ext/outputs/${session}/a`, {}, token)
      assert.equal(foreign.status, 403)

      const { resolve: end, promise: ended } = Promise.withResolvers<void>()
      async function* slow() {
        yield Buffer.from('begun')
        await ended
      }
      const send = (n: number) =>
        request(`${service.base}${to(`slow-${n}`)}`, {
          ...{ method: 'POST', body: Readable.from(slow()), headers: token },
        })
      const under = Array.from({ length: 9 }, (_, n) => send(n))
      assert.equal((await Promise.race(under)).statusCode, 429)
      end()
      const codes = (await Promise.all(under)).map(({ statusCode }) => statusCode)
      assert.deepEqual(
        codes.filter((code) => code !== 200),
        [429],
      )
    },
  )

  const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
  async function newStore(content: string) {
    const { body } = await service.ask('POST', '/v1/memory_stores', { name: fresh('s') }, beta)
    const path = `/v1/memory_stores/${body.id}/memories`
    const made = await service.ask('POST', path, { path: '/note', content }, beta)
    return {
      id: body.id,
      held: async () => {
        const found = await service.ask('GET', `${path}?view=full`, undefined, beta)
        return Object.fromEntries(found.body.data.map((each) => [each['path'], each['content']]))
      },
      change: (text: string) =>
        service.ask('POST', `${path}/${made.body.id}`, { content: text }, beta),
    }
  }
  const attached = (...stores: { id: string; access?: string }[]) => ({
    resources: stores.map(({ id, access = 'read_write' }, index) => ({
      ...{ type: 'memory_store', memory_store_id: id, access },
      mount_path: `/mnt/memory/${index}`,
    })),
  })

  verifies(
    ['worker/input/memory-stores', 'worker/input/read-only', 'worker/input/memory-asked'],
    'a store is there, follows what others write, and takes what each call has changed; one that is read_only stays as it is',
    async () => {
      const pool = await newPool(service)
      await using worker = await working(pool)
      const [mine, fixed] = [await newStore('as it was'), await newStore('fixed')]
      const stores = attached(mine, { ...fixed, access: 'read_only' })
      const session = await sessionIn(service, pool, {}, stores)
      const spoil = 'echo x > /mnt/memory/1/note; ln -s /etc/passwd leak; mkdir d; echo new > d/e'
      const said = await run(session, 'cd /mnt/memory/0; cat note ../1/note', spoil)
      assert.match(said[0] ?? '', /^as it wasfixed/, worker.said())
      assert.deepEqual(await mine.held(), { '/note': 'as it was', '/d/e': 'new\n' })
      assert.deepEqual(await fixed.held(), { '/note': 'fixed' })
      await mine.change('by another')
      assert.match((await run(session, 'cat /mnt/memory/0/note'))[0] ?? '', /^by another/)

      const resources = attached(fixed)
      const other = await claimedSession(service, await newPool(service), undefined, resources)
      const token = { 'x-api-key': '', authorization: `Bearer ${other.token}` }
      const asked = async (store: string, of: string, body: object) =>
        (
          await service.raw(
            'POST',
            `/v1/ext/inputs/${other.session}/stores/${store}/${of}`,
            body,
            token,
          )
        ).status
      const change = { path: '/a', expected_sha: null, content: 'x' }
      assert.equal(await asked(mine.id, 'changes', { changes: [change] }), 403)
      assert.equal(await asked(fixed.id, 'contents', { paths: ['/note'] }), 200)
      assert.equal(await asked(fixed.id, 'contents', { paths: ['\0'] }), 400)
    },
  )

  verifies(
    'worker/input/memory-conflicts',
    'neither two writers of one memory nor a worker that is killed lose a text',
    async () => {
      const pool = await newPool(service)
      const worker = await working(pool)
      const store = await newStore('first')
      const session = await sessionIn(service, pool, {}, attached(store))
      await run(session, 'cd /mnt/memory/0; ls')
      const runs = (name: string) =>
        until(() => existsSync(join(worker.dir, 'sessions', session, 'workspace', name)))
      const changing = run(session, '>/workspace/one; sleep 2; echo mine > note; sleep 1')
      await runs('one')
      await store.change('theirs')
      const [told = ''] = await changing
      assert.match(told, /conflict: \/mnt\/memory\/0\/note was changed by another/, worker.said())
      assert.deepEqual(await store.held(), { '/note': 'theirs' })
      const [both] = await run(session, 'cat note; cat /workspace/.steward/conflicts/*/0/note')
      assert.equal(both, 'theirsmine\n')

      const lost = run(session, 'echo late > late; >/workspace/two; sleep 3')
      await runs('two')
      await worker.kill()
      await using next = await working(pool, { WORKER_DIR: worker.dir })
      await lost
      assert.equal((await store.held())['/late'], 'late\n', next.said())
      await worker[Symbol.asyncDispose]()
    },
  )
})
