import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFile,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { zstdCompressSync } from 'node:zlib'
import { packFolders } from './archive.ts'
import { ArchiveError, readArchive } from './archive-entries.ts'
import type { FolderIndex } from './archive-index.ts'
import { indexArchive, mergeIndexes } from './archive-index.ts'
import { settledMs } from './settled-time.ts'

const { signal } = new AbortController()
const hashOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')
async function* once(bytes: Buffer) {
  yield bytes
}
const partOf = (key: string, bytes: Buffer) => ({ key, size: bytes.length, sha256: hashOf(bytes) })
const indexOf = (key: string, bytes: Buffer) =>
  indexArchive(partOf(key, bytes), once(bytes), signal)
const filesOf = (index: FolderIndex) =>
  new Map([...index].flatMap(([path, { kind, hash }]) => (kind === 'file' ? [[path, hash]] : [])))

describe('the index of an archive', () => {
  let folder: string
  const at = (...names: string[]) => join(folder, 'workspace', ...names)
  const long = 'n'.repeat(120)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-index-'))
    await mkdir(at('src', 'old'), { recursive: true })
  })
  after(() => rm(folder, { recursive: true }))
  const pack = (snapshot: string) =>
    buffer(packFolders(folder, ['workspace'], join(folder, snapshot)))

  it('is known by the whole archive and the changes, as tar would extract them', async () => {
    await writeFile(at('src', 'a'), 'one')
    await writeFile(at('src', 'old', 'gone'), 'gone')
    await writeFile(at('becomes'), 'a file')
    await mkdir(at(long, long), { recursive: true })
    await writeFile(at(long, long, `${long}ü`), 'deep')
    await writeFile(at('twin'), 'shared')
    await link(at('twin'), at('twin of it'))
    await symlink(`/etc/${long}`, at('link'))
    const holes = await open(at('holes'), 'w')
    await holes.write('end', 5_000_000)
    await holes.close()
    await setTimeout(3 * settledMs)
    const base = await pack('whole')
    await copyFile(join(folder, 'whole'), join(folder, 'changes'))
    await appendFile(at('src', 'a'), 'two')
    await rm(at('src', 'old'), { recursive: true })
    await rm(at('becomes'))
    await mkdir(at('becomes'))
    await writeFile(at('becomes', 'inner'), 'new')
    await rename(at('twin'), at('moved'))
    const delta = await pack('changes')
    const merged = await mergeIndexes(await indexOf('base', base), await indexOf('delta', delta))
    const expected = new Map<string, string>()
    const listed = execFileSync('find', ['workspace', '-type', 'f', '-print0'], { cwd: folder })
    for (const path of listed.toString('latin1').split('\0').filter(Boolean))
      expected.set(
        path,
        hashOf(
          await readFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')])),
        ),
      )
    const sorted = (files: ReadonlyMap<string, string | null>) =>
      [...files].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const found = filesOf(merged)
    assert.ok(found.has('workspace/holes'))
    for (const files of [found, expected]) files.delete('workspace/holes')
    assert.deepEqual(sorted(found), sorted(expected))
    assert.equal(merged.get('workspace/link')?.target, `/etc/${long}`)
    assert.equal(merged.get('workspace/becomes')?.kind, 'folder')
    assert.equal(merged.get('workspace/holes')?.size, 5_000_003)
    assert.equal(merged.get('workspace/src/a')?.archive, 'delta')
    assert.equal(merged.get('workspace/holes')?.archive, 'base')
  })

  it('is not believed of an archive with other bytes, a cut archive or a missing one', async () => {
    const whole = await pack('again')
    const other = indexArchive(partOf('x', Buffer.from('other')), once(whole), signal)
    await assert.rejects(other, ArchiveError)
    for (const bytes of ['', 'no archive at all', 'x'.repeat(2_000)]) {
      const packed = zstdCompressSync(Buffer.from(bytes))
      await assert.rejects(indexOf('x', packed), ArchiveError)
    }
    await assert.rejects(indexOf('x', whole.subarray(0, whole.length - 20)), ArchiveError)
  })

  it('is read no further once the reading is ended, however much it expands to', async () => {
    const head = Buffer.alloc(512)
    head.write('workspace/bomb')
    head.write('77777777777\0', 124)
    head.write('ustar  \0', 257)
    head.write('        ', 148)
    const sum = head.reduce((total, byte) => total + byte, 0)
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    async function* bomb() {
      yield zstdCompressSync(head)
      const zeros = zstdCompressSync(Buffer.alloc(4 * 1024 * 1024))
      for (;;) yield zeros
    }
    const ended = AbortSignal.timeout(200)
    const reading = indexArchive(partOf('x', Buffer.from('')), bomb(), ended)
    await assert.rejects(reading, { name: 'TimeoutError' })
  })

  it('is read no further when its reader stops', async () => {
    const whole = await pack('left')
    for await (const { entry } of readArchive(once(whole), signal)) {
      assert.equal(entry.path, 'workspace')
      break
    }
  })
})
