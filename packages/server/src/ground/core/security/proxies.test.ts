import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProxies, parseNoProxy, parseProxyUrl } from './proxies.ts'

const proxy = new URL('http://proxy.example:3128')

function past(noProxy: string): (host: string, port?: number) => boolean {
  const { proxyOf } = createProxies({
    httpsProxy: proxy,
    httpProxy: undefined,
    noProxy: parseNoProxy(noProxy),
    resolves: false,
  })
  return (host, port = 443) => proxyOf({ host, port, isSecure: true }) === undefined
}

describe('the list of what is reached past the proxy', () => {
  it('holds names with all names below them', () => {
    for (const written of ['a.example', '.a.example', '*.a.example', 'x b, A.Example']) {
      const isPast = past(written)
      for (const host of ['a.example', 'b.a.example', 'A.EXAMPLE', 'a.example.'])
        assert.ok(isPast(host), `${written}: ${host}`)
      for (const host of ['ba.example', 'example', 'a.example.com']) assert.ok(!isPast(host), host)
    }
  })

  it('holds addresses and ranges, which are no names', () => {
    const isPast = past('10.0.0.0/8,192.0.2.7,fd00::/8,[2001:db8::1]')
    for (const host of ['10.1.2.3', '192.0.2.7', '[fd00::7]', '2001:db8::1', '::ffff:10.0.0.1'])
      assert.ok(isPast(host), host)
    for (const host of ['11.0.0.1', '192.0.2.8', '[2001:db8::2]', 'a.example'])
      assert.ok(!isPast(host), host)
  })

  it('may name one port, or everything', () => {
    const isPast = past('a.example:8443,[fd00::1]:8443,192.0.2.7:1')
    assert.ok(isPast('b.a.example', 8443) && isPast('[fd00::1]', 8443) && isPast('192.0.2.7', 1))
    assert.ok(!isPast('a.example') && !isPast('[fd00::1]') && !isPast('192.0.2.7'))
    assert.ok(past('*')('a.example'))
  })

  it('always holds this machine', () => {
    const isPast = past('')
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]'])
      assert.ok(isPast(host), host)
    assert.ok(!isPast('a.example') && !isPast('8.8.8.8'))
  })

  it('is of no matter where there is no proxy for the scheme', () => {
    const { proxyOf } = createProxies({
      httpsProxy: proxy,
      httpProxy: undefined,
      noProxy: [],
      resolves: false,
    })
    assert.equal(proxyOf({ host: 'a.example', port: 443, isSecure: true }), proxy)
    assert.equal(proxyOf({ host: 'a.example', port: 80, isSecure: false }), undefined)
  })
})

describe('the URL of a proxy', () => {
  it('is http or https, and may lack its scheme', () => {
    assert.equal(parseProxyUrl('http://u:p@a.example:3128')?.host, 'a.example:3128')
    assert.equal(parseProxyUrl('https://a.example')?.protocol, 'https:')
    assert.equal(parseProxyUrl('a.example:3128')?.href, 'http://a.example:3128/')
    for (const text of ['socks5://a.example:1080', 'http://', 'a b', 'http://a:%b@c'])
      assert.equal(parseProxyUrl(text), undefined, text)
  })
})
