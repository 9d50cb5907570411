import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { diskBlobs } from '../../ground/blobs/disk.ts'
import { blobKeeping } from '../../ground/blobs/blob-keeping.ts'
import { looseBlobStore } from '../../ground/blobs/store.ts'
import { systemClock } from '@steward/base/time.ts'
import { until } from '@steward/sandbox/fixture.ts'
import { computeFingerprint } from '@steward/space/working-folder/fingerprint.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import { everyShape } from '../../ground/database/shapes-fixture.ts'
import { testGround } from '../../ground/ground-fixture.ts'
import { insertHead, tenant } from '../../sessions/log/fixture.ts'
import { createCheckpoints } from './checkpoints.ts'
import { forkCheckpoint } from './fork.ts'
import { checkpointStore, heldByCheckpoint } from './store.ts'
import { removeOldCheckpoints } from './job.ts'

const session = 'sesn_1'
type Machine = ReturnType<typeof createCheckpoints> & { own: string }

for (const [kind, open] of Object.entries(everyShape)) {
  async function setup(largest = 1 << 30) {
    const opened = await open()
    const { database } = opened
    const folder = await mkdtemp(join(tmpdir(), 'steward-checkpoints-'))
    const databases = oneDatabase(database)
    let now = Date.parse('2026-01-01T00:00:00Z')
    const clock = { ...systemClock, now: () => now }
    const blobs = await diskBlobs(join(folder, 'blobs'))
    const keeping = blobKeeping({ databases, blobs, clock, holders: [heldByCheckpoint] })
    return {
      ...{ database, folder, blobs, keeping },
      pass: (ms: number) => (now += ms),
      now: () => now,
      /** A machine with its own working folders. */
      machine(name: string): Machine {
        const at = join(folder, name)
        const made = createCheckpoints({
          ...testGround(databases, { clock }),
          keeping,
          folder: at,
          largest,
          history: 1,
        })
        return { ...made, own: join(at, session) }
      },
      /** Path of the blob in the folder of blobs. */
      async fileOf(key: string): Promise<string> {
        const all = await readdir(join(folder, 'blobs'), { recursive: true })
        const path = all.find((each) => each.endsWith(key.split('/').at(-1) ?? ''))
        return join(folder, 'blobs', path ?? 'missing')
      },
      row: () => checkpointStore(database.read).row(tenant, session),
      async [Symbol.asyncDispose]() {
        await opened[Symbol.asyncDispose]()
        await rm(folder, { recursive: true })
      },
    }
  }
  const arrive = (machine: Machine) => machine.arrive({ tenant, session, own: machine.own })
  const save = (machine: Machine) => machine.save({ tenant, session, own: machine.own })
  const at = (machine: Machine, path: string) => join(machine.own, 'workspace', path)
  const read = (machine: Machine, path: string) => readFile(at(machine, path), 'utf8')

  describe(`checkpoints on ${kind}`, () => {
    // verifies: workspace/checkpoint
    it('restore a working folder on the machine where its session continues', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      assert.deepEqual(await arrive(one), { kind: 'new' })
      await mkdir(at(one, 'deep/folder'), { recursive: true })
      await writeFile(at(one, 'deep/folder/program'), 'run me', { mode: 0o750 })
      await symlink('/etc/passwd', at(one, 'link'))
      await writeFile(join(one.own, 'outputs/result'), 'done')
      await save(one)
      assert.deepEqual(await arrive(other), {
        kind: 'restored',
        takenAt: '2026-01-01T00:00:00.000Z',
      })
      assert.equal(await read(other, 'deep/folder/program'), 'run me')
      assert.equal((await stat(at(other, 'deep/folder/program'))).mode & 0o7777, 0o750)
      assert.equal(await readlink(at(other, 'link')), '/etc/passwd')
      assert.equal(await readFile(join(other.own, 'outputs/result'), 'utf8'), 'done')
      assert.deepEqual(await arrive(other), { kind: 'here' })
    })

    it('begin once the folder of working folders can be read, however often it could not before', async () => {
      await using here = await setup()
      const one = here.machine('one')
      // As on a share that is not mounted yet, or in a process that is out of files.
      await writeFile(join(here.folder, 'one'), 'no folder')
      await assert.rejects(arrive(one), { code: 'EEXIST' })
      await rm(join(here.folder, 'one'))
      assert.deepEqual(await arrive(one), { kind: 'new' })
      assert.deepEqual(
        (await readdir(join(here.folder, 'one'))).toSorted((a, b) => (a < b ? -1 : 1)),
        ['folder-id', session],
      )
    })

    it('move no folder along a link that was in the working folder', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      const elsewhere = join(here.folder, 'elsewhere')
      await mkdir(elsewhere)
      await arrive(one)
      await mkdir(at(one, 'mine'))
      await writeFile(at(one, 'mine/file'), 'mine')
      await symlink(elsewhere, at(one, 'way'))
      await writeFile(at(one, 'large'), crypto.getRandomValues(Buffer.alloc(60_000)))
      await save(one)
      await rm(at(one, 'way'))
      await mkdir(at(one, 'way'))
      await rename(at(one, 'mine'), at(one, 'way/mine'))
      await save(one)
      await arrive(other)
      assert.deepEqual(await readdir(elsewhere), [])
      assert.equal(await read(other, 'way/mine/file'), 'mine')
    })

    it('hold the changes since the last checkpoint, and remove the archives that they replace', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      await arrive(one)
      await writeFile(at(one, 'large'), crypto.getRandomValues(Buffer.alloc(60_000)))
      await writeFile(at(one, 'gone later'), 'x')
      await until(
        'the files have settled',
        async () => (await computeFingerprint(one.own)) !== undefined,
      )
      await save(one)
      const whole = await here.row()
      await rm(at(one, 'gone later'))
      await writeFile(at(one, 'new'), 'first')
      await save(one)
      await writeFile(at(one, 'new'), 'second')
      await save(one)
      const row = await here.row()
      assert.equal(row?.base_key, whole?.base_key)
      assert.ok((row?.delta_size ?? 0) < 2_000, 'the large file is not in it')
      here.pass(1)
      assert.deepEqual((await here.keeping.removeLoose()).failures, [])
      const kept: string[] = []
      for await (const { key } of here.blobs.list('checkpoints/')) kept.push(key)
      assert.deepEqual(
        kept.toSorted(),
        [row?.base_key, row?.delta_key].toSorted((a, b) => String(a).localeCompare(String(b))),
      )
      await arrive(other)
      assert.deepEqual((await readdir(join(other.own, 'workspace'))).toSorted(), ['large', 'new'])
      assert.equal(await read(other, 'new'), 'second')
    })

    it('are complete again when much has changed, and on another machine', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      await arrive(one)
      await writeFile(at(one, 'a'), 'a')
      await save(one)
      const first = (await here.row())?.base_key
      for (const name of ['b', 'c']) {
        await writeFile(at(one, name), crypto.getRandomValues(Buffer.alloc(50_000)))
        await save(one)
      }
      const second = await here.row()
      assert.notEqual(second?.base_key, first)
      await arrive(other)
      await writeFile(at(other, 'd'), 'd')
      await save(other)
      const third = await here.row()
      assert.notEqual(third?.base_key, second?.base_key)
      await arrive(one)
      assert.deepEqual((await readdir(join(one.own, 'workspace'))).toSorted(), 'abcd'.split(''))
    })

    it('never make a working folder older: a late checkpoint from elsewhere is refused', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      await arrive(one)
      await writeFile(at(one, 'a'), 'old')
      await save(one)
      await arrive(other)
      await writeFile(at(other, 'a'), 'new')
      await save(other)
      await save(one)
      await arrive(one)
      assert.equal(await read(one, 'a'), 'new')
    })

    it('are reported as missing when there is none', async () => {
      await using here = await setup()
      const [one, other] = [here.machine('one'), here.machine('other')]
      await arrive(one)
      await writeFile(at(one, 'a'), 'a')
      assert.deepEqual(await arrive(other), { kind: 'lost' })
      assert.deepEqual(await arrive(one), { kind: 'lost' })
      assert.ok(!existsSync(at(one, 'a')), 'the other machine had it later')
    })

    it('are not needed where machines share their folder', async () => {
      await using here = await setup()
      const [one, same] = [here.machine('one'), here.machine('one')]
      await arrive(one)
      await writeFile(at(one, 'a'), 'a')
      assert.deepEqual(await arrive(same), { kind: 'here' })
      assert.equal(await read(same, 'a'), 'a')
    })

    // verifies: workspace/checkpoint-corrupt, errors/case/corrupt-checkpoint
    it('know a folder by one name, also when the first sessions of it come together', async () => {
      await using here = await setup()
      for (let round = 0; round < 10; round++) {
        const all = Array.from({ length: 8 }, (_, n) => ({ tenant, session: `sesn_${round}_${n}` }))
        const own = (id: string) => join(here.folder, `new-${round}`, id)
        // Each machine stands for a separate process.
        const machine = () => here.machine(`new-${round}`)
        await Promise.all(all.map((each) => machine().arrive({ ...each, own: own(each.session) })))
        const known = await Promise.all(all.map((each) => machine().isHere(each)))
        assert.ok(!known.includes(false), `round ${round}: ${known.join(' ')}`)
      }
    })

    it('that are corrupt stop the start, and nothing replaces them', async () => {
      const ways: Record<string, (path: string) => Promise<object | void>> = {
        'other bytes': async (path) => {
          const bytes = await readFile(path)
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
          await writeFile(path, bytes)
        },
        'cut short': async (path) => writeFile(path, (await readFile(path)).subarray(0, 60)),
        'no archive': (path) => writeFile(path, 'none'),
        empty: (path) => writeFile(path, ''),
        missing: (path) => rm(path),
        'another hash': async () => ({ base_sha256: '0'.repeat(64) }),
        'another size': async () => ({ base_size: 1 }),
        'no hash': async () => ({ base_sha256: null }),
      }
      for (const [name, spoil] of Object.entries(ways)) {
        await using here = await setup()
        const [one, other] = [here.machine('one'), here.machine('other')]
        await arrive(one)
        await writeFile(at(one, 'a'), crypto.getRandomValues(Buffer.alloc(10_000)))
        await save(one)
        const key = (await here.row())?.base_key ?? ''
        const columns = await spoil(await here.fileOf(key))
        if (columns)
          await here.database.write(async (tx) => {
            await tx.updateTable('checkpoints').set(columns).execute()
          })
        for (let round = 0; round < 2; round++) {
          await assert.rejects(arrive(other), { message: /sesn_1 is corrupt/ }, name)
          assert.ok(!existsSync(join(other.own, 'workspace')), name)
        }
      }
    })

    it('that are too large are not taken, and the one before stays', async () => {
      await using here = await setup(100_000)
      const one = here.machine('one')
      await arrive(one)
      await writeFile(at(one, 'a'), 'a')
      await save(one)
      const before = await here.row()
      await writeFile(at(one, 'b'), crypto.getRandomValues(Buffer.alloc(60_000)))
      await writeFile(at(one, 'c'), crypto.getRandomValues(Buffer.alloc(60_000)))
      await assert.rejects(save(one), /more than 100000 bytes/)
      assert.deepEqual(await here.row(), before)
      here.pass(1)
      await here.keeping.removeLoose()
      const { base_key } = before ?? {}
      const kept: string[] = []
      for await (const { key } of here.blobs.list('checkpoints/')) kept.push(key)
      assert.deepEqual(kept, [base_key])
    })

    // verifies: forks/checkpoint-shared
    it('of an earlier time stay, as many as are kept, and as long as a fork has them', async () => {
      await using here = await setup()
      const one = here.machine('one')
      const source = await insertHead(here.database)
      const own = { tenant, session: source, own: join(here.folder, 'one', source) }
      await one.arrive(own)
      const saveAt = async (next_seq: number) => {
        await here.database.write((tx) =>
          tx
            .updateTable('session_heads')
            .set({ next_seq })
            .where('session_id', '=', source)
            .execute(),
        )
        await writeFile(join(own.own, 'workspace', 'note'), `at ${next_seq}`)
        await one.save(own)
      }
      const forkAt = (to: string, at: number, before = at + 1) =>
        here.database.write((tx) =>
          forkCheckpoint(tx, tenant, { from: source, to }, { at, before }),
        )
      const noteOf = async (fork: string) => {
        const ref = { tenant, session: fork, own: join(here.folder, 'one', fork) }
        assert.equal((await one.arrive(ref)).kind, 'restored')
        return readFile(join(ref.own, 'workspace', 'note'), 'utf8')
      }
      await saveAt(5)
      await saveAt(9)
      assert.equal(await forkAt('sesn_none', 4), null)
      assert.equal((await forkAt('sesn_early', 7))?.seq, 5)
      assert.equal((await forkAt('sesn_between', 6, 10))?.seq, 9)
      await saveAt(14)
      assert.equal(await forkAt('sesn_late', 8), null, 'one stays beside the newest')
      await here.database.write((tx) => checkpointStore(tx).remove(tenant, source, here.now()))
      here.pass(1)
      assert.deepEqual((await here.keeping.removeLoose()).failures, [])
      assert.equal(await noteOf('sesn_early'), 'at 5')
      assert.equal(await noteOf('sesn_between'), 'at 9')
      const again = { from: 'sesn_between', to: 'sesn_again' }
      const third = await here.database.write((tx) =>
        forkCheckpoint(tx, tenant, again, { at: 6, before: 20 }),
      )
      assert.equal(third?.seq, 6)
      for (const fork of ['sesn_early', 'sesn_between', 'sesn_again'])
        await here.database.write((tx) => checkpointStore(tx).remove(tenant, fork, here.now()))
      here.pass(1)
      await here.keeping.removeLoose()
      const left: string[] = []
      for await (const { key } of here.blobs.list('checkpoints/')) left.push(key)
      assert.deepEqual(left, [])
    })

    it('end with their session, and when they are older than they are kept', async () => {
      await using here = await setup()
      const one = here.machine('one')
      await arrive(one)
      await save(one)
      const day = 24 * 60 * 60 * 1000
      here.pass(2 * day)
      assert.equal(await removeOldCheckpoints(here.database, here.now(), 3 * day), true)
      assert.ok((await here.row())?.base_key)
      await removeOldCheckpoints(here.database, here.now(), day)
      assert.equal((await here.row())?.base_key, null)
      await save(one)
      const key = (await here.row())?.base_key ?? ''
      await here.database.write((tx) => checkpointStore(tx).remove(tenant, session, here.now()))
      assert.equal(await here.row(), undefined)
      const due = await looseBlobStore(here.database.read).due(here.now(), 10)
      assert.ok(due.some(({ blob_key }) => blob_key === key))
    })
  })
}
