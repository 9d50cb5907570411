/** Placeholders over plain http, which are not exchanged. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { openTestEgress } from '../callers/egress-fixture.ts'
import { upstreamServer } from '../fixture.ts'
import { createCallRecords } from './records.ts'

const warning = 'a placeholder left over plain http as it is: credentials go over https alone'

function recorded() {
  const lines: Record<string, unknown>[] = []
  const kept = createCallRecords({
    rows: { begin: async () => {}, end: async () => {}, written: async () => {} },
    log: jsonLog((line) => lines.push(JSON.parse(line) as Record<string, unknown>)),
    clock: systemClock,
  })
  return { ...kept, lines, [Symbol.asyncDispose]: () => kept.close() }
}

describe('the record of a placeholder that was sent in the clear', () => {
  it('is made once for each session and host', async () => {
    await using kept = recorded()
    const of = (session: string) => ({ tenant: 'wrkspc_1', session })
    const news = [
      kept.leftInClear(of('sesn_1'), 'api.example'),
      kept.leftInClear(of('sesn_1'), 'api.example'),
      kept.leftInClear(of('sesn_1'), 'other.example'),
      kept.leftInClear(of('sesn_2'), 'api.example'),
      kept.leftInClear(of('sesn_2'), 'api.example'),
    ]
    assert.deepEqual(news, [true, false, true, true, false])
    assert.deepEqual(
      kept.lines.map(({ message, session_id, host }) => [message, session_id, host]),
      [
        [warning, 'sesn_1', 'api.example'],
        [warning, 'sesn_1', 'other.example'],
        [warning, 'sesn_2', 'api.example'],
      ],
    )
  })

  it('remembers ten thousand of them and no more', async () => {
    await using kept = recorded()
    const leave = (n: number) =>
      kept.leftInClear({ tenant: 'wrkspc_1', session: `sesn_${n}` }, 'api.example')
    for (let n = 0; n < 10_000; n++) assert.ok(leave(n))
    assert.equal(leave(0), false)
    assert.equal(leave(10_000), true)
    assert.equal(leave(0), true)
  })
})

/** A session with a variable, its placeholder, and a host that speaks plain http and says back what it is sent. */
async function opened() {
  const server = await upstreamServer(
    async (request, response) => {
      const { url, headers } = request
      response.end(JSON.stringify({ url, headers, body: await text(request) }))
    },
    { tls: false },
  )
  const bench = await openTestEgress(server)
  const { vault } = await bench.vaultWith({
    type: 'environment_variable',
    secret_name: 'API_KEY',
    secret_value: 'canary-variable-0123456789',
    networking: { type: 'unrestricted' },
    injection_location: { header: true, body: true },
  })
  const { id, egress } = await bench.session([vault])
  const { API_KEY: placeholder = '' } = await egress.placeholders()
  const fetch = egress.outboundFetch({ credentials: true })
  return {
    ...{ bench, id, egress, placeholder },
    async say(host: string, init: RequestInit & { path?: string; duplex?: 'half' } = {}) {
      return (await fetch(`http://${host}/${init.path ?? ''}`, init)).text()
    },
    warned: () => egress.takeNotices().map(({ reason, message }) => `${reason} ${message}`),
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe('a placeholder over plain http', () => {
  it('is reported once for each host', async () => {
    await using at = await opened()
    const headers = { 'x-key': at.placeholder }
    await at.say('api.example')
    assert.deepEqual(at.warned(), [])
    const said = await at.say('api.example', { headers })
    assert.ok(said.includes(at.placeholder) && !said.includes('canary'))
    await at.say('api.example', { headers })
    const [told, ...more] = at.warned()
    assert.match(told ?? '', /^egress_in_clear .*went to api\.example over plain http/)
    assert.deepEqual(more, [])
    await at.say('other.example', { path: `?key=${at.placeholder}` })
    assert.match(at.warned().join(), /other\.example/)
    const logged = at.bench.logged.filter(({ message }) => message === warning)
    assert.deepEqual(
      logged.map(({ session_id, host }) => [session_id, host]),
      [
        [at.id, 'api.example'],
        [at.id, 'other.example'],
      ],
    )
  })

  it('is found in a body, whole or cut into pieces, and the body is sent unchanged', async () => {
    await using at = await opened()
    const body = `before ${at.placeholder} after`
    assert.equal(JSON.parse(await at.say('api.example', { method: 'POST', body })).body, body)
    assert.match(at.warned().join(), /api\.example/)
    const pieces = body.split('').map((each) => Buffer.from(each))
    const stream = Readable.toWeb(Readable.from(pieces)) as ReadableStream
    const streamed = { method: 'POST', body: stream, duplex: 'half' } as const
    assert.equal(JSON.parse(await at.say('other.example', streamed)).body, body)
    assert.match(at.warned().join(), /other\.example/)
    await at.say('third.example', { method: 'POST', body: 'stw_placeholder_of_nothing' })
    assert.deepEqual(at.warned(), [])
  })
})
