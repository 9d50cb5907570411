import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { removeTree } from '@steward/sandbox/remove-tree.ts'
import { WorkspaceDatabaseError } from '../../../ground/core/errors.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Databases } from '../../../ground/database/database.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { databases } from '../../../ground/database/fixture.ts'
import { openFilePerTenant } from '../../../ground/database/per-tenant/fixture.ts'
import { shapesOf } from '../../../ground/database/shapes-fixture.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import { tenant } from '../../../sessions/log/fixture.ts'
import { newSession } from '../../../sessions/fixture.ts'
import { deleteSession } from '../../../sessions/update.ts'
import { leftFolders } from './left-folders.ts'

const day = 24 * 60 * 60_000

/** A folder with sessions that exist, that are deleted, and that have no row. */
async function machineOf(databases: Databases) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-left-'))
  let now = Date.now()
  const pass = leftFolders({
    folder,
    ...testGround(databases, { clock: { ...systemClock, now: () => now } }),
    remove: (session) => removeTree(join(folder, session)),
  })
  return {
    folder,
    pass,
    wait: (ms: number) => (now += ms),
    async lay(session: string) {
      await mkdir(join(folder, session, 'workspace'), { recursive: true })
      await writeFile(join(folder, session, 'workspace', 'file'), 'kept')
      return session
    },
    async passAll() {
      let passes = 1
      while (!(await pass())) passes++
      return passes
    },
    names: async () => (await readdir(folder)).toSorted(),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

for (const [dialect, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`folders of deleted sessions on ${dialect}`, () => {
    // verifies: sessions/delete/folders
    it('are removed from a machine that did not claim the deletion; other folders stay', async () => {
      await using opened = await open()
      const { database } = opened
      await using machine = await machineOf(oneDatabase(database))
      const alive = await machine.lay(await newSession(database))
      const others = await machine.lay(await newSession(database, 'idle', 'wrkspc_2'))
      const gone = await machine.lay(await newSession(database))
      await writeFile(join(machine.folder, 'folder-id'), 'one')
      await mkdir(join(machine.folder, 'lost+found'))
      await database.write((tx) => deleteSession(tx, tenant, gone, 0))
      assert.equal(await machine.passAll(), 1)
      assert.deepEqual(await machine.names(), [alive, others, 'folder-id', 'lost+found'].toSorted())
    })

    it('without a row are removed when they were unused for a week', async () => {
      await using opened = await open()
      await using machine = await machineOf(oneDatabase(opened.database))
      const old = await machine.lay(newId('session'))
      machine.wait(6 * day)
      await machine.passAll()
      assert.deepEqual(await machine.names(), [old])
      machine.wait(2 * day)
      const used = await machine.lay(newId('session'))
      const at = new Date(Date.now() + 7 * day)
      await utimes(join(machine.folder, used), at, at)
      await machine.passAll()
      assert.deepEqual(await machine.names(), [used])
    })

    it('are looked at a hundred at a time, with one query for each hundred', async () => {
      await using opened = await open()
      const { database } = opened
      await using machine = await machineOf(oneDatabase(database))
      const gone: string[] = []
      for (let made = 0; made < 250; made++) {
        const session = await machine.lay(await newSession(database))
        if (made % 2 === 0) gone.push(session)
      }
      for (const session of gone)
        await database.write((tx) => deleteSession(tx, tenant, session, 0))
      assert.equal(await machine.passAll(), 3)
      const left = await machine.names()
      assert.equal(left.length, 125)
      assert.ok(gone.every((session) => !left.includes(session)))
      assert.equal(await machine.passAll(), 2)
    })
  })
}

describe('a folder of working folders that is not there yet', () => {
  it('has nothing to be removed', async () => {
    await using opened = await databases.sqlite()
    await using machine = await machineOf(oneDatabase(opened.database))
    await rm(machine.folder, { recursive: true })
    assert.equal(await machine.passAll(), 1)
  })
})

describe('folders of sessions beside a database that cannot be read', () => {
  it('are removed where another database knows them as deleted, and kept where none knows them', async () => {
    const [damaged, other] = ['wrkspc_a', 'wrkspc_b'] as const
    await using at = await openFilePerTenant([damaged, other])
    const opened = await at.databases.open(damaged)
    const hidden = await newSession(opened, 'idle', damaged)
    const database = await at.databases.open(other)
    const gone = await newSession(database, 'idle', other)
    await database.write((tx) => deleteSession(tx, other, gone, 0))
    await at.close()
    await writeFile(join(at.folder, `${damaged}.db`), 'this is no database'.repeat(1_000))
    await using machine = await machineOf(await at.reopen())
    for (const session of [hidden, gone]) await machine.lay(session)
    machine.wait(8 * day)
    await assert.rejects(machine.pass(), WorkspaceDatabaseError)
    assert.deepEqual(await machine.names(), [hidden])
  })
})
