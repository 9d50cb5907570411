import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { flushPacket, encodePacket, decodePackets } from './packets.ts'
import { readRefs } from './refs.ts'

const id = (digit: string) => digit.repeat(40)
async function* inPieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const advertised = (...lines: string[]) =>
  [
    encodePacket('# service=git-upload-pack\n'),
    flushPacket,
    ...lines.map((line) => encodePacket(`${line}\n`)),
    flushPacket,
  ].join('')
const read = (text: string, size = 7) => readRefs(inPieces(text, size))

describe('the list of refs of a git server', () => {
  it('is read however it is cut', async () => {
    const text = advertised(
      `${id('a')} HEAD\0ofs-delta symref=HEAD:refs/heads/next side-band-64k`,
      `${id('a')} refs/heads/next`,
      `${id('b')} refs/heads/main`,
      `${id('c')} refs/tags/v1`,
      `${id('d')} refs/tags/v1^{}`,
      `${id('e')} refs/pull/1/head`,
    )
    for (const size of [1, 3, 1000]) {
      const { ids, main, capabilities } = await read(text, size)
      assert.deepEqual(Object.fromEntries(ids), {
        'refs/heads/next': id('a'),
        'refs/heads/main': id('b'),
        'refs/tags/v1': id('c'),
      })
      assert.equal(main, 'refs/heads/next')
      assert.ok(capabilities.has('side-band-64k'))
    }
  })

  it('names a default branch where it can be known', async () => {
    const older = advertised(
      `${id('a')} HEAD\0x`,
      `${id('a')} refs/heads/z`,
      `${id('b')} refs/heads/a`,
    )
    assert.equal((await read(older)).main, 'refs/heads/z')
    const detached = advertised(`${id('c')} HEAD\0x`, `${id('a')} refs/heads/z`)
    assert.equal((await read(detached)).main, undefined)
    const empty = advertised(`${id('0')} capabilities^{}\0x`)
    assert.deepEqual([(await read(empty)).ids.size, (await read(empty)).main], [0, undefined])
  })

  it('is refused when it is of another kind', async () => {
    await assert.rejects(read('<!doctype html>'), /git protocol/)
    await assert.rejects(read('0003'), /git protocol/)
    await assert.rejects(read(advertised(`${id('a')} HEAD`).slice(0, -6)), /within a packet/)
    await assert.rejects(
      read(encodePacket('ERR no such repository\n')),
      /^Error: no such repository$/,
    )
    const sha256 = advertised(`${id('a')} HEAD\0object-format=sha256`)
    await assert.rejects(read(sha256), /SHA-1/)
  })

  it('is framed with what git takes for an empty packet', async () => {
    assert.deepEqual(
      await Array.fromAsync(decodePackets(inPieces(`${encodePacket('')}${flushPacket}`, 2))),
      [Buffer.alloc(0), null],
    )
  })
})
