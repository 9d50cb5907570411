import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { startProcess } from './process.ts'
import { readProcessSettings } from './settings.ts'

const secret = 'shared by service and process'
const signing = 'a secret of the app at its provider'
const hooks = '/v1/ext/integrations'

describe('the integrations process', () => {
  type Passed = { method: string; url: string; headers: IncomingHttpHeaders; body: string }
  let passed: Passed[] = []
  let reply: { status: number; headers?: Record<string, string>; body?: string } = { status: 200 }
  const service = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.once('end', () => {
      passed.push({ method, url, headers, body: Buffer.concat(pieces).toString() })
      response.writeHead(reply.status, reply.headers).end(reply.body)
    })
  })
  let logged = ''
  let running: Awaited<ReturnType<typeof startProcess>>
  let base = ''
  const environment = () => ({
    ...{ PORT: '0', INTEGRATIONS_INTERNAL_SECRET: secret },
    INTEGRATIONS_SERVICE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}/`,
    INTEGRATIONS_GITHUB_WEBHOOK_SECRET: signing,
  })

  before(async () => {
    await once(service.listen(0, '127.0.0.1'), 'listening')
    running = await startProcess(readProcessSettings(environment()), {
      log: jsonLog((line) => (logged += line)),
      clock: systemClock,
    })
    base = `http://127.0.0.1:${running.port}`
  })
  after(async () => {
    await running.close()
    service.close()
  })
  beforeEach(() => {
    passed = []
    reply = { status: 200 }
  })

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${base}${hooks}${path}`, { method: 'POST', headers, body })
  const signed = (body: string, key = signing) => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  })

  it('passes on the bytes that were signed, with the headers of deliveries and its secret alone', async () => {
    const body = '{ "action" : "créé" }'
    const given = { ...signed(body), authorization: 'Bearer mine', 'x-integrations-secret': 'mine' }
    reply = {
      status: 200,
      headers: { 'set-cookie': 'a=b', 'content-type': 'text/plain' },
      body: 'ok',
    }
    const answer = await post('/github/webhook?of=one', body, { ...given, cookie: 'c' })
    assert.deepEqual(
      [answer.status, await answer.text(), answer.headers.get('set-cookie')],
      [200, 'ok', null],
    )
    const [one] = passed
    assert.equal(passed.length, 1)
    assert.deepEqual([one?.url, one?.body], [`${hooks}/github/webhook?of=one`, body])
    const headers = one?.headers ?? {}
    assert.equal(headers['x-integrations-secret'], secret)
    assert.equal(headers['x-forwarded-for'], '127.0.0.1')
    assert.equal(headers['x-hub-signature-256'], given['x-hub-signature-256'])
    assert.deepEqual([headers.authorization, headers.cookie], [undefined, undefined])
  })

  it('refuses forged deliveries if it has the secret, and passes the rest to the service', async () => {
    assert.equal(
      (await post('/github/webhook', '{}', signed('{}', 'another secret of 24 bytes'))).status,
      401,
    )
    assert.equal((await post('/github/webhook', '{}')).status, 401)
    assert.equal(passed.length, 0)
    reply = { status: 404, body: '{}' }
    const headers = { 'webhook-id': 'one', 'content-type': 'application/json' }
    const path = '/webhook/webhook/pub_1?workspace=wrk_1'
    assert.equal((await post(path, '{}', headers)).status, 404)
    assert.deepEqual([passed[0]?.url, passed[0]?.headers['webhook-id']], [`${hooks}${path}`, 'one'])
  })

  it('reaches nothing else of the service', async () => {
    for (const path of [
      '/v1/agents',
      `${hooks}/github/install`,
      `${hooks}/webhook/callback`,
      '/readyz',
    ])
      assert.equal((await fetch(base + path)).status, 404, path)
    for (const path of ['/webhook/webhook', '/webhook/webhook/..%2f..%2fagents', '/other/webhook'])
      assert.equal((await post(path, '{}')).status, 404, path)
    const socket = connect(running.port, '127.0.0.1')
    socket.end(
      `GET http://other.example${hooks}/../../agents HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    )
    assert.match(await text(socket), /^HTTP\/1.1 404 /)
    assert.equal(passed.length, 0)
    assert.equal((await fetch(`${base}/healthz`)).status, 200)
  })

  it('passes people who return from their provider to the service, with their sign-in', async () => {
    reply = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '{"id":"inst_1"}',
    }
    const url = `${base}${hooks}/github/callback?code=a&state=b%20c`
    const answer = await fetch(url, { headers: { cookie: 'session=1' } })
    assert.deepEqual(await answer.json(), { id: 'inst_1' })
    assert.equal(passed[0]?.url, `${hooks}/github/callback?code=a&state=b%20c`)
    assert.equal(passed[0]?.headers.cookie, 'session=1')
  })

  it('has a delivery sent again that the service did not take', async () => {
    reply = { status: 503, headers: { 'retry-after': '3' } }
    const busy = await post('/linear/webhook', '{}')
    assert.deepEqual([busy.status, busy.headers.get('retry-after')], [503, '3'])
    const away = await startProcess(
      readProcessSettings({ ...environment(), INTEGRATIONS_SERVICE_URL: 'http://127.0.0.1:1' }),
      { log: jsonLog((line) => (logged += line)), clock: systemClock },
    )
    const answer = await fetch(`http://127.0.0.1:${away.port}${hooks}/linear/webhook`, {
      ...{ method: 'POST', body: '{}' },
    })
    await away.close()
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '1'])
    assert.match(logged, /gave no answer/)
    assert.ok(!logged.includes(secret) && !logged.includes(signing))
  })

  it('takes no body that is too large, however it comes', async () => {
    const large = JSON.stringify('x'.repeat(26 * 1024 * 1024))
    assert.equal((await post('/linear/webhook', large)).status, 413)
    const pieces = new Blob([large]).stream()
    const options = { method: 'POST', body: pieces, duplex: 'half' } as const
    const late = await fetch(`${base}${hooks}/linear/webhook`, options)
    assert.equal(late.status, 413, await late.text())
    assert.equal(passed.length, 0)
  })

  it('does not start without the address of the service and the secret, nor with a setting that is none', () => {
    const problems = (environment: Record<string, string>) => () => readProcessSettings(environment)
    assert.throws(
      problems({}),
      /INTEGRATIONS_SERVICE_URL must be set.*INTEGRATIONS_INTERNAL_SECRET/s,
    )
    const mistaken = { ...environment(), INTEGRATIONS_GITHUB_WEBHOK_SECRET: 'x' }
    assert.throws(problems(mistaken), /INTEGRATIONS_GITHUB_WEBHOOK_SECRET\?/)
  })
})
