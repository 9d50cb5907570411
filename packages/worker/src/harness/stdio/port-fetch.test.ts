import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { portFetch } from './port-fetch.ts'

/** A sandbox in which a program answers every request with these bytes. */
const answering = (text: string) =>
  ({
    write: async () => ({ ok: true }),
    aside: async () => ({ output: '', exitCode: 0 }),
    read: async () => ({ ok: true, bytes: Buffer.from(text), size: text.length }),
    remove: async () => {},
  }) as never

describe('HTTP with a program in a sandbox', () => {
  for (const [what, text] of Object.entries({
    'another protocol':
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    'half an answer': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
    'half a head': 'HTTP/1.1 200 OK\r\nContent-',
    'an interim answer alone': 'HTTP/1.1 100 Continue\r\n\r\n',
    'a status that is none': 'HTTP/1.1 999 What\r\n\r\n',
    'no HTTP': 'hello\n',
  }))
    it(`ends where ${what} comes back`, { timeout: 3_000 }, async () => {
      const fetch = portFetch(async () => answering(text), 4001)
      await assert.rejects(fetch('http://127.0.0.1:4001/mcp', { method: 'POST', body: '{}' }))
    })
})
