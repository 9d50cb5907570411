/** An upstream that repeats the credential everywhere except in bodies and header values. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { UpstreamListener } from '../fixture.ts'
import { describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import { bearerRow, openTestContext, secret } from './forward-fixture.ts'
import { createMask } from '@steward/mask/mask.ts'
import { maskedError } from './answer-filter.ts'

const url = 'https://api.example/'
const open = (listener: UpstreamListener) => openTestContext([bearerRow(url)], listener)
const stars = '*'.repeat(secret.length)

/** All texts of an error. */
function toldOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const others = error instanceof AggregateError ? error.errors.map(toldOf) : []
  return [error.name, error.message, error.stack, toldOf(error.cause), ...others].join('\n')
}

const failureOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(() => assert.fail('it did not fail'), toldOf)

describe('an upstream that quotes the credential', () => {
  it('is masked in the names of its headers', async () => {
    await using at = await open((_request, response) => {
      response.writeHead(200, [`X-${secret}`, 'value', 'X-Value', secret]).end('ok')
    })
    const { headers, body } = await at.ask(url)
    body.resume()
    const own = headers.filter(([name]) => name.startsWith('X-'))
    assert.deepEqual(own, [
      [`X-${stars}`, 'value'],
      ['X-Value', stars],
    ])
  })

  it('is masked in the encoding that it names, which nobody can read', async () => {
    await using at = await open((_request, response) => {
      response.writeHead(200, { 'content-encoding': secret }).end('ok')
    })
    const told = await failureOf(at.ask(url))
    assert.match(told, /the upstream answered in the content encoding \*+,/)
    assert.ok(!told.includes(secret))
  })

  it('does not get its reason phrase, early hints and trailers passed on', async () => {
    await using at = await open((_request, response) => {
      response.writeEarlyHints({ link: `<https://api.example/${secret}>; rel=preload` })
      response.writeHead(418, secret, { trailer: 'x-last' })
      response.write('ok')
      response.addTrailers({ 'x-last': secret })
      response.end()
    })
    const { body, ...head } = await at.ask(url)
    assert.equal(JSON.stringify([head, await text(body)]).includes(secret), false)
  })

  it('is masked in the error of an answer that breaks off', async () => {
    for (const wire of [
      `HTTP/1.1 200 OK\r\n${secret} x: y\r\n\r\n`,
      `${secret}\r\n\r\n`,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${secret}\r\n`,
    ]) {
      await using at = await open((request) => void request.socket.end(wire))
      const told = await at.ask(url).then(async ({ body }) => {
        body.resume()
        const [error] = (await once(body, 'error')) as [Error]
        return toldOf(error)
      }, toldOf)
      assert.ok(!told.includes(secret), told)
    }
  })

  it('is masked in errors, in what caused them and in what they are made of', () => {
    const inner = new Error(`not in the cert's altnames: DNS:${secret}.example`)
    const reason = new DOMException(`ended by ${secret}`, 'AbortError')
    const error = new AggregateError([reason], 'failed', { cause: inner })
    assert.equal(maskedError(error, createMask([secret])), error)
    const told = toldOf(error)
    assert.ok(!told.includes(secret), told)
    assert.equal(inner.message, `not in the cert's altnames: DNS:${stars}.example`)
    assert.equal(reason.message, `ended by ${stars}`)
  })
})
