import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { WorkerConfig } from './config.ts'
import { readConfig } from './config.ts'
import { foldersBelow } from './folders.ts'
import { noHints } from './hints/hints.ts'
import { runItem } from './item.ts'
import { openmaSupervised } from './lanes.ts'
import { jsonLog } from '@steward/base/log.ts'
import { pollOn } from './poller.ts'
import { serviceAt } from './service.ts'
import type { ServiceStub } from './service-fixture.ts'
import { heartbeatAnswer, fencedAnswer, stubService } from './service-fixture.ts'

const fixture = fileURLToPath(new URL('./supervisor/harness-fixture.ts', import.meta.url))

/** A worker of the supervised lane on a stub of the service, with a harness that does what `mode` says. */
async function working(stub: ServiceStub, mode: string, env: Record<string, string> = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'steward-worker-'))
  const read = readConfig({
    WORKER_BASE_URL: stub.url,
    WORKER_ENVIRONMENT_ID: 'env_1',
    WORKER_ENVIRONMENT_KEY: 'the key',
    WORKER_LEASE_SECONDS: '10',
    WORKER_POLL_SECONDS: '0',
    WORKER_HARNESS: JSON.stringify([process.execPath, fixture, mode]),
    WORKER_DIR: dir,
    ...env,
  })
  assert.ok(read.ok, JSON.stringify(read))
  const { config } = read
  const said: string[] = []
  let look = () => {}
  const log = jsonLog((line) => {
    said.push(line)
    look()
  })
  const stop = new AbortController()
  const { environmentId, environmentKey, baseUrl } = config
  const service = serviceAt({ baseUrl, environmentId, environmentKey, workerId: 'test' })
  const lane = openmaSupervised(config, { readyMs: 20_000, abortMs: 200 })
  const folders = foldersBelow(config.dir)
  const deps = { environmentId, environmentKey, folders, lane, log }
  const ended = pollOn(
    {
      ...{ service, hints: noHints, most: config.sessions, pauseMs: config.pollMs, log },
      ...{ reclaimMs: 5_000, acknowledges: true, reached: () => log.info('working') },
      run: (item, claim, signal) => runItem(deps, item, claim, signal),
    },
    stop.signal,
  )
  return {
    ...{ said, ended, stop: () => stop.abort() },
    until: (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (said.some((line) => pattern.test(line))) resolve()
        }
        look()
      }),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended.catch(() => {})
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const one = { work: 'work_1', session: 'sesn_1' }
const asks = (stub: ServiceStub, what: RegExp) => stub.asked.filter((each) => what.test(each))

describe('a worker', () => {
  it('asks at once when it starts, and again after its pause', async () => {
    await using stub = await stubService()
    const begun = performance.now()
    await using _worker = await working(stub, 'good', { WORKER_POLL_SECONDS: '1' })
    await stub.until('GET work/poll', 3)
    const [first = 0, second = 0, third = 0] = stub.polls
    assert.ok(first - begun < 800)
    assert.ok(second - first >= 850 && third - second >= 850)
  })

  it('polls again at once after it got work, up to its limit', async () => {
    await using stub = await stubService()
    stub.queue.push(
      one,
      { work: 'work_2', session: 'sesn_2' },
      { work: 'work_3', session: 'sesn_3' },
    )
    const env = { WORKER_POLL_SECONDS: '3600', WORKER_SESSIONS: '2' }
    await using worker = await working(stub, 'good', env)
    await stub.until('GET work/poll', 2)
    await worker.until(/"sesn_2"/)
    assert.equal(stub.queue.length, 1)
  })

  it('reads the session by its claim before anything runs', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'good')
    await stub.until('POST work/work_1/heartbeat')
    const order = stub.asked.filter((what) => what !== 'GET work/poll')
    assert.deepEqual(order.slice(0, 3), [
      'POST work/work_1/ack',
      'GET sessions/sesn_1',
      'POST work/work_1/heartbeat',
    ])
    worker.stop()
    await worker.ended
    assert.equal(asks(stub, /stop$/).length, 1)
  })

  const unread: [string, Partial<ServiceStub['session']>][] = [
    ['cannot be read', { status: 404 }],
    ['is of another environment', { environment: 'env_2' }],
  ]
  for (const [what, session] of unread)
    it(`starts nothing and stops nothing when the session ${what}`, async () => {
      await using stub = await stubService()
      Object.assign(stub.session, session)
      stub.queue.push(one)
      await using worker = await working(stub, 'good')
      await worker.until(/the item was left/)
      assert.deepEqual(asks(stub, /heartbeat$|stop$/), [])
      assert.ok(!worker.said.some((line) => line.includes('harness')))
    })

  it('does not change the item of a harness that never was ready', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'refuses')
    await worker.until(/the harness ended.*refused/)
    await worker.until(/the item was left/)
    worker.stop()
    await worker.ended
    assert.deepEqual(asks(stub, /stop$/), [])
    assert.deepEqual(asks(stub, /failure$/), ['POST ext/inputs/sesn_1/failure'])
    assert.deepEqual(stub.failures, ['the harness was not ready: no such setting'])
  })

  it('does not repeat to the session what the harness has reported itself', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'told')
    await worker.until(/the item was left.*no such repository/)
    assert.deepEqual(asks(stub, /failure$/), [])
  })

  it('sends its harness how long the lease holds, with the start and with each heartbeat', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'leased')
    await worker.until(/harness.*"event":"start".*"lease_ms":(9\d{3}|10000)\b/)
    await worker.until(/harness.*"event":"lease".*"for_ms":(9\d{3}|10000)\b/)
  })

  it('says that it works when its key was taken, and not before', async () => {
    await using stub = await stubService()
    stub.refusesPolls = true
    await using worker = await working(stub, 'good')
    await assert.rejects(worker.ended, /401/)
    assert.deepEqual(worker.said, [])
    stub.refusesPolls = false
    await using second = await working(stub, 'good')
    await second.until(/"message":"working"/)
  })

  it('stops the item of a harness that broke off', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using _worker = await working(stub, 'crashes')
    await stub.until('POST work/work_1/stop')
  })

  it('aborts the harness and stops nothing when a heartbeat is fenced', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'good')
    await worker.until(/"ready"|claimed/)
    await stub.until('POST work/work_1/heartbeat')
    stub.beat = fencedAnswer
    await worker.until(/the harness ended.*aborted: lease_lost/)
    worker.stop()
    await worker.ended
    assert.deepEqual(asks(stub, /stop$/), [])
  })

  it('gives up a lease that no heartbeat has confirmed for its length', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    stub.beat = () => ({ status: 503, body: {} })
    await using worker = await working(stub, 'good')
    await worker.until(/no heartbeat for 10000 ms/)
    await worker.until(/the harness ended.*aborted: lease_lost/)
    assert.deepEqual(asks(stub, /stop$/), [])
  })

  it('ends the harness and then the item when the service says so', async () => {
    await using stub = await stubService()
    stub.queue.push(one)
    await using worker = await working(stub, 'good')
    await stub.until('POST work/work_1/heartbeat')
    stub.beat = () => heartbeatAnswer('stopping', false)
    await stub.until('POST work/work_1/stop')
    await worker.until(/the harness ended.*done/)
  })

  it('ends when its key is refused, and goes on when the service is not there', async () => {
    const stub = await stubService()
    await using worker = await working(stub, 'good')
    await stub.until('GET work/poll')
    await stub[Symbol.asyncDispose]()
    await worker.until(/the poll failed/)
  })
})

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

