import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { packZip } from '@steward/server/resources/skills/zip.ts'
import { foundIn, foundInFolder, newCanary } from './canary.ts'

describe('a canary', () => {
  it('is found in every spelling, in part and in the midst of something else', () => {
    const canary = newCanary('mine')
    const { secret } = canary
    const core = /[\da-f]{32}/.exec(secret)?.[0] ?? ''
    const of = (text: string, encoding: BufferEncoding) => Buffer.from(text).toString(encoding)
    for (const text of [
      secret,
      JSON.stringify({ secret }),
      JSON.stringify(JSON.stringify({ secret })),
      encodeURIComponent(secret),
      new URLSearchParams({ secret }).toString(),
      core.slice(0, 20),
      core.slice(-20),
      ...['', 'a', 'ab'].map((before) => of(`${before}${secret}z`, 'base64')),
      of(`a${JSON.stringify(secret)}`, 'base64url'),
      of(secret, 'hex'),
    ]) {
      assert.deepEqual(foundIn([canary], 'here', `before ${text} after`), ['mine in here'], text)
    }
    assert.deepEqual(foundIn([newCanary('another')], 'here', secret), [])
  })

  it('is found wherever it begins', () => {
    const canary = newCanary('mine')
    const core = /[\da-f]{32}/.exec(canary.secret)?.[0] ?? ''
    const content = Buffer.alloc(80, '.')
    for (let at = 0; at <= content.length - core.length; at++)
      for (const half of [core.slice(0, 16), core.slice(16)]) {
        // A Buffer of Node can begin at any offset of its memory.
        const bytes = Buffer.concat([content, content]).subarray(at % 7, 100)
        bytes.fill('.').write(half, at)
        assert.deepEqual(foundIn([canary], 'here', bytes), ['mine in here'], `${at}`)
        bytes.write('!', at + 7)
        assert.deepEqual(foundIn([canary], 'here', bytes), [], `${at}`)
      }
  })

  it('is found in files, packed ones and their names too', async () => {
    const canary = newCanary('mine')
    const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
    const content = Buffer.from(`x${canary.secret}`)
    const core = /[\da-f]{32}/.exec(canary.secret)?.[0] ?? ''
    await writeFile(join(folder, 'a'), gzipSync(gzipSync(content)))
    await writeFile(join(folder, 'b'), zstdCompressSync(content))
    await writeFile(join(folder, core), '')
    const packed = [{ path: 'f', bytes: content, executable: false }]
    await writeFile(join(folder, 'c'), await packZip({ name: 'n', files: packed }))
    const { hits, files } = await foundInFolder([canary], folder)
    await rm(folder, { recursive: true })
    assert.deepEqual(hits.toSorted(), [
      'mine in a',
      'mine in b',
      'mine in c',
      `mine in the name ${core}`,
    ])
    assert.equal(files.length, 4)
  })
})
