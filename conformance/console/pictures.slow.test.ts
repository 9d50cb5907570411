import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from '../../scripts/house/sources.ts'
import { pictureNames, takePictures } from './pictures.ts'

/** Pixels of a PNG. */
const sizeOf = (bytes: Buffer): [width: number, height: number] => [
  bytes.readUInt32BE(16),
  bytes.readUInt32BE(20),
]
const leastBytes = 20_000

void describe('the pictures of the documentation', () => {
  void it('can be taken of the console as it is: node scripts/pictures.ts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pictures-'))
    try {
      await takePictures(folder)
      assert.deepEqual((await readdir(folder)).toSorted(), pictureNames.toSorted())
      for (const name of pictureNames) {
        const taken = await readFile(join(folder, name))
        assert.deepEqual(sizeOf(taken), [1440, 900], name)
        assert.ok(taken.length > leastBytes, `${name} shows nothing`)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  void it('are all there, and each that a page names', () => {
    const kept = globSync('docs/pictures/*.png', { cwd: root }).map((path) =>
      path.split('/').at(-1),
    )
    assert.deepEqual(new Set(kept), new Set(pictureNames))
    const named = globSync('docs/*.md', { cwd: root }).flatMap((path) => [
      ...readFileSync(`${root}${path}`, 'utf8').matchAll(/\(pictures\/([\w-]+\.png)\)/g),
    ])
    assert.ok(named.length > 0)
    for (const [, name = ''] of named) assert.ok(pictureNames.includes(name), name)
  })
})
