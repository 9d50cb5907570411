import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogLevel } from './log.ts'
import { jsonLog } from './log.ts'

function recorded(least?: LogLevel) {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), least)
  const last = () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>
  return { log, lines, last }
}

describe('the log', () => {
  it('writes one line of JSON a record', () => {
    const { log, lines, last } = recorded()
    log.info('two\nlines', { session_id: 'sesn_1', count: 2 })
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /^[^\n]+\n$/)
    const { time, ...rest } = last()
    assert.ok(!Number.isNaN(Date.parse(String(time))))
    assert.deepEqual(rest, {
      level: 'info',
      message: 'two\nlines',
      session_id: 'sesn_1',
      count: 2,
    })
  })

  it('omits lines below its least level', () => {
    const { log, lines } = recorded('warn')
    log.debug('one')
    log.info('two')
    log.warn('three')
    log.error('four')
    assert.equal(lines.length, 2)
  })

  it('hides what a field’s name says is secret, however deep it lies', () => {
    const { log, lines } = recorded()
    const hidden = 'hush'
    log.info('a request', {
      Authorization: hidden,
      headers: { 'x-api-key': hidden, cookie: hidden, 'set-cookie': hidden },
      list: [{ api_key: hidden, apiKey: hidden, access_token: hidden, refreshToken: hidden }],
      config: { PLATFORM_ROOT_SECRET: hidden, password: [hidden], credential: { value: hidden } },
      fallbackKeys: { anthropic: hidden },
      secrets: [hidden],
    })
    assert.ok(!lines[0]?.includes(hidden), lines[0])
  })

  it('shows what only sounds like a secret', () => {
    const { log, last } = recorded()
    const shown = { input_tokens: 5, key_id: 'apikey_1', monkey: 'yes', keyboard: 'yes' }
    log.info('numbers', shown)
    const { time: _time, level: _level, message: _message, ...rest } = last()
    assert.deepEqual(rest, shown)
  })

  it('hides keys of ours, bearer values and provider keys wherever they occur in a text', () => {
    const { log, lines } = recorded()
    const error = new Error('key stw_key_abc-DEF_1 was refused')
    log.info('a key stw_env_xyz was used', {
      note: 'stw_claim_0123 and "stw_key_4567"',
      header: 'authorization: Bearer abc.def-ghi',
      answer: 'Incorrect API key provided: sk-ant-api03-secretsecret.',
      error,
    })
    assert.doesNotMatch(
      lines.join(''),
      /abc-DEF_1|_xyz|_0123|_4567|abc\.def|secretsecret/,
      lines.join(''),
    )
  })

  it('shows errors with their code and the causes below them', () => {
    const { log, last } = recorded()
    const root = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' })
    const error = new Error('no answer', { cause: new TypeError('fetch failed', { cause: root }) })
    log.error('a request failed', { error })
    const shown = last()['error'] as Record<string, Record<string, Record<string, string>>>
    assert.equal(shown['message'], 'no answer')
    assert.equal(shown['cause']?.['name'], 'TypeError')
    assert.equal(shown['cause']?.['cause']?.['message'], 'connection refused')
    assert.equal(shown['cause']?.['cause']?.['code'], 'ECONNREFUSED')
    assert.match(JSON.stringify(shown['stack']), /log\.test\.ts/)
  })

  it('keeps its own time, level and message when a field has the same name', () => {
    const { log, last } = recorded()
    log.warn('mine', { message: 'yours', level: 'info', time: 'never' })
    assert.equal(last()['message'], 'mine')
    assert.equal(last()['level'], 'warn')
    assert.notEqual(last()['time'], 'never')
  })

  it('never throws for what it is given, and ends where values are circular', () => {
    const { log, last } = recorded()
    const circle: Record<string, unknown> = { at: new Date(0), big: 10n, bytes: Buffer.alloc(9) }
    circle['self'] = circle
    const error = new Error('round')
    error.cause = error
    log.info('odd values', { circle, error, nothing: undefined, none: null })
    const shown = last()['circle'] as Record<string, unknown>
    assert.equal(shown['at'], '1970-01-01T00:00:00.000Z')
    assert.equal(shown['big'], '10')
    assert.equal(shown['bytes'], '[9 bytes]')
  })
})
