import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { baseUrl } from './base-url.ts'

describe('the base URL', () => {
  it('is PUBLIC_URL, or an address that a browser can open', () => {
    const of = (host: string, publicUrl?: string) => baseUrl({ host, publicUrl }, 8787)
    assert.equal(of('127.0.0.1', 'https://steward.example.com/'), 'https://steward.example.com')
    assert.equal(of('127.0.0.1'), 'http://127.0.0.1:8787')
    assert.equal(of('steward.lan'), 'http://steward.lan:8787')
    assert.equal(of('0.0.0.0'), 'http://localhost:8787')
    assert.equal(of('::'), 'http://localhost:8787')
    assert.equal(of('::1'), 'http://[::1]:8787')
  })
})
