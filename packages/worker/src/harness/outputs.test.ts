import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mountOutputs } from './outputs.ts'

describe('outputs of a session', () => {
  it('a file that grows for as long as it is read is given up when it is too large', async () => {
    const sent: number[] = []
    const client = {
      get: async () => ({
        largest: 1_000_000,
        published: [{ filename: 'a', sha256: 'of before' }],
      }),
      async post(_path: string, { body }: { body: AsyncIterable<Uint8Array> }) {
        let bytes = 0
        for await (const piece of body) bytes += piece.length
        sent.push(bytes)
        return { sha256: 'of now' }
      },
    }
    let reads = 0
    const sandbox = {
      walk: async () => ({
        ...{ ok: true, startedUs: 2 },
        files: [{ path: '/mnt/session/outputs/a', size: 1, changedUs: 1, inode: 1 }],
      }),
      read: async (_path: string, { maxBytes }: { maxBytes: number }) => {
        if (++reads > 1_000) throw new Error('it is read for ever')
        return { ok: true, bytes: new Uint8Array(maxBytes), size: 1 }
      },
    }
    const session = { id: 'sesn_1' }
    const outputs = await mountOutputs({ client, session } as never)
    await outputs.changed?.(sandbox as never)
    const [bytes = 0] = sent
    assert.ok(bytes > 1_000_000 && bytes < 2_000_000, `${bytes}`)
  })

  it('a file whose name is not UTF-8 is reported, and nothing is published for it', async () => {
    const client = {
      get: async () => ({ largest: 1_000, published: [] }),
      post: () => Promise.reject(new Error('nothing is published')),
    }
    const path = '/mnt/session/outputs/\ufffd'
    const sandbox = {
      walk: async () => ({
        ok: true,
        startedUs: 2,
        files: [{ path, size: 1, changedUs: 1, inode: 1 }],
      }),
      read: async () => ({ ok: false, code: 'not_found', message: 'No such file or directory' }),
    }
    const outputs = await mountOutputs({ client, session: { id: 'sesn_1' } } as never)
    const told = await outputs.changed?.(sandbox as never)
    assert.deepEqual(told, [`not published: ${path}: its name is not UTF-8`])
  })
})
