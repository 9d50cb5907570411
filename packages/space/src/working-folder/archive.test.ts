import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { runWithFewFiles } from '@steward/base/files-fixture.ts'
import { packFolders, unpackArchive } from './archive.ts'

const moduleOf = (name: string) => JSON.stringify(import.meta.resolve(name))

describe('archives of a working folder', () => {
  it('an archive holds nothing of the machine, whatever becomes of a folder while it is read', async () => {
    await using folder = await temporary()
    const path = (name: string) => join(folder.path, name)
    await mkdir(path('elsewhere/sub'), { recursive: true })
    await writeFile(path('elsewhere/sub/file'), 'secret')
    await mkdir(path('own/workspace/z/sub'), { recursive: true })
    await writeFile(path('own/workspace/z/sub/file'), 'mine')
    await writeFile(path('own/workspace/a'), crypto.getRandomValues(Buffer.alloc(65_536)))
    for (let n = 0; n < 400; n++)
      await writeFile(path(`own/workspace/b${n}`), crypto.getRandomValues(Buffer.alloc(65_536)))
    async function* swapped() {
      let isSwapped = false
      for await (const piece of packFolders(path('own'), ['workspace'], path('snapshot'))) {
        if (!isSwapped) {
          await rename(path('own/workspace/z'), path('away'))
          await symlink(path('elsewhere'), path('own/workspace/z'))
        }
        isSwapped = true
        yield piece
      }
    }
    await mkdir(path('there'))
    await unpackArchive(path('there'), swapped()).catch(() => {})
    assert.ok(existsSync(path('there/workspace/a')))
    assert.equal(existsSync(path('there/workspace/z/sub/file')), false)
  })

  /** The content, in the archive of changes, of a file that was written right before the earlier archive. */
  async function heldAgain(): Promise<string | undefined> {
    await using folder = await temporary()
    const path = (name: string) => join(folder.path, name)
    const pack = () => buffer(packFolders(path('own'), ['workspace'], path('snapshot')))
    await mkdir(path('own/workspace'), { recursive: true })
    await writeFile(path('own/workspace/file'), 'text')
    await pack()
    const changes = await pack()
    await mkdir(path('there'))
    await unpackArchive(path('there'), Readable.from([changes]))
    const file = path('there/workspace/file')
    return existsSync(file) ? readFile(file, 'utf8') : undefined
  }

  it('an archive of changes holds again the changes right before the last one', async () => {
    let held: string | undefined
    // On a loaded machine tar may begin so late that the change is no longer right before.
    for (let tries = 0; held === undefined && tries < 10; tries++) held = await heldAgain()
    assert.equal(held, 'text')
  })

  it('an archive that tar cannot be started for fails where it is read, and ends no process', async () => {
    await using folder = await temporary()
    await mkdir(join(folder.path, 'workspace'))
    const program = `
      import { buffer } from 'node:stream/consumers'
      import { packFolders, unpackArchive } from ${moduleOf('./archive.ts')}
      import { canConfine } from ${moduleOf('./confine-command.ts')}
      await canConfine()
      const folder = process.argv.at(-1)
      const pack = () => buffer(packFolders(folder, ['workspace'], folder + '/snapshot'))
      const archive = await pack()
      for (const left of [1, 2, 3, 4, 5]) {
        const giveBack = hold(left)
        await pack().catch(() => {})
        await unpackArchive(folder, (async function* () { yield archive })()).catch(() => {})
        await new Promise((resolve) => setTimeout(resolve, 20))
        giveBack()
      }
      process.stdout.write(String((await pack()).length > 0))`
    assert.equal(await runWithFewFiles(program, { words: [folder.path] }), 'true')
  })

  async function temporary() {
    const path = await mkdtemp(join(tmpdir(), 'steward-archive-'))
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
  }
})
