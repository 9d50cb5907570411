import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { describe, it } from 'node:test'
import { databases } from '../../ground/database/fixture.ts'
import { memoryBench } from './fixture.ts'

const notes = '/mnt/memory/notes'

/** A random file name as a session may create it: nearly all bytes, and pieces with a special meaning. */
function anyName(): Buffer {
  const pieces = [
    'a',
    'B',
    '.',
    '..',
    '-',
    ' ',
    '\n',
    '\t',
    '*',
    "'",
    '"',
    '\\',
    '$(x)',
    'é',
    'e\u0301',
    '\u200b',
  ]
  const picked = Array.from(
    { length: randomInt(1, 5) },
    () => pieces[randomInt(pieces.length)] ?? '',
  )
  const bytes = Buffer.concat([
    Buffer.from(picked.join('')),
    randomInt(4) === 0 ? Buffer.of(randomInt(0x80, 0x100)) : Buffer.of(),
  ])
  return ['.', '..'].includes(bytes.toString()) ? Buffer.from('dots') : bytes
}

const quoted = (bytes: Buffer): string =>
  `$'${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`

describe('files of any name in a mounted memory store', () => {
  it('are in the store under just that name, or reported, and never anywhere else', async () => {
    await using setup = await memoryBench(databases.sqlite)
    const store = await setup.newStore()
    const running = await setup.start(await setup.session(store))
    await running.call(`cd ${notes}`)
    for (let round = 0; round < 15; round++) {
      const paths = Array.from({ length: 10 }, () =>
        Array.from({ length: randomInt(1, 4) }, anyName),
      )
      const commands = paths.map((names) => {
        const path = names.map((name, n) => (n === 0 ? './' : '/') + quoted(name)).join('')
        return `mkdir -p -- "$(dirname -- ${path})" && echo x >${path}`
      })
      const { told } = await running.call(`{ ${commands.join('; ')}; } 2>/dev/null`)
      const listed = await running.shell("find . -type f -print0 | od -An -v -tx1 | tr -d ' \\n'")
      const there = splitNul(Buffer.from(listed, 'hex')).map((path) => path.subarray(1))
      const texts = there
        .map((path) => path.toString())
        .filter((path, n) => Buffer.from(path).equals(there[n] ?? Buffer.of()))
      const held = Object.keys(await setup.held(store.id))
      for (const path of held) assert.ok(texts.includes(path), JSON.stringify(path))
      const missing = there.length - held.length
      const lines = told === '' ? 0 : told.split('\n').length
      assert.ok(missing === 0 || lines > 0, `${missing} not kept, and nothing said`)
      for (const path of texts.filter((each) => isPlain(each)))
        assert.ok(held.includes(path), JSON.stringify(path))
      await running.call('find . -mindepth 1 -delete')
      assert.deepEqual(await setup.held(store.id), {})
    }
  })
})

const isPlain = (path: string): boolean =>
  !/[\p{Cc}\p{Cf}]/u.test(path) && path === path.normalize('NFC')

function splitNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0, to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to))
    from = to + 1
  }
  return parts
}
