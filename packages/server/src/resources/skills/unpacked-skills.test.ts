import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import { readBuiltinSkills } from './builtin.ts'
import type { SkillVersionRow } from './store.ts'
import { removeUnusedSkills, unpackedSkills } from './unpacked-skills.ts'

const dayMs = 24 * 60 * 60 * 1000

describe('unpacked skills', () => {
  let folder: string
  let row: SkillVersionRow
  let asked = 0
  let now = Date.now()
  const files = [
    { path: 'SKILL.md', bytes: Buffer.from('text'), executable: false },
    { path: 'deep/er/run', bytes: Buffer.from('#!'), executable: true },
  ]
  const unpacked = () =>
    unpackedSkills({
      catalog: { files: async () => (asked++, files) },
      clock: { ...systemClock, now: () => now },
      folder,
    })
  const versionOf = (tenant: string, sha256: string): SkillVersionRow => ({
    ...row,
    ...{ tenant_id: tenant, skill_id: 'skill_1', sha256 },
  })
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-unpacked-'))
    const [given] = (await readBuiltinSkills()).values()
    assert.ok(given)
    row = given.version
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('are made once for all that want them at a time, in each process and over processes', async () => {
    asked = 0
    const [one, other] = [unpacked(), unpacked()]
    const version = versionOf('ws_1', 'aa')
    const path = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).folderOf('ws_1', version)),
    )
    assert.deepEqual([...new Set(path)], [join(folder, 'ws_1', 'aa')])
    assert.equal(asked, 2)
    assert.deepEqual(await readdir(join(folder, 'ws_1')), ['aa'])
    await unpacked().folderOf('ws_1', version)
    assert.equal(asked, 2)
  })

  it('can be read by any user of a sandbox, whatever the umask is', async () => {
    const mask = process.umask(0o077)
    try {
      const folder = await unpacked().folderOf('ws_1', versionOf('ws_1', 'bb'))
      const modeOf = async (path: string) => (await stat(join(folder, path))).mode & 0o777
      assert.equal(await modeOf('.'), 0o755)
      assert.equal(await modeOf('deep'), 0o755)
      assert.equal(await modeOf('deep/er'), 0o755)
      assert.equal(await modeOf('SKILL.md'), 0o644)
      assert.equal(await modeOf('deep/er/run'), 0o755)
      assert.equal(await modeOf('..'), 0o711)
    } finally {
      process.umask(mask)
    }
  })

  it("lie apart for each tenant, and the built-in ones in nobody's", async () => {
    const mine = await unpacked().folderOf('ws_1', versionOf('ws_1', 'cc'))
    const theirs = await unpacked().folderOf('ws_2', versionOf('ws_2', 'cc'))
    assert.notEqual(mine, theirs)
    assert.equal(await unpacked().folderOf('ws_1', row), join(folder, 'builtin', row.sha256))
  })

  it('are never half unpacked at their path', async () => {
    const failing = unpackedSkills({
      catalog: { files: async () => [...files, { ...files[0], path: 'SKILL.md/x' } as never] },
      clock: systemClock,
      folder,
    })
    await assert.rejects(failing.folderOf('ws_3', versionOf('ws_3', 'dd')))
    assert.deepEqual(await readdir(join(folder, 'ws_3')), [])
  })

  it('go when no session has used them for a week', async () => {
    now = Date.now()
    const used = await unpacked().folderOf('ws_4', versionOf('ws_4', 'used'))
    await unpacked().folderOf('ws_4', versionOf('ws_4', 'unused'))
    await mkdir(join(folder, 'ws_4', 'half.made'))
    await writeFile(join(folder, 'ws_4', 'half.made', 'x'), '')
    now += 6 * dayMs
    await unpacked().touch([used])
    await removeUnusedSkills(folder, now)
    assert.equal((await readdir(join(folder, 'ws_4'))).length, 3)
    now += 2 * dayMs
    await removeUnusedSkills(folder, now)
    assert.deepEqual(await readdir(join(folder, 'ws_4')), ['used'])
    assert.equal(await readFile(join(used, 'SKILL.md'), 'utf8'), 'text')
    await removeUnusedSkills(join(folder, 'nowhere'), now)
  })
})
