/** Host owners of a session's files, with a server that is root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { bench, run, say } from '../fixture.ts'
import { SandboxEnded } from '../sandbox.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const provider = bubblewrapSandboxes()
const ordinary = process.getuid?.() !== 0 && 'a server that is no root has no users to give'

/** Owner and permissions of a path. */
const whose = (path: string) => {
  const { uid, gid, mode } = statSync(path)
  return { uid, gid, mode: (mode & 0o7777).toString(8) }
}

describe('a session of bubblewrap under root', { skip: ordinary }, () => {
  it('owns its folders and files alone, at every start', async () => {
    await using setup = bench(provider)
    const mine = setup.spec()
    const first = await provider.acquire(mine)
    await run(first, 'echo secret >file; echo secret >/mnt/session/outputs/file')
    await first.write('/workspace/written', Buffer.from('secret'))
    await first.close()
    const { uid } = statSync(mine.workspace)
    for (const folder of [mine.workspace, mine.outputs]) {
      assert.deepEqual(whose(folder), { uid, gid: uid, mode: '700' })
      assert.deepEqual(whose(join(folder, 'file')), { uid, gid: uid, mode: '644' })
    }
    assert.equal(whose(join(mine.workspace, 'written')).uid, uid)
    const second = await provider.acquire(mine)
    assert.equal(await say(second, 'cat file written && echo more >>file'), 'secret\nsecret')
    await second.close()
    assert.equal(statSync(mine.workspace).uid, uid)
  })

  it('cannot be read by the user of another', async () => {
    await using setup = bench(provider)
    const [mine, other] = [setup.spec(), setup.spec()]
    for (const spec of [mine, other]) {
      const sandbox = await provider.acquire(spec)
      await run(sandbox, 'echo secret >file; chmod 777 file')
      await sandbox.close()
    }
    chmodSync(setup.folder, 0o755)
    const { uid } = statSync(other.workspace)
    const read = (folder: string) =>
      spawnSync('/bin/cat', [join(folder, 'file')], { uid, gid: uid }).stdout.toString()
    assert.deepEqual([read(other.workspace), read(mine.workspace)], ['secret\n', ''])
  })

  it('owns what is mounted for it to write, and nothing that a link there leads to', async () => {
    await using setup = bench(provider)
    const [source, target] = [join(setup.folder, 'mounted'), join(setup.folder, 'of-the-server')]
    mkdirSync(join(source, 'below'), { recursive: true })
    writeFileSync(target, '')
    symlinkSync(target, join(source, 'below/link'))
    const mine = setup.spec({ mounts: [{ source, path: '/mnt/mine', access: 'write' }] })
    const sandbox = await provider.acquire(mine)
    assert.equal(await say(sandbox, 'touch /mnt/mine/below/new && echo made'), 'made')
    await sandbox.close()
    const { uid } = statSync(mine.workspace)
    assert.deepEqual([statSync(join(source, 'below')).uid, statSync(target).uid], [uid, 0])
  })

  it('owns what it made under another user, and names that are no text', async () => {
    await using setup = bench(provider)
    const mine = setup.spec({ isPrefilled: true })
    writeFileSync(Buffer.from(`${mine.workspace}/of-\xff-before`, 'latin1'), '')
    const sandbox = await provider.acquire(mine)
    assert.equal(await say(sandbox, 'echo more >>of-*-before && echo written'), 'written')
    await sandbox.close()
    chownSync(mine.workspace, 0, 0)
    const again = await provider.acquire({ ...mine, isPrefilled: false, id: `${mine.id}other` })
    assert.equal(await say(again, 'echo more >>of-*-before && echo written'), 'written')
    await again.close()
  })

  it('is given nothing by way of a link', async () => {
    await using setup = bench(provider)
    const mine = setup.spec()
    const target = join(setup.folder, 'of-the-server')
    mkdirSync(target, { mode: 0o755 })
    writeFileSync(join(target, 'file'), '')
    symlinkSync(target, join(mine.workspace, 'link'))
    rmSync(mine.outputs, { recursive: true })
    symlinkSync(target, mine.outputs)
    await assert.rejects(provider.acquire(mine), SandboxEnded)
    for (const path of [target, join(target, 'file')]) assert.equal(whose(path).uid, 0)
    assert.equal(whose(target).mode, '755')
  })
})
