import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { listLive, openLive } from './live-folder.ts'
import { indexLive } from './live-index.ts'

const { signal } = new AbortController()
const page = { limit: 100, after: undefined }

describe('the folder of a session that goes on', () => {
  let folder: string
  const at = (...names: string[]) => join(folder, 'workspace', ...names)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-live-'))
    await mkdir(at('in'), { recursive: true })
    await writeFile(join(folder, 'secret'), 'secret')
  })
  after(() => rm(folder, { recursive: true }))
  const open = (...names: string[]) => openLive(at(), names)
  const index = () => indexLive({ folder: at(), root: 'workspace', skipped: '.git' }, signal)
  /** Open descriptors of this process that lead into the folder. */
  async function opened(): Promise<number> {
    const paths = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    )
    return paths.filter((path) => path.startsWith(folder)).length
  }

  it('gives the bytes that a file had as it was opened, and none for a shorter one', async () => {
    await writeFile(at('log'), 'first')
    const grown = await open('log')
    assert.ok(grown)
    await appendFile(at('log'), ' and second')
    assert.equal(await text(grown.read(0, grown.size)), 'first')
    const shrunk = await open('log')
    assert.equal(shrunk?.size, 16)
    await truncate(at('log'), 3)
    await assert.rejects(text(shrunk.read(0, shrunk.size)), /became shorter/)
    const left = await open('log')
    const reading = left?.read(0, left.size)
    reading?.destroy()
    await once(reading ?? process, 'close')
    await (await open('log'))?.close()
    assert.equal(await opened(), 0)
  })

  it('does not follow a link out of it, whatever it becomes while it is looked at', async () => {
    await writeFile(at('in', 'secret'), 'mine')
    await rename(at('in'), at('before'))
    await symlink(folder, at('in'))
    assert.equal(await open('in', 'secret'), undefined)
    assert.equal(await open('in', '..', 'secret'), undefined)
    assert.equal(await open('before', '..', '..', 'secret'), undefined)
    assert.equal(await listLive(at(), ['in'], page), undefined)
    const { entries } = await index()
    assert.equal(entries.get('workspace/in')?.kind, 'link')
    assert.equal(entries.get('workspace/in')?.target, folder)
    assert.equal(entries.has('workspace/in/secret'), false)
    await rm(join(folder, 'link'), { force: true })
    await symlink(folder, join(folder, 'link'))
    assert.equal(await listLive(join(folder, 'link'), [], page), undefined)
  })

  it('opens no pipe, and is read on beside names that are no UTF-8 and very deep folders', async () => {
    execFileSync('/usr/bin/mkfifo', [at('pipe')])
    await mkdir(at(...Array<string>(120).fill('d')), { recursive: true })
    await writeFile(Buffer.concat([Buffer.from(`${at()}/`), Buffer.alloc(100, 0xff)]), 'bytes')
    assert.equal(await open('pipe'), undefined)
    const { entries, unread } = await index()
    assert.equal(entries.get('workspace/pipe')?.kind, 'other')
    assert.equal(entries.get(`workspace/${'\u00ff'.repeat(100)}`)?.size, 5)
    assert.match(unread[0]?.reason ?? '', /more than 100 folders/)
    const listing = await listLive(at(), [], page)
    assert.deepEqual(
      listing?.entries.filter(({ shown }) => !shown.is_exact).map(({ shown }) => shown.size),
      [5],
    )
    assert.equal(await opened(), 0)
  })
})
