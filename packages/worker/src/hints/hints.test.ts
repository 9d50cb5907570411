import { jsonLog } from '@steward/base/log.ts'
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { launchOn } from '../launcher.ts'
import { pollOn } from '../poller.ts'
import { serviceAt } from '../service.ts'
import type { ServiceStub } from '../service-fixture.ts'
import { stubService } from '../service-fixture.ts'
import { hintKey, signHint, sendHint } from './fixture.ts'
import type { Hints } from './hints.ts'
import { intentsIn } from './intents.ts'
import { receiveHints } from './receiver.ts'

const quiet = jsonLog(() => {})
const hourMs = 3_600_000

async function folderOf() {
  const path = await mkdtemp(join(tmpdir(), 'steward-hints-'))
  const gone = () => rm(path, { recursive: true, force: true })
  return { path, [Symbol.asyncDispose]: gone }
}

async function receiving(path: string) {
  const setup = { host: '127.0.0.1', port: 0, key: hintKey, folder: path }
  const receiver = await receiveHints(setup, quiet)
  return { ...receiver, [Symbol.asyncDispose]: receiver.close }
}

const serviceOf = ({ url: baseUrl }: ServiceStub) =>
  serviceAt({ baseUrl, environmentId: 'env_1', environmentKey: 'key', workerId: 'test' })

describe('intents', () => {
  it('are on the disk when they are said to be, and found there by the next start, oldest first', async () => {
    await using folder = await folderOf()
    const intents = await intentsIn(folder.path, Date.now())
    assert.equal(await intents.keep('one', 'first'), true)
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(await intents.keep('two', 'second'), true)
    assert.deepEqual(await readdir(folder.path), ['one.open', 'two.open'])
    const again = await intentsIn(folder.path, Date.now())
    assert.deepEqual(again.open(), ['one', 'two'])
  })

  it('are taken once, at the same time, later, and after a start', async () => {
    await using folder = await folderOf()
    const intents = await intentsIn(folder.path, Date.now())
    const both = await Promise.all([intents.keep('one', ''), intents.keep('one', '')])
    assert.deepEqual(both, [true, false])
    await intents.settle(['one', 'never there'])
    assert.equal(await intents.keep('one', ''), false)
    const again = await intentsIn(folder.path, Date.now())
    assert.equal(await again.keep('one', ''), false)
    assert.deepEqual(again.open(), [])
  })

  it('are forgotten a week after they were settled, and never before', async () => {
    await using folder = await folderOf()
    const intents = await intentsIn(folder.path, Date.now())
    for (const id of ['settled', 'open']) await intents.keep(id, '')
    await intents.settle(['settled'])
    const later = await intentsIn(folder.path, Date.now() + 8 * 24 * hourMs)
    assert.deepEqual(await readdir(folder.path), ['open.open'])
    assert.deepEqual(later.open(), ['open'])
  })
})

describe('the folder of intents', () => {
  it('has the newest of the handled ones alone, and all that wait', async () => {
    await using folder = await folderOf()
    const intents = await intentsIn(folder.path, Date.now(), 2)
    for (const id of ['a', 'b', 'c', 'd']) {
      await intents.keep(id, '')
      if (id !== 'b') await intents.settle([id])
    }
    assert.deepEqual(await readdir(folder.path), ['b.open', 'c.done', 'd.done'])
    const again = await intentsIn(folder.path, Date.now(), 1)
    assert.deepEqual(await readdir(folder.path), ['b.open', 'd.done'])
    assert.deepEqual(again.open(), ['b'])
  })
})

