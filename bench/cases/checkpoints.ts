/**
 * Checkpoints: working folders are stored and restored, on SQLite and a folder of blobs. All working folders stay until
 * the end. For minutes after a deletion ext4 needs ten times as long for new files, and another machine has no
 * deletions.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { diskBlobs } from '@steward/server/ground/blobs/disk.ts'
import { blobKeeping } from '@steward/server/ground/blobs/blob-keeping.ts'
import { createCheckpoints } from '@steward/server/resources/checkpoints/checkpoints.ts'
import { heldByCheckpoint } from '@steward/server/resources/checkpoints/store.ts'
import { systemClock } from '@steward/base/time.ts'
import { oneDatabase } from '@steward/server/ground/database/database.ts'
import { sqliteDatabase } from '@steward/server/ground/database/sqlite.ts'
import { testGround } from '@steward/server/ground/ground-fixture.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'

const runs = 5
const files = 5_000
const bytes = 40 * 1024

export async function* workspaces(folder: string): AsyncGenerator<Figure> {
  const database = await sqliteDatabase(join(folder, 'checkpoints.db'))
  const databases = oneDatabase(database)
  const blobs = await diskBlobs(join(folder, 'checkpoint-blobs'))
  const keeping = blobKeeping({
    ...{ databases, blobs, clock: systemClock, holders: [heldByCheckpoint] },
  })
  const machine = (name: string) => {
    const at = join(folder, name)
    const made = createCheckpoints({
      ...{ ...testGround(databases), keeping, folder: at, largest: 1 << 30, history: 10 },
    })
    return { ...made, at }
  }
  const one = machine('one')
  const spent = { whole: [] as number[], changed: [] as number[], restored: [] as number[] }
  const timed = async (times: number[], work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    times.push((performance.now() - began) / 1000)
  }
  for (let run = 0; run < runs; run++) {
    const session = `sesn_${run}`
    const whose = (at: string) => ({ tenant: 'wrkspc_1', session, own: join(at, session) })
    await one.arrive(whose(one.at))
    const workspace = join(one.at, session, 'workspace')
    fill(workspace)
    await timed(spent.whole, () => one.save(whose(one.at)))
    writeFileSync(join(workspace, 'changed'), 'x')
    await timed(spent.changed, () => one.save(whose(one.at)))
    const other = machine(`other-${run}`)
    await timed(spent.restored, () => other.arrive(whose(other.at)))
  }
  await database.close()
  const what = '200 MB in 5,000 files'
  yield { what: `checkpoint of ${what}`, value: median(spent.whole), unit: 's', goal: 2 }
  yield { what: 'checkpoint of one more file', value: median(spent.changed), unit: 's' }
  yield { what: `restore of ${what}`, value: median(spent.restored), unit: 's', goal: 2 }
}

/** Fills the folder with random bytes, which no compression makes smaller. */
function fill(workspace: string): void {
  for (let n = 0; n < files; n++) {
    const folder = join(workspace, `folder-${n % 50}`)
    if (n < 50) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `file-${n}`), randomBytes(bytes))
  }
}