describe('the settings of a worker', () => {
  const right = {
    WORKER_BASE_URL: 'https://steward.example/',
    WORKER_ENVIRONMENT_ID: 'env_1',
    WORKER_ENVIRONMENT_KEY: 'key',
  }
  const wrong = (env: object) => {
    const read = readConfig({ ...right, ...env })
    return read.ok ? [] : read.problems
  }
  const value = <K extends keyof WorkerConfig>(env: object, key: K) => {
    const read = readConfig({ ...right, ...env })
    return read.ok ? read.config[key] : undefined
  }

  it('need no more than the service, the environment and its key', () => {
    assert.deepEqual(
      [value({}, 'pollMs'), value({}, 'lane'), value({}, 'baseUrl')],
      [5_000, 'openma_supervised', 'https://steward.example'],
    )
  })

  it('pass on where Node keeps what it has compiled, if anywhere', () => {
    const named = { NODE_COMPILE_CACHE: '/var/cache/steward' }
    assert.deepEqual([value({}, 'compiled'), value(named, 'compiled')], [{}, named])
  })

  it('are refused by name, all at once, without the key in the text', () => {
    const read = readConfig({ WORKER_SESSIONS: '0', WORKER_SESSION: '1', WORKER_HARNESS: 'node x' })
    assert.ok(!read.ok)
    const text = read.problems.join('\n')
    for (const name of [
      'BASE_URL is missing',
      'ENVIRONMENT_KEY is missing',
      'SESSIONS: "0" is not .*1 to 1000',
    ])
      assert.match(text, new RegExp(`WORKER_${name}`))
    assert.match(text, /WORKER_SESSION is not a setting.*Do you mean WORKER_SESSIONS\?/)
    assert.match(text, /WORKER_HARNESS: "…" is not a JSON list/)
  })

  it('want a port and a signing key for hints, or neither', () => {
    const [port, key] = [{ WORKER_WEBHOOK_PORT: '0' }, { WORKER_WEBHOOK_SIGNING_KEY: secret }]
    assert.deepEqual(value({ ...port, ...key }, 'webhook'), {
      ...{ host: '127.0.0.1', port: 0, key: secret },
    })
    assert.match(wrong(port)[0] ?? '', /needs WORKER_WEBHOOK_SIGNING_KEY/)
    assert.match(wrong(key)[0] ?? '', /needs WORKER_WEBHOOK_PORT/)
    const short = wrong({ ...port, WORKER_WEBHOOK_SIGNING_KEY: 'short' })
    assert.match(short[0] ?? '', /WORKER_WEBHOOK_SIGNING_KEY: "…" is not a secret/)
  })

  it('are refused where a strategy and a lane disagree on who owns the lease', () => {
    assert.match(wrong({ WORKER_STRATEGY: 'acquire_then_session_poll' })[0] ?? '', /ama_worker/)
    const ama = { WORKER_LANE: 'ama_worker', WORKER_STRATEGY: 'acquire_then_session_poll' }
    assert.deepEqual(wrong(ama), [])
    assert.equal(wrong({ ...ama, WORKER_HARNESS: '["x"]' }).length, 1)
  })
})
