import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hostPolicy, isBadPort, normalHost, readHost } from './policy.ts'

describe('a host name', () => {
  it('is compared in lower case, in ASCII, without its last dot', () => {
    assert.equal(normalHost('API.Example.COM'), 'api.example.com')
    assert.equal(normalHost('api.example.com.'), 'api.example.com')
    assert.equal(normalHost('bücher.example'), 'xn--bcher-kva.example')
    assert.equal(normalHost('ｅxample．com'), 'example.com')
    assert.equal(normalHost('under_score.example'), 'under_score.example')
    assert.equal(normalHost('localhost'), 'localhost')
  })

  it('is distinguished from an address in all its forms', () => {
    const forms = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1']
    forms.push(
      '127.0.0.1.',
      '0',
      '１２７.0.0.1',
      '[::1]',
      '::1',
      '[::ffff:7f00:1]',
      '::ffff:1.2.3.4',
    )
    for (const form of forms) assert.equal(readHost(form)?.kind, 'address', form)
  })

  it('is nothing when it holds a character that no name holds', () => {
    const wrong = [
      '',
      '.',
      'a..b',
      'a.b..',
      'user@host',
      'a b',
      'a\0b',
      'a/b',
      'a\\b',
      'a%2eb',
      'a?b',
    ]
    wrong.push(
      'a#b',
      '[a]',
      '[::1',
      '::1]',
      'a:80',
      '-a.b',
      'a-.b',
      'a\r\nb',
      '1.2.3.4.5',
      'a.0x7g.1',
    )
    wrong.push(`${'a'.repeat(64)}.b`, `${'a.'.repeat(127)}aa`, '*.a', 'a\tb', 'a\u00adb\n')
    for (const text of wrong) assert.equal(readHost(text), undefined, JSON.stringify(text))
  })
})

describe('a policy', () => {
  const judged = (policy: Parameters<typeof hostPolicy>[0], ...hosts: string[]) =>
    hosts.map(hostPolicy(policy))

  it('that is not limited lets every name pass', () => {
    assert.deepEqual(judged({ limited: false, allow: [], deny: [] }, 'a.b', 'c'), [
      undefined,
      undefined,
    ])
  })

  it('with an empty allowlist lets nothing pass', () => {
    assert.deepEqual(judged({ limited: true, allow: [], deny: [] }, 'a.b'), ['not_allowed'])
  })

  it('with a denylist alone lets everything else pass', () => {
    const policy = { limited: false, allow: [], deny: ['bad.example'] }
    assert.deepEqual(judged(policy, 'bad.example', 'BAD.example.', 'good.example'), [
      'denied',
      'denied',
      undefined,
    ])
  })

  it('denies a host that it also allows', () => {
    const policy = { limited: true, allow: ['*.example'], deny: ['bad.example', '*.worse.example'] }
    assert.deepEqual(
      judged(policy, 'a.example', 'bad.example', 'a.b.worse.example', 'worse.example'),
      [undefined, 'denied', 'denied', undefined],
    )
  })

  it('takes a star for subdomains of every depth, and not for the suffix itself', () => {
    const policy = { limited: true, allow: ['*.Example.com.'], deny: [] }
    assert.deepEqual(
      judged(policy, 'a.example.com', 'a.b.c.example.com', 'example.com', 'notexample.com', 'com'),
      [undefined, undefined, 'not_allowed', 'not_allowed', 'not_allowed'],
    )
  })

  it('lets no bare address pass, listed or not', () => {
    const hosts = ['127.0.0.1', '2130706433', '[::1]', '8.8.8.8']
    for (const limited of [true, false]) {
      const policy = { limited, allow: ['127.0.0.1', '8.8.8.8'], deny: [] }
      assert.deepEqual(new Set(judged(policy, ...hosts)), new Set(['bare_address']))
    }
  })
})

describe('a port', () => {
  it('of another protocol is refused', () => {
    for (const port of [0, 22, 25, 53, 6667, 10_080, -1, 65_536, 1.5])
      assert.ok(isBadPort(port), `${port}`)
    for (const port of [80, 443, 8080, 8443, 3000, 5432]) assert.ok(!isBadPort(port), `${port}`)
  })
})