describe('the receiver of hints', () => {
  it('answers when the hint is on the disk, and takes it once', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    const [first, second] = await Promise.all([
      sendHint(receiver.port, signHint('one')),
      sendHint(receiver.port, signHint('one')),
    ])
    assert.deepEqual([first, second], [204, 204])
    assert.deepEqual(await readdir(folder.path), ['one.open'])
    assert.deepEqual(receiver.open(), ['one'])
  })

  it('takes a repeated attempt, which is signed anew, and what both keys signed', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    assert.equal(await sendHint(receiver.port, signHint('one', { at: Date.now() - 200_000 })), 204)
    const other = signHint('two', { key: `whsec_${Buffer.alloc(32, 9).toString('base64')}` })
    const ours = signHint('two')
    const headers = {
      ...ours.headers,
      'webhook-signature': `${other.headers['webhook-signature']} ${ours.headers['webhook-signature']}`,
    }
    assert.equal(await sendHint(receiver.port, { ...ours, headers }), 204)
    assert.deepEqual(receiver.open(), ['one', 'two'])
  })

  it('refuses hints that are forged, changed, stale, early or unsigned, and writes nothing down', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    const right = signHint('one')
    const wrong = [
      signHint('one', { key: `whsec_${Buffer.alloc(32, 9).toString('base64')}` }),
      { ...right, body: right.body.replace('sesn_1', 'sesn_2') },
      { ...right, headers: { ...right.headers, 'webhook-id': 'another' } },
      signHint('one', { at: Date.now() - 310_000 }),
      signHint('one', { at: Date.now() + 310_000 }),
      { ...right, headers: {} },
    ]
    for (const each of wrong) assert.equal(await sendHint(receiver.port, each), 401)
    assert.deepEqual([await readdir(folder.path), receiver.open()], [[], []])
  })

  it('ignores other events, other methods and long bodies', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    assert.equal(await sendHint(receiver.port, signHint('one', { type: 'session.created' })), 204)
    assert.equal(await sendHint(receiver.port, signHint('../../two')), 204)
    const { status } = await fetch(`http://127.0.0.1:${receiver.port}/`)
    assert.equal(status, 405)
    const long = { ...signHint('three'), body: 'x'.repeat(100_000) }
    assert.equal(await sendHint(receiver.port, long), 413)
    assert.deepEqual(await readdir(folder.path), [])
  })

  it('lets the sender try again when it cannot write', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    await rm(folder.path, { recursive: true })
    assert.equal(await sendHint(receiver.port, signHint('one')), 500)
    assert.deepEqual(receiver.open(), [])
  })
})

describe('hints', () => {
  it('make a poller ask at once, and are settled by what it asked afterwards', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    await using stub = await stubService()
    const stop = new AbortController()
    const ended = pollOn(
      {
        ...{ service: serviceOf(stub), hints: receiver, most: 1, pauseMs: hourMs },
        ...{ reclaimMs: 5_000, acknowledges: true, reached: () => {} },
        ...{ log: quiet, run: async () => {} },
      },
      stop.signal,
    )
    await stub.until('GET work/poll', 1)
    await sendHint(receiver.port, signHint('one'))
    await stub.until('GET work/poll', 2)
    await sendHint(receiver.port, signHint('one'))
    await sendHint(receiver.port, signHint('two'))
    await stub.until('GET work/poll', 3)
    while (receiver.open().length > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(stub.polls.length, 3)
    stop.abort()
    await ended
  })

  /** A launcher that looks at the queue when it starts and when it is told to. */
  function launching(stub: ServiceStub, hints: Hints, most = 8) {
    const stop = new AbortController()
    let starts = 0
    const over: (() => void)[] = []
    const launch = (): Promise<void> => {
      starts++
      return new Promise((resolve) => over.push(resolve))
    }
    const ended = launchOn(
      {
        ...{ service: serviceOf(stub), hints, most, pauseMs: hourMs, startMs: 10_000 },
        ...{ launch, reached: () => {}, log: quiet },
      },
      stop.signal,
    )
    const until = async (is: () => boolean) => {
      while (!is()) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return {
      ...{ until, over, starts: () => starts },
      async [Symbol.asyncDispose]() {
        stop.abort()
        for (const each of over) each()
        await ended
      },
    }
  }

  it('start a sandbox where the queue cannot be seen, and are settled when it has ended', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    await using stub = await stubService()
    stub.depth = undefined
    await using launched = launching(stub, receiver)
    await sendHint(receiver.port, signHint('one'))
    await launched.until(() => launched.starts() === 1)
    assert.deepEqual(receiver.open(), ['one'])
    await sendHint(receiver.port, signHint('one'))
    await sendHint(receiver.port, signHint('two'))
    await launched.until(() => launched.starts() === 2)
    launched.over[0]?.()
    await launched.until(() => receiver.open().length === 1)
    assert.deepEqual(await readdir(folder.path), ['one.done', 'two.open'])
  })

  it('that were written down before a crash start their sandbox after it', async () => {
    await using folder = await folderOf()
    const before = await intentsIn(folder.path, Date.now())
    await before.keep('one', '')
    await using receiver = await receiving(folder.path)
    await using stub = await stubService()
    stub.depth = undefined
    await using launched = launching(stub, receiver)
    await launched.until(() => launched.starts() === 1)
  })

  it('that come when nothing waits start nothing', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    await using stub = await stubService()
    await using launched = launching(stub, receiver)
    await sendHint(receiver.port, signHint('late'))
    await launched.until(() => receiver.open().length === 0)
    assert.equal(launched.starts(), 0)
  })

  it('beyond what may run at once wait until one has ended', async () => {
    await using folder = await folderOf()
    await using receiver = await receiving(folder.path)
    await using stub = await stubService()
    stub.depth = 2
    await using launched = launching(stub, receiver, 1)
    await launched.until(() => launched.starts() === 1)
    await sendHint(receiver.port, signHint('one'))
    stub.depth = 1
    launched.over[0]?.()
    await launched.until(() => launched.starts() === 2)
    assert.deepEqual(receiver.open(), ['one'])
  })
})
